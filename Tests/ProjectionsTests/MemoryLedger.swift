import Events
import Projections

/// The log's rules without a database: judges facts with `Knowledge` and keeps what it says.
struct MemoryLedger {
    private(set) var events: [Event] = []
    private(set) var confirmations: Set<Confirmation> = []
    private var knowledge: [Subject: Knowledge] = [:]

    /// The ledger after appending these batches, one after the other.
    init(_ batches: [[Fact]] = []) {
        for batch in batches { append(batch) }
    }

    /// Judges each fact against all before it, those of its own batch included.
    mutating func append(_ batch: [Fact]) {
        for fact in batch { append(fact) }
    }

    mutating func append(_ fact: Fact) {
        let subject = fact.subject
        switch knowledge[subject, default: Knowledge()].judge(fact) {
        case .new:
            let offset = Int64(events.count + 1)
            events.append(
                Event(
                    position: Position(lane: 0, offset: offset),
                    recordedAt: Instant(milliseconds: offset),
                    fact: fact,
                    evidence: evidence(of: fact)
                )
            )
            knowledge[subject, default: Knowledge()].learn(
                offset: offset,
                asOf: fact.asOf,
                content: fact.content
            )
        case .known(_, let repetitions):
            for repetition in repetitions {
                let confirmation = Confirmation(
                    position: Position(lane: 0, offset: repetition.offset),
                    asOf: fact.asOf,
                    fields: repetition.fields,
                    transactionId: repetition.transactionId,
                    evidence: evidence(of: fact)
                )
                confirmations.insert(confirmation)
                knowledge[subject]?.learn(confirmation)
            }
        }
    }

    // What receipts of one instant say is of one receipt; all else proves itself.
    private func evidence(of fact: Fact) -> Int64 {
        fact.content.format == .receiptTransaction ? fact.asOf.milliseconds : 0
    }

    var streams: [StreamID] {
        Set(events.map(\.fact.stream)).sorted()
    }

    func history(of stream: StreamID) -> StreamHistory {
        let own = events.filter { $0.fact.stream == stream }
        let offsets = Set(own.map(\.position))
        // In an order of no meaning, as a database may return them.
        let repetitions = confirmations.filter { offsets.contains($0.position) }
        return StreamHistory(stream: stream, events: own, confirmations: Array(repetitions))
    }

    /// The subscriptions of a customer, each with the receipts that its history cites.
    var customerStreams: [CustomerStream] {
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

    func timeline(of stream: StreamID) -> Timeline {
        Timeline(history(of: stream))
    }

    /// Every (subject, field, state, as-of) the ledger holds: what must not depend on arrival.
    var assertions: Set<String> {
        var all: Set<String> = []
        let contents = Dictionary(uniqueKeysWithValues: events.map { ($0.position, $0) })
        for event in events {
            all.formUnion(
                lines(
                    event,
                    Assertion(offset: 0, asOf: event.fact.asOf, content: event.fact.content)
                )
            )
        }
        for confirmation in confirmations {
            guard let event = contents[confirmation.position] else { continue }
            all.formUnion(lines(event, Assertion(confirmation, content: event.fact.content)))
        }
        return all
    }

    private func lines(_ event: Event, _ assertion: Assertion) -> [String] {
        let name = String(describing: event.fact.subject)
        var lines = assertion.fields.fields.map { field in
            "\(name) \(field) \(hexadecimalState(assertion.state(of: field))) @\(assertion.asOf)"
        }
        lines.append("\(name) spoken of @\(assertion.asOf)")
        if let id = event.fact.content.text(.transactionId), !id.isEmpty {
            lines.append("\(name) alias \(id)")
        }
        if !assertion.alias.isEmpty { lines.append("\(name) alias \(assertion.alias)") }
        return lines
    }

    // By bytes, for a set of Swift strings would not tell canonically equivalent ones apart.
    private func hexadecimalState(_ state: Knowledge.State) -> String {
        switch state {
        case .value(let value): hexadecimal(value.canonicalBytes)
        case .none: "none"
        case .unknown: "unknown"
        }
    }
}

extension MemoryLedger {
    /// The canonical bytes of all rows of all streams, in the order of the content digest.
    var rowBytes: [[UInt8]] { rowBytes(in: FoldContext()) }

    /// The same under another policy.
    func rowBytes(in context: FoldContext) -> [[UInt8]] {
        streams.flatMap { stream in
            let timeline = timeline(of: stream)
            return allProjections.flatMap {
                $0.acceptedRows(of: timeline, in: context).map(\.canonicalBytes)
            }
        }
    }
}
