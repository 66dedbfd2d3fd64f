internal import EventLog
internal import Events
internal import Foundation
internal import Subledger

/// The bodies of a webhook's messages.
struct MessageMaker: Sendable {
    private let webhook: Webhook
    private let effects: Set<String>
    private let environments: Set<String>
    private let bundleIds: Set<String>

    init(_ webhook: Webhook) {
        self.webhook = webhook
        effects = Set(webhook.effects)
        environments = Set(webhook.environments)
        bundleIds = Set(webhook.bundleIds)
    }

    /// The version of the bodies: members may be added to a version, and nothing else.
    private static let version = 1

    private struct EffectMessage: Encodable {
        let type: String
        let version: Int
        let timestamp: String
        let data: EffectDocument
    }

    private struct AlertMessage: Encodable {
        let type: String
        let version: Int
        let timestamp: String
        let data: AlertDocument
    }

    /// The body of an effect; nil if the webhook does not receive it.
    func body(of effect: SubscriptionEffect) throws -> [UInt8]? {
        guard effects.isEmpty || effects.contains(effect.kind.rawValue),
            environments.isEmpty || environments.contains(effect.stream.environment.word),
            bundleIds.isEmpty || bundleIds.contains(effect.bundleId)
        else { return nil }
        switch webhook.format {
        case .subledger:
            return try MessageMaker.json(
                EffectMessage(
                    type: "effect.\(effect.kind.rawValue)",
                    version: MessageMaker.version,
                    timestamp: effect.recordedAt.description,
                    data: EffectDocument(effect, hasCursor: false)
                )
            )
        case .revenuecat: return try RevenueCatEvent(effect).map { try MessageMaker.json($0) }
        }
    }

    /// The body of an alert; nil in a format that has none.
    func body(of alert: Alert) throws -> [UInt8]? {
        guard webhook.format == .subledger else { return nil }
        return try MessageMaker.json(
            AlertMessage(
                type: "alert.raised",
                version: MessageMaker.version,
                timestamp: alert.raisedAt.description,
                data: AlertDocument(alert)
            )
        )
    }

    /// The body of a message that was stored without it; nil if there is nothing to send any more.
    ///
    /// - Throws: `EventLogError`.
    func body(of message: DeliveryQueue.Assignment, in ledger: Ledger) async throws -> [UInt8]? {
        guard let named = message.effect else {
            return try await ledger.log.alert(ofMessage: message.messageId).flatMap(body(of:))
        }
        return try await EffectReading.effect(named, id: message.messageId, of: ledger).flatMap(
            body(of:)
        )
    }

    private static func json(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }
}
