internal import EventLog
public import Events

/// An erasure that may affect an answer, so no reader takes the answer for complete.
public struct ErasureMark: Codable, Hashable, Sendable {
    /// The subscription that lost data.
    public let originalTransactionId: String
    /// The event that records the erasure.
    public let position: Position
    /// When it was recorded, on the ledger's clock.
    public let recordedAt: Instant
    /// What it removed: `subscription` (everything), `customer` (what identifies the customer),
    /// `link` (links to a former customer), `payload` (payloads shared with another subscription).
    public let scope: String
    /// The reason, in the operator's words.
    public let reason: String?
}

extension ErasureMark {
    /// The erasures among these events, whatever part of the log was asked for, because an erasure
    /// also removes what was known before it.
    static func all(in events: some Sequence<Event>) -> [ErasureMark] {
        events.compactMap { event in
            guard event.fact.kind == .erasure, let erasure = Erasure(event.fact.content) else {
                return nil
            }
            return ErasureMark(
                originalTransactionId: event.fact.stream.originalTransactionId,
                position: event.position,
                recordedAt: event.recordedAt,
                scope: erasure.scope.rawValue,
                reason: event.fact.content.text(.erasureReason)
            )
        }
    }

    /// The erasure as a line of text; nil if it does not affect the answer.
    package var line: String? {
        let lost: String
        switch Erasure.Scope(rawValue: scope) {
        case .subscription:
            lost = "everything known about it until then was removed and no longer affects answers"
        case .customer, .link:
            lost =
                "what identified its customer until then was removed; its purchases are unchanged"
        case .payload, nil: return nil
        }
        return "erased: \(originalTransactionId) by event #\(position) on \(recordedAt.clock)"
            + (reason.map { " (\($0))" } ?? "") + ": \(lost)"
    }

    /// Whether everything known of the subscription was erased.
    package var tookEverything: Bool { scope == Erasure.Scope.subscription.rawValue }
}

extension Ledger {
    /// The erasures of these subscriptions.
    func erasures(of streams: [StreamID]) async throws(EventLogError) -> [ErasureMark] {
        ErasureMark.all(in: try await log.erasures(of: streams))
    }
}
