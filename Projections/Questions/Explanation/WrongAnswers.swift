public import Events

/// When the ledger's answer at the time was not what it knows now: the price of late news.
///
/// *Served* is the access at t as known at t, *entitled* the access at t as known in the end. What
/// this ledger cannot have been asked then is marked (`NotAsked`): it is nobody's wrong answer.
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
        /// Why the ledger cannot have been asked; nil where it can.
        public let notAsked: NotAsked?

        /// How long, in whole seconds.
        public var seconds: Int64 { (to.milliseconds - from.milliseconds) / 1000 }
    }

    /// What the answer was.
    public enum Kind: String, CaseIterable, Sendable {
        /// The ledger denied access to a customer who had paid.
        case wronglyDenied
        /// The ledger granted access to a customer who had not paid.
        case wronglyGranted
    }

    /// Why a ledger cannot have answered wrongly; the raw value is the word for JSON.
    public enum NotAsked: String, CaseIterable, Sendable {
        /// It had no commit yet.
        case beforeLedger
        /// What it learnt too late was brought by an import of files, and did not arrive live.
        case imported
        /// The instant is still to come.
        case inFuture
    }

    /// The wrong answers of one subscription, or of all of one customer.
    ///
    /// - Parameters:
    ///   - histories: What is known, cut to the knowledge that counts as the end.
    ///   - product: Only access by this product; nil for any.
    ///   - policy: What counts as access.
    ///   - firstCommit: When the ledger made its first commit; nil where that does not matter.
    public init(
        _ histories: [RecordedHistory],
        product: String? = nil,
        under policy: AccessPolicy = .current,
        firstCommit: Instant? = nil
    ) {
        self.init(
            histories.map { KnownAccess($0, product: product, under: policy) },
            firstCommit: firstCommit
        )
    }

    init(_ accesses: [KnownAccess], firstCommit: Instant?) {
        let (entitled, served) = (accesses.entitled, accesses.served)
        func stretches(_ kind: Kind, _ intervals: [Range<Instant>]) -> [Stretch] {
            intervals.flatMap { $0.split(at: firstCommit) }.map {
                accesses.stretch(kind, $0, firstCommit: firstCommit)
            }
        }
        let stretches =
            stretches(.wronglyDenied, entitled.subtracting(served))
            + stretches(.wronglyGranted, served.subtracting(entitled))
        self.stretches = stretches.sorted { $0.from < $1.from }
    }

    /// The same without the stretches of some causes.
    public func without(_ causes: Set<Cause>) -> WrongAnswers {
        causes.isEmpty
            ? self : WrongAnswers(stretches: stretches.filter { !causes.contains($0.cause) })
    }

    /// Only the stretches in which this ledger can have been asked.
    public var asked: WrongAnswers {
        WrongAnswers(stretches: stretches.filter { $0.notAsked == nil })
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
        _ interval: Range<Instant>,
        firstCommit: Instant?
    ) -> WrongAnswers.Stretch {
        let start = interval.lowerBound
        let turn = turn(of: kind, at: start)
        let notAsked: WrongAnswers.NotAsked? =
            if firstCommit.map({ start < $0 }) ?? false {
                .beforeLedger
            } else {
                isImported(at: turn.after) ? .imported : nil
            }
        return WrongAnswers.Stretch(
            kind: kind,
            from: start,
            to: interval.upperBound,
            cause: cause(of: turn, at: start),
            notAsked: notAsked
        )
    }

    /// Whether all events that became known at an instant of our clock came by an import.
    func isImported(at recordedAt: Instant) -> Bool {
        let learnt = flatMap(\.history.events).filter { $0.recordedAt == recordedAt }
        return !learnt.isEmpty && learnt.allSatisfy(\.isImported)
    }

    // The last instant of knowledge at which the answer about an instant became what it is in the
    // end, and the one before it.
    private func turn(
        of kind: WrongAnswers.Kind,
        at instant: Instant
    ) -> (before: Instant, after: Instant) {
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
        return turn
    }

    // What was learnt too late to answer rightly about an instant at that instant: what changed at
    // that turn.
    private func cause(
        of turn: (before: Instant, after: Instant),
        at instant: Instant
    ) -> WrongAnswers.Cause {
        WrongAnswers.Cause(
            from: answer(at: instant, knownAt: turn.before),
            to: answer(at: instant, knownAt: turn.after),
            rowsBefore: rows(knownAt: turn.before),
            rowsAfter: rows(knownAt: turn.after)
        )
    }
}

extension Range<Instant> {
    /// The parts before and from an instant on, those that are not empty.
    fileprivate func split(at instant: Instant?) -> [Range<Instant>] {
        guard let instant, contains(instant), instant != lowerBound else { return [self] }
        return [lowerBound..<instant, instant..<upperBound]
    }
}
