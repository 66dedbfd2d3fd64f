public import Events

/// What to erase of one subscription.
public struct ErasureTarget: Hashable, Sendable {
    /// The subscription.
    public let stream: StreamID
    /// How much of it; never `payload`, which follows from another erasure.
    public let scope: Erasure.Scope
    /// The customer whose links are removed; nil if links do not matter.
    public let customer: String?

    /// An erasure of that scope.
    public init(stream: StreamID, scope: Erasure.Scope, customer: String? = nil) {
        self.stream = stream
        self.scope = scope
        self.customer = customer
    }
}
