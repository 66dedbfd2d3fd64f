import Events
import Projections

/// The log's rules without a database: judges facts with `Knowledge`, as the log does.
struct MemoryLedger {
    private var events: [StreamID: [Event]] = [:]
    private var confirmations: [StreamID: Set<Confirmation>] = [:]
    private var knowledge: [Subject: Knowledge] = [:]
    private var head: Int64 = 0

    /// Takes in a fact if it is news; says whether it was.
    @discardableResult
    mutating func append(_ fact: Fact, evidence: Int64 = 0) -> Bool {
        let subject = fact.subject
        switch knowledge[subject, default: Knowledge()].judge(fact) {
        case .new:
            head += 1
            events[fact.stream, default: []].append(
                Event(
                    position: Position(lane: 0, offset: head),
                    recordedAt: Instant(milliseconds: head),
                    fact: fact,
                    evidence: evidence
                )
            )
            knowledge[subject, default: Knowledge()].learn(
                offset: head,
                asOf: fact.asOf,
                content: fact.content
            )
            return true
        case .known(_, let repetitions):
            for repetition in repetitions {
                let confirmation = Confirmation(
                    position: Position(lane: 0, offset: repetition.offset),
                    asOf: fact.asOf,
                    fields: repetition.fields,
                    transactionId: repetition.transactionId,
                    evidence: evidence
                )
                confirmations[fact.stream, default: []].insert(confirmation)
                knowledge[subject]?.learn(confirmation)
            }
            return false
        }
    }

    /// The periods of a stream.
    func periods(of stream: StreamID) -> ActivePeriods {
        ActivePeriods(timeline(of: stream))
    }

    /// What is known of a stream.
    func timeline(of stream: StreamID) -> Timeline {
        Timeline(history(of: stream))
    }

    /// The subscriptions, each with the payloads that its history cites.
    var customerStreams: [CustomerStream] {
        events.keys.sorted().map { stream in
            let history = history(of: stream)
            let numbers = history.events.map(\.evidence) + history.confirmations.map(\.evidence)
            let payloads = Set(numbers).sorted().map { Digest.of(Array("\($0)".utf8)) }
            return CustomerStream(history, receipts: payloads)
        }
    }

    /// All that is known about a stream.
    func history(of stream: StreamID) -> StreamHistory {
        StreamHistory(
            stream: stream,
            events: events[stream, default: []],
            confirmations: Array(confirmations[stream, default: []])
        )
    }
}
