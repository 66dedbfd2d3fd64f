package import Events

/// What to erase of one subscription.
package struct ErasureTarget: Hashable, Sendable {
    /// The subscription.
    package let stream: StreamID
    /// How much of it; never `payload`, which follows from another erasure.
    package let scope: Erasure.Scope
    /// The customer whose links are removed; nil if links do not matter.
    package let customer: String?

    /// An erasure of that scope.
    package init(stream: StreamID, scope: Erasure.Scope, customer: String? = nil) {
        self.stream = stream
        self.scope = scope
        self.customer = customer
    }
}
