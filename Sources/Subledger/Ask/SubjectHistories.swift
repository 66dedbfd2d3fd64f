package import EventLog
package import Events
internal import Projections

/// The subscriptions that a bitemporal question is about, as far as they were known.
package struct SubjectHistories: Sendable {
    /// The id that was asked for.
    package let id: String
    /// Where the purchases were made.
    package let environment: Environment
    /// Erasures of the subscriptions, at any time.
    package let erasures: [ErasureMark]
    /// Why each subscription counts.
    package let grounds: AnswerGrounds
    /// For each subscription, the time around the instant in which it was the customer's.
    package let tenures: [StreamID: Range<Instant>]
    /// What each subscription recorded, cut to what was known.
    package let histories: [RecordedHistory]
    /// The subscription that was asked for by one of its own ids; nil for a customer.
    package let named: StreamID?
}

extension SubjectHistories {
    /// One subscription that was selected directly rather than looked up by an id.
    package init(_ history: RecordedHistory) {
        self.init(
            id: history.stream.originalTransactionId,
            environment: history.stream.environment,
            erasures: ErasureMark.all(in: history.events),
            grounds: .none,
            tenures: [:],
            histories: [history],
            named: history.stream
        )
    }

    /// The payloads that the events came from.
    func evidence(in log: EventLog) async throws -> [Position: EvidenceSummary] {
        var found: [Position: EvidenceSummary] = [:]
        for history in histories {
            found.merge(try await log.eventSummaries(of: history.latest)) { first, _ in first }
        }
        return found
    }
}

extension RecordedHistory {
    /// The history as it was at a bound of knowledge.
    package func cut(to knownAt: KnownAt) -> RecordedHistory {
        switch knownAt {
        case .latest: self
        case .time(let instant): cut(at: instant)
        case .offsets(let offsets):
            events.first.flatMap { offsets[$0.position.lane.number] }.map { cut(upTo: $0) } ?? self
        }
    }
}

extension Ledger {
    /// Finds the subscriptions that a question is about, and reads them with both clocks.
    ///
    /// - Parameters:
    ///   - subject: The customer or subscription.
    ///   - instant: The instant at which they must be the customer's.
    ///   - knownAt: How much of the log may be used.
    /// - Returns: The histories, cut to what was known.
    /// - Throws: `QuestionError` if nothing has the id, or several environments do;
    ///   `EventLogError`.
    func asked(
        _ subject: SubjectID,
        at instant: Instant,
        knownAt: KnownAt
    ) async throws -> SubjectHistories {
        let id = subject.id
        let subject = subject.isAlone ? try await alone(subject, knownAt: knownAt) : subject
        let own = try await log.environments(of: subject.id)
        let environment = try await environment(of: subject)
        let named = try await streams(named: subject.id, in: environment)
        if let first = named.first, named.count == 1, !own.isEmpty {
            try await check(knownAt, of: first)
        } else {
            try await check(knownAt)
        }
        let found =
            subject.isAlone
            ? nil
            : try await subscriptions(
                of: subject,
                in: environment,
                at: instant,
                knownAt: knownAt
            )
        // A subscription named by one of its own ids is included even if nothing was known of it
        // then.
        let read = named.union(found?.streams.map(\.stream) ?? [])
        let used = try await log.wholeCommits(knownAt)
        var histories: [RecordedHistory] = []
        var erasures: [ErasureMark] = []
        for stream in read.sorted() {
            let whole = try await log.recordedHistory(of: stream)
            erasures += ErasureMark.all(in: whole.events)
            histories.append(whole.cut(to: used))
        }
        return SubjectHistories(
            id: id,
            environment: environment,
            erasures: erasures,
            grounds: found?.grounds ?? .none,
            tenures: found?.customer.tenures(at: instant) ?? [:],
            histories: histories,
            named: named.count == 1 ? named.first : nil
        )
    }

    // The subscription that has any id, addressed by its own id.
    private func alone(_ subject: SubjectID, knownAt: KnownAt) async throws -> SubjectID {
        let stream = try await stream(of: subject, knownAt: knownAt)
        return SubjectID(stream.originalTransactionId, in: stream.environment, alone: true)
    }
}
