internal import EventLog
public import Events

/// An erasure from which an answer may suffer, so that no answer is mistaken for the whole truth.
public struct ErasureMark: Codable, Hashable, Sendable {
    /// The subscription of which something was erased.
    public let originalTransactionId: String
    /// The event that records the erasure.
    public let position: PositionValue
    /// When it was recorded, on the ledger's clock.
    public let recordedAt: Instant
    /// What it took: `subscription` (everything), `customer` (what identifies the customer), `link`
    /// (links to a former customer), `payload` (payloads shared with another subscription).
    public let scope: String
    /// Why, in the operator's words.
    public let reason: String?
}

extension ErasureMark {
    /// The erasures in these events, whatever of the log was asked for: an erasure takes away what
    /// was known before it, too.
    static func all(in events: some Sequence<Event>, lanes: LaneCount) -> [ErasureMark] {
        events.compactMap { event in
            guard event.fact.kind == .erasure, let erasure = Erasure(event.fact.content) else {
                return nil
            }
            return ErasureMark(
                originalTransactionId: event.fact.stream.originalTransactionId,
                position: PositionValue(event.position, lanes: lanes),
                recordedAt: event.recordedAt,
                scope: erasure.scope.rawValue,
                reason: event.fact.content.text(.erasureReason)
            )
        }
    }

    /// A line for people; nil where no answer suffers from it.
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

    /// Whether all that was known of the subscription was erased.
    package var tookEverything: Bool { scope == Erasure.Scope.subscription.rawValue }
}

extension Ledger {
    /// The erasures of these subscriptions.
    func erasures(of streams: [StreamID]) async throws(EventLogError) -> [ErasureMark] {
        ErasureMark.all(in: try await log.erasures(of: streams), lanes: log.identity.lanes)
    }
}
