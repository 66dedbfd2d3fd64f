public import Events

/// An erasure of one subscription: what it takes, or took.
public struct StreamErasure: Hashable, Sendable {
    /// The subscription.
    public let stream: StreamID
    /// Its lane.
    public let lane: Int
    /// What goes from which rows.
    public let erasure: Erasure
    /// The event that says so; nil before it was done.
    public let position: Position?

    /// An erasure of those rows.
    package init(stream: StreamID, lane: Int, erasure: Erasure, position: Position?) {
        self.stream = stream
        self.lane = lane
        self.erasure = erasure
        self.position = position
    }
}
