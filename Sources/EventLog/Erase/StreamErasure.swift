public import Events

/// An erasure of one subscription: what it removes, or has removed.
public struct StreamErasure: Hashable, Sendable {
    /// The subscription.
    public let stream: StreamID
    /// Its lane.
    public let lane: Int
    /// What is removed from which rows.
    public let erasure: Erasure
    /// The event that records it; nil until it is done.
    public let position: Position?

    /// An erasure of those rows.
    package init(stream: StreamID, lane: Int, erasure: Erasure, position: Position?) {
        self.stream = stream
        self.lane = lane
        self.erasure = erasure
        self.position = position
    }
}
