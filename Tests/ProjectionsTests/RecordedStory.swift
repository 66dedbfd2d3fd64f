import Events
import Projections
import TestSupport
import Testing

/// A history with both clocks as text: the facts of `TimelineText`, each after the instant at which
/// the log recorded it: `02-12T06:40:55 @02-10T19:00:08 purchase …`.
///
/// Facts with the same instant are in one commit; a line with `+` instead of an instant belongs to
/// the payload of the previous line.
struct RecordedStory {
    let facts: [(recordedAt: Instant, payload: UInt8, fact: Fact)]

    init(_ text: String) throws {
        var facts: [(Instant, UInt8, Fact)] = []
        for (number, line) in text.split(separator: "\n").enumerated() {
            let parts = line.split(separator: " ", maxSplits: 1)
            try #require(parts.count == 2, "not a line: \(line)")
            let told = try TimelineText(String(parts[1])).facts
            let fact = try #require(told.first, "no fact: \(line)")
            if parts[0] == "+" {
                let last = try #require(facts.last)
                facts.append((last.0, last.1, fact))
            } else {
                facts.append((try TimelineText.instant(parts[0]), UInt8(number + 1), fact))
            }
        }
        self.facts = facts
    }

    /// The contents of a log that received the facts in their order.
    var history: RecordedHistory { RecordedStory.history(of: facts) }

    /// The contents of a log that received the facts in the order of their instants.
    static func history(
        of facts: [(recordedAt: Instant, payload: UInt8, fact: Fact)]
    ) -> RecordedHistory {
        var ledger = MemoryLedger()
        var events: [Event] = []
        var repetitions: [RecordedHistory.Repetition] = []
        var seen: Set<Events.Confirmation> = []
        var start = 0
        while start < facts.count {
            let instant = facts[start].recordedAt
            let commit = facts[start...].prefix { $0.recordedAt == instant }
            let firstOffset = Int64(ledger.events.count + 1)
            for (recordedAt, payload, fact) in commit {
                let count = ledger.events.count
                ledger.append(fact)
                for said in ledger.confirmations where seen.insert(said).inserted {
                    repetitions.append(
                        RecordedHistory.Repetition(
                            confirmation: Events.Confirmation(
                                position: said.position,
                                asOf: said.asOf,
                                fields: said.fields,
                                transactionId: said.transactionId,
                                evidence: Int64(payload)
                            ),
                            recordedAt: instant,
                            knownFromOffset: firstOffset
                        )
                    )
                }
                guard ledger.events.count > count, let event = ledger.events.last else { continue }
                events.append(
                    Event(
                        position: event.position,
                        recordedAt: recordedAt,
                        fact: event.fact,
                        evidence: Int64(payload)
                    )
                )
            }
            start = commit.endIndex
        }
        return RecordedHistory(
            stream: facts.first?.fact.stream ?? TimelineText.stream,
            events: events,
            repetitions: repetitions
        )
    }
}

extension Explanation {
    /// In the words of the scenarios.
    var lines: [String] {
        var lines = [
            "entitled \(RecordedStory.text(entitled))", "served \(RecordedStory.text(served))",
        ]
        if let stretch = difference {
            let (from, to) = (TimelineText.text(stretch.from), TimelineText.text(stretch.to))
            lines.append("\(stretch.kind) \(from)..\(to) \(stretch.seconds)s \(stretch.cause)")
        }
        for event in because {
            let type = [event.notificationType, event.subtype].compactMap { $0 }
                .joined(separator: "/")
            lines.append(
                "because #\(event.position) \(event.role) \(type.isEmpty ? "-" : type) "
                    + "\(TimelineText.text(event.occurredAt)) lag \(event.lagSeconds)s"
            )
        }
        if !changesIf.isEmpty {
            lines.append("changes " + changesIf.map { "#\($0)" }.joined(separator: " "))
        }
        return lines
    }
}

extension RecordedStory {
    fileprivate static func text(_ answer: AccessAnswer) -> String {
        switch answer {
        case .access(let row): "yes \(row.kind) \(row.productId)"
        case .owned(let purchase): "yes owned \(purchase.productId)"
        case .notOwned(let reason, let purchase): "no \(reason) \(purchase.productId)"
        case .none(let reason, _): "no \(reason)"
        }
    }
}

/// Checks a story's expectations about an instant.
func expect(
    _ story: String,
    at instant: String,
    _ lines: String,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let history = try RecordedStory(story).history
    let explanation = Explanation([history], at: try TimelineText.instant(instant))
    #expect(
        explanation.lines == lines.split(separator: "\n").map(String.init),
        sourceLocation: sourceLocation
    )
}
