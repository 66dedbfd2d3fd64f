package import AppStoreSimulator
package import Events

/// The contents of a served store, the speed of its time, and its deliberate failures.
package struct SimulatedStoreOptions: Sendable {
    /// The seed of all random numbers.
    package var seed: UInt64 = 1
    /// What the app sells besides subscriptions for one customer.
    package var extras: AppStoreSimulator.Extras = []
    /// Subscriptions of production.
    package var subscriptions = 20
    /// Subscriptions of the sandbox, with other ids.
    package var sandboxSubscriptions = 0
    /// How long a month takes, in milliseconds; nil for the calendar's own months and dates.
    ///
    /// If it is set, every life begins within the first month after `openedAt`.
    package var monthMilliseconds: Int64?
    /// When the store opened; nil for its start.
    package var openedAt: Instant?
    /// The URL for notifications; nil for none.
    package var notificationURL: String?
    /// The share of notifications whose attempts all fail to arrive, 0 to 1.
    package var lost = 0.0
    /// The share of notifications that arrive twice.
    package var repeated = 0.0
    /// The share of notifications that arrive up to two hours late.
    package var delayed = 0.0
    /// The share of requests that get a retryable error.
    package var failing = 0.0
    /// The fraction of Apple's rate limits that is allowed.
    package var rateShare = 1.0
    /// The shared secret that verifyReceipt requires; nil for any.
    package var sharedSecret: String?
    /// The address to listen at.
    package var host = "127.0.0.1"
    /// The port; 0 for any free one.
    package var port = 0
    /// Our clock.
    package var clock: @Sendable () -> Instant

    /// The defaults.
    package init(clock: @escaping @Sendable () -> Instant) {
        self.clock = clock
    }
}
