import CommandSupport
import EventLog
import Events

/// Where something of a subscription was erased, so that no answer is mistaken for the whole truth.
struct ErasureMarks {
    private let found: [(stream: StreamID, event: Event, erasure: Erasure)]

    /// The erasures in these events.
    init(_ events: some Sequence<Event>) {
        found = events.compactMap { event in
            guard event.fact.kind == .erasure else { return nil }
            return Erasure(event.fact.content).map { (event.fact.stream, event, $0) }
        }
    }

    /// Prints on stderr what was erased of these subscriptions, when, and why: one line an erasure.
    ///
    /// Whatever of the log was asked for: an erasure takes away what was known before it, too.
    static func tell(of streams: [StreamID], in log: EventLog) async throws {
        let marks = ErasureMarks(try await log.erasures(of: streams))
        for line in marks.lines(lanes: log.identity.lanes) { Terminal.write(line) }
    }

    /// Whether all that was known of one of the subscriptions was erased.
    var tookEverything: Bool { found.contains { $0.erasure.scope == .subscription } }

    /// One line for each erasure from which an answer may suffer.
    func lines(lanes: LaneCount) -> [String] {
        found.compactMap { stream, event, erasure in
            let lost: String
            switch erasure.scope {
            case .subscription:
                lost =
                    "everything known about it until then was removed, and answers no longer use it"
            case .customer, .link:
                lost =
                    "what identified its customer until then was removed; its purchases are "
                    + "unchanged"
            case .payload: return nil
            }
            let reason = event.fact.content.text(.erasureReason).map { " (\($0))" } ?? ""
            return "erased: \(stream.originalTransactionId) by event "
                + "\(event.position.mark(lanes: lanes)) on \(event.recordedAt.clock)\(reason): "
                + lost
        }
    }

    /// The same in JSON.
    func document(lanes: LaneCount) -> JSONTree {
        .array(
            found.map { stream, event, erasure in
                .object([
                    "originalTransactionId": .text(stream.originalTransactionId),
                    "position": JSONTree(event.position, lanes: lanes),
                    "recordedAt": JSONTree(iso: event.recordedAt),
                    "scope": .text(erasure.scope.rawValue),
                    "reason": JSONTree(event.fact.content.text(.erasureReason)),
                ])
            }
        )
    }
}

extension Fact {
    /// The as-of; nil where the fact was erased, and its row holds 0.
    var toldAsOf: Instant? { kind == .erased ? nil : asOf }
}
