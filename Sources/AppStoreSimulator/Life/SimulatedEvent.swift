public import Events

/// Something that happened, with both instants on Apple's clock.
public struct SimulatedEvent: Hashable, Sendable {
    /// What happened.
    public let step: LifeStep
    /// When it happened.
    public let happenedAt: Instant
    /// When Apple signed the first payload about it.
    public let signedAt: Instant
    /// Apple's status of the subscription at that time, 1 to 5; nil before the first purchase.
    public let status: Int64?
}
