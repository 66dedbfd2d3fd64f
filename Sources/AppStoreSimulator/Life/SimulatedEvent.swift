package import Events

/// Something that happened, with both instants on Apple's clock.
package struct SimulatedEvent: Hashable, Sendable {
    /// What happened.
    package let step: LifeStep
    /// When it happened.
    package let happenedAt: Instant
    /// When Apple signed the first payload about it.
    package let signedAt: Instant
    /// Apple's status of the subscription at that time, 1 to 5; nil before the first purchase.
    package let status: Int64?
}
