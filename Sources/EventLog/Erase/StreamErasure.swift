package import Events

/// An erasure of one subscription: what it removes, or has removed.
package struct StreamErasure: Hashable, Sendable {
    /// The subscription.
    package let stream: StreamID
    /// Its lane.
    package let lane: Int
    /// What is removed from which rows.
    package let erasure: Erasure
    /// The event that records it; nil until it is done.
    package let position: Position?

    /// An erasure of those rows.
    package init(stream: StreamID, lane: Int, erasure: Erasure, position: Position?) {
        self.stream = stream
        self.lane = lane
        self.erasure = erasure
        self.position = position
    }
}
