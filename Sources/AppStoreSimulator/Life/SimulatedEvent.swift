public import Events

/// Something that happened, with both of Apple's instants.
public struct SimulatedEvent: Hashable, Sendable {
    /// What.
    public let step: LifeStep
    /// When.
    public let happenedAt: Instant
    /// When Apple signed the first payload about it.
    public let signedAt: Instant
    /// Apple's status of the subscription then, 1 to 5; nil before the first purchase.
    public let status: Int64?
}
