public import EventLog
package import Events

/// What an erasure removed, or would remove.
package struct ErasureDocument: Encodable, Hashable, Sendable {
    /// Whether it was done; false for a dry run.
    package let erased: Bool
    /// What is removed, subscription by subscription.
    package let erasures: [StreamErasure]
    /// What counts as the customer's and is kept.
    package let left: [ErasureException]

    /// The document of erasures.
    package init(
        _ erasures: [StreamErasure],
        leaving exceptions: [ErasureException] = [],
        isDone: Bool
    ) {
        (self.erasures, left, erased) = (erasures, exceptions, isDone)
    }
}

extension StreamErasure: Encodable {
    private enum CodingKeys: CodingKey {
        case position, originalTransactionId, environment, scope, lane, events, confirmations
        case evidence, eventCount, evidenceCount
    }

    /// Writes the offsets of events and confirmations, and the numbers of payloads, as ranges.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(position, forKey: .position)
        try container.encode(stream.originalTransactionId, forKey: .originalTransactionId)
        try container.encode(stream.environment, forKey: .environment)
        try container.encode(erasure.scope.rawValue, forKey: .scope)
        try container.encode(lane, forKey: .lane)
        try container.encode(erasure.events.description, forKey: .events)
        try container.encode(erasure.confirmations.description, forKey: .confirmations)
        try container.encode(erasure.evidence.description, forKey: .evidence)
        try container.encode(erasure.events.count, forKey: .eventCount)
        try container.encode(erasure.evidence.count, forKey: .evidenceCount)
    }
}

/// A subscription that counts as a customer's but is not erased with them, because an erasure
/// cannot be undone: to erase it too, link it to the customer first.
package struct ErasureException: Hashable, Sendable {
    /// The subscription.
    package let stream: StreamID
    /// Why it is kept.
    package let reason: Reason

    /// Why a subscription is not erased with a customer.
    package enum Reason: Hashable, Sendable {
        /// It has app account tokens that do not belong to the customer.
        case otherTokens([String])
        /// It has no token, and is joined to these tokens as much as to the customer.
        case sharedWith([String])
        /// It is joined to several customers.
        case severalCustomers([String])
    }

    /// The exception as text.
    package var words: String {
        let why =
            switch reason {
            case .otherTokens(let tokens):
                "it has another app account token (\(tokens.joined(separator: ", ")))"
            case .sharedWith(let tokens):
                "it has no token and could equally belong to token "
                    + "\(tokens.joined(separator: ", "))"
            case .severalCustomers(let customers):
                "it is joined to several customers (\(customers.joined(separator: ", ")))"
            }
        return "not erased: \(stream.originalTransactionId) (\(stream.environment)): \(why). To "
            + "erase it too, link it to the customer first, or erase it as a subscription"
    }
}

extension ErasureException: Encodable {
    private enum CodingKeys: CodingKey { case originalTransactionId, environment, reason }

    /// Writes the subscription, and the reason as text.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(stream.originalTransactionId, forKey: .originalTransactionId)
        try container.encode(stream.environment, forKey: .environment)
        try container.encode(words, forKey: .reason)
    }
}
