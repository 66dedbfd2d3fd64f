package import Events

/// When the ledger's answer at the time differed from what it knows now: the cost of late events.
///
/// *Served* is the access at t as known at t, *entitled* the access at t with everything known.
/// Answers that this ledger cannot have been asked for are marked (`NotAsked`) and do not count as
/// wrong.
package struct WrongAnswers: Sendable {
    /// The intervals, by start.
    package let stretches: [Stretch]

    /// An interval with one kind of wrong answer.
    package struct Stretch: Codable, Hashable, Sendable {
        /// The kind.
        package let kind: Kind
        /// The first instant with a wrong answer.
        package let from: Instant
        /// The first later instant with a right answer.
        package let to: Instant
        /// What the ledger learned too late; if it changes within the interval, that of its first
        /// instant.
        package let cause: Cause
        /// Why the ledger cannot have been asked; nil if it can.
        package let notAsked: NotAsked?
        /// The length, in whole seconds.
        package let seconds: Int64
    }

    /// What the answer was.
    package enum Kind: String, CaseIterable, Codable, Sendable {
        /// The ledger denied access to a customer who had paid.
        case wronglyDenied
        /// The ledger granted access to a customer who had not paid.
        case wronglyGranted
    }

    /// Why a ledger cannot have answered wrongly; the raw value is the word for JSON.
    package enum NotAsked: String, CaseIterable, Codable, Sendable {
        /// It had no commit yet.
        case beforeLedger
        /// The late information came from an import of files, and did not arrive live.
        case imported
        /// The instant is in the future.
        case inFuture
    }

    /// The wrong answers of one subscription, or of all of one customer.
    ///
    /// - Parameters:
    ///   - histories: What is known, cut to the final state of knowledge.
    ///   - product: Only access to this product; nil for any.
    ///   - policy: What counts as access.
    ///   - firstCommit: When the ledger made its first commit; nil if that does not matter.
    package init(
        _ histories: [RecordedHistory],
        product: String? = nil,
        under policy: AccessPolicy = .current,
        firstCommit: Instant? = nil
    ) {
        let scope = KnownAccess.Scope(product, policy)
        let accesses = histories.map { KnownAccess($0, in: scope) }
        self.init(KnowledgeCourse(accesses), firstCommit: firstCommit)
    }

    init(_ course: KnowledgeCourse, firstCommit: Instant?) {
        let (entitled, served) = (course.accesses.entitled, course.accesses.served)
        func stretches(_ kind: Kind, _ intervals: [Range<Instant>]) -> [Stretch] {
            intervals.flatMap { $0.split(at: firstCommit) }.map {
                course.stretch(kind, $0, firstCommit: firstCommit)
            }
        }
        let stretches =
            stretches(.wronglyDenied, entitled.subtracting(served))
            + stretches(.wronglyGranted, served.subtracting(entitled))
        self.stretches = stretches.sorted { $0.from < $1.from }
    }

    /// The same without the intervals of some causes.
    package func without(_ causes: Set<Cause>) -> WrongAnswers {
        causes.isEmpty
            ? self : WrongAnswers(stretches: stretches.filter { !causes.contains($0.cause) })
    }

    /// Only the intervals in which this ledger can have been asked.
    package var asked: WrongAnswers {
        WrongAnswers(stretches: stretches.filter { $0.notAsked == nil })
    }

    private init(stretches: [Stretch]) {
        self.stretches = stretches
    }

    /// The interval that contains an instant; nil if the answer was right.
    package func stretch(holding instant: Instant) -> Stretch? {
        stretches.first { $0.from <= instant && instant < $0.to }
    }

    /// How long the answer was wrong in that way, in whole seconds.
    package func seconds(_ kind: Kind) -> Int64 {
        stretches.reduce(0) {
            $1.kind == kind ? $0 + $1.to.milliseconds - $1.from.milliseconds : $0
        }
            / 1000
    }
}

extension KnowledgeCourse {
    fileprivate func stretch(
        _ kind: WrongAnswers.Kind,
        _ interval: Range<Instant>,
        firstCommit: Instant?
    ) -> WrongAnswers.Stretch {
        let start = interval.lowerBound
        let turn = turn(at: start, fromWrong: kind == .wronglyGranted)
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
            notAsked: notAsked,
            seconds: (interval.upperBound.milliseconds - start.milliseconds) / 1000
        )
    }

    // What the ledger learned too late to answer correctly for an instant at that instant: the
    // change at that turn.
    private func cause(
        of turn: (before: Instant, after: Instant),
        at instant: Instant
    ) -> WrongAnswers.Cause {
        WrongAnswers.Cause(
            from: accesses.answer(at: instant, knownAt: turn.before),
            to: accesses.answer(at: instant, knownAt: turn.after),
            rowsBefore: accesses.rows(knownAt: turn.before),
            rowsAfter: accesses.rows(knownAt: turn.after)
        )
    }
}

extension Range<Instant> {
    /// The parts before and from an instant on, without empty ones.
    fileprivate func split(at instant: Instant?) -> [Range<Instant>] {
        guard let instant, contains(instant), instant != lowerBound else { return [self] }
        return [lowerBound..<instant, instant..<upperBound]
    }
}
