public import Events

/// A subscription that counts as a customer's and is not erased with them, for an erasure cannot be
/// undone: link it to the customer first if it is to go, too.
public struct ErasureException: Hashable, Sendable {
    /// The subscription.
    public let stream: StreamID
    /// Why it stays.
    public let reason: Reason

    /// Why a subscription is not erased with a customer.
    public enum Reason: Hashable, Sendable {
        /// It has app account tokens that are none of the customer's.
        case otherTokens([String])
        /// It has no token, and counts as much for these tokens as for the customer.
        case sharedWith([String])
        /// It is joined to several customers.
        case severalCustomers([String])
    }
}
