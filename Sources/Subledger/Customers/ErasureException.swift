public import Events

/// A subscription that counts as a customer's but is not erased with them, because an erasure
/// cannot be undone: to erase it too, link it to the customer first.
public struct ErasureException: Hashable, Sendable {
    /// The subscription.
    public let stream: StreamID
    /// Why it is kept.
    public let reason: Reason

    /// Why a subscription is not erased with a customer.
    public enum Reason: Hashable, Sendable {
        /// It has app account tokens that do not belong to the customer.
        case otherTokens([String])
        /// It has no token, and is joined to these tokens as much as to the customer.
        case sharedWith([String])
        /// It is joined to several customers.
        case severalCustomers([String])
    }
}
