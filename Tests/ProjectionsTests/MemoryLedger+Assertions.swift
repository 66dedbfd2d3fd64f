import Events
import Projections
import TestSupport

extension MemoryLedger {
    /// Every (subject, field, state, as-of) in the ledger: this must not depend on arrival.
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

    // By bytes, because a set of Swift strings would merge canonically equivalent ones.
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
