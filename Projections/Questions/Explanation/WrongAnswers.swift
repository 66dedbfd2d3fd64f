public import Events

/// When the ledger's answer at the time was not what it knows now: the price of late news.
///
/// *Served* is the access at t as known at t, *entitled* the access at t as known in the end. A
/// history that is imported was not known while it happened: there all of it counts as denied, with
/// the cause `notYetKnown`.
public struct WrongAnswers: Sendable {
    /// The stretches, by start.
    public let stretches: [Stretch]

    /// A time of one kind of wrong answer, as long as it lasted.
    public struct Stretch: Hashable, Sendable {
        /// Which kind.
        public let kind: Kind
        /// The first instant with a wrong answer.
        public let from: Instant
        /// The first instant after it with a right one.
        public let to: Instant
        /// What was learnt too late; of its first instant where it changes on the way.
        public let cause: Cause

        /// How long, in whole seconds.
        public var seconds: Int64 { (to.milliseconds - from.milliseconds) / 1000 }
    }

    /// What the answer was.
    public enum Kind: String, CaseIterable, Sendable {
        /// The ledger said no to somebody who had paid.
        case wronglyDenied
        /// The ledger said yes to somebody who had not.
        case wronglyGranted
    }

    /// The wrong answers of one subscription, or of all of one customer.
    ///
    /// - Parameters:
    ///   - histories: What is known, cut to the knowledge that counts as the end.
    ///   - product: Only access by this product; nil for any.
    ///   - policy: What counts as access.
    public init(
        _ histories: [RecordedHistory],
        product: String? = nil,
        under policy: AccessPolicy = .current
    ) {
        self.init(histories.map { KnownAccess($0, product: product, under: policy) })
    }

    init(_ accesses: [KnownAccess]) {
        let (entitled, served) = (accesses.entitled, accesses.served)
        let stretches =
            entitled.subtracting(served).map { accesses.stretch(.wronglyDenied, $0) }
            + served.subtracting(entitled).map { accesses.stretch(.wronglyGranted, $0) }
        self.stretches = stretches.sorted { $0.from < $1.from }
    }

    /// The same without the stretches of some causes.
    public func without(_ causes: Set<Cause>) -> WrongAnswers {
        causes.isEmpty
            ? self : WrongAnswers(stretches: stretches.filter { !causes.contains($0.cause) })
    }

    private init(stretches: [Stretch]) {
        self.stretches = stretches
    }

    /// The stretch that holds an instant; nil where the answer was right.
    public func stretch(holding instant: Instant) -> Stretch? {
        stretches.first { $0.from <= instant && instant < $0.to }
    }

    /// How long the answer was wrong in that way, in whole seconds.
    public func seconds(_ kind: Kind) -> Int64 {
        stretches.reduce(0) {
            $1.kind == kind ? $0 + $1.to.milliseconds - $1.from.milliseconds : $0
        }
            / 1000
    }
}

extension [KnownAccess] {
    fileprivate func stretch(
        _ kind: WrongAnswers.Kind,
        _ interval: Range<Instant>
    ) -> WrongAnswers.Stretch {
        WrongAnswers.Stretch(
            kind: kind,
            from: interval.lowerBound,
            to: interval.upperBound,
            cause: cause(of: kind, at: interval.lowerBound)
        )
    }

    /// What was learnt too late to answer rightly about an instant at that instant.
    ///
    /// That is what changed at the last instant of knowledge at which the answer became what it is
    /// in the end.
    func cause(of kind: WrongAnswers.Kind, at instant: Instant) -> WrongAnswers.Cause {
        var before = instant
        var turn = (before: before, after: before)
        let isGranted = kind == .wronglyGranted
        for next in instants where next > instant {
            let isWrong = answer(at: instant, knownAt: before).hasAccess == isGranted
            if isWrong, answer(at: instant, knownAt: next).hasAccess != isGranted {
                turn = (before, next)
            }
            before = next
        }
        return WrongAnswers.Cause(
            from: answer(at: instant, knownAt: turn.before),
            to: answer(at: instant, knownAt: turn.after),
            rowsBefore: rows(knownAt: turn.before),
            rowsAfter: rows(knownAt: turn.after)
        )
    }
}
