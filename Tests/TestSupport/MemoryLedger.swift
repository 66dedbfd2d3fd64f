package import Events
package import Projections

/// The log's rules without a database: judges facts with `Knowledge` and keeps the results.
package struct MemoryLedger: Sendable {
    /// The facts that were news, in order.
    package private(set) var events: [Event] = []
    /// The facts that repeated them.
    package private(set) var confirmations: Set<Confirmation> = []

    private var ownEvents: [StreamID: [Event]] = [:]
    // In arbitrary order, as a database may return them.
    private var ownConfirmations: [StreamID: Set<Confirmation>] = [:]
    private var knowledge: [Subject: Knowledge] = [:]
    private var ends = PeriodEnds()

    /// The ledger after appending these batches in order.
    package init(_ batches: [[Fact]] = []) {
        for batch in batches { append(batch) }
    }

    /// Judges each fact against all earlier ones, including those in its own batch.
    package mutating func append(_ batch: [Fact]) {
        for fact in batch { append(fact) }
    }

    /// Appends a fact if it is news; returns whether it was.
    ///
    /// Its payload has the given number; otherwise receipt facts of one instant come from one
    /// receipt, and every other fact proves itself.
    @discardableResult
    package mutating func append(_ fact: Fact, evidence: Int64? = nil) -> Bool {
        let isReceipt = fact.content.format == .receiptTransaction
        let evidence = evidence ?? (isReceipt ? fact.asOf.milliseconds : 0)
        let subject = fact.subject
        defer { ends.learn(subject, asOf: fact.asOf) }
        switch judge(fact, subject) {
        case .new:
            let offset = Int64(events.count + 1)
            let event = Event(
                position: Position(lane: .only, offset: offset),
                recordedAt: Instant(milliseconds: offset),
                fact: fact,
                evidence: evidence
            )
            events.append(event)
            ownEvents[fact.stream, default: []].append(event)
            knowledge[subject, default: Knowledge()].learn(
                offset: offset,
                asOf: fact.asOf,
                content: fact.content
            )
            return true
        case .known(_, let repetitions):
            for repetition in repetitions {
                let confirmation = Confirmation(
                    position: Position(lane: .only, offset: repetition.offset),
                    asOf: fact.asOf,
                    fields: repetition.fields,
                    transactionId: repetition.transactionId,
                    evidence: evidence
                )
                confirmations.insert(confirmation)
                ownConfirmations[fact.stream, default: []].insert(confirmation)
                knowledge[subject]?.learn(confirmation)
            }
            return false
        }
    }

    private func judge(_ fact: Fact, _ subject: Subject) -> Knowledge.Judgement {
        let judgement = knowledge[subject, default: Knowledge()].judge(fact)
        guard case .known(_, let repetitions) = judgement, !repetitions.isEmpty,
            ends.areMoved(by: fact, of: subject, together: [])
        else { return judgement }
        return .new
    }

    /// The subscriptions in the ledger.
    package var streams: [StreamID] { ownEvents.keys.sorted() }

    /// Everything known about a subscription.
    package func history(of stream: StreamID) -> StreamHistory {
        StreamHistory(
            stream: stream,
            events: ownEvents[stream, default: []],
            confirmations: Array(ownConfirmations[stream, default: []])
        )
    }

    /// A subscription's timeline.
    package func timeline(of stream: StreamID) -> Timeline { Timeline(history(of: stream)) }

    /// The periods of a subscription.
    package func periods(of stream: StreamID) -> ActivePeriods {
        ActivePeriods(timeline(of: stream))
    }

    /// The subscriptions of a customer, each with the receipts that its history cites.
    package var customerStreams: [CustomerStream] {
        streams.map { stream in
            let history = history(of: stream)
            let numbers = history.events.map(\.evidence) + history.confirmations.map(\.evidence)
            let receipts = Set(numbers).subtracting([0]).sorted()
            return CustomerStream(
                history,
                receipts: receipts.map { Digest.of(Array("\($0)".utf8)) }
            )
        }
    }
}
