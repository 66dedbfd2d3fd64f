public import AppStoreSimulator
public import Events

/// The contents of a served store, the speed of its time, and its deliberate failures.
public struct SimulatedStoreOptions: Sendable {
    /// The seed of all random numbers.
    public var seed: UInt64 = 1
    /// What the app sells besides subscriptions for one customer.
    public var extras: AppStoreSimulator.Extras = []
    /// Subscriptions of production.
    public var subscriptions = 20
    /// Subscriptions of the sandbox, with other ids.
    public var sandboxSubscriptions = 0
    /// How long a month takes, in milliseconds; nil for the calendar's own months and dates.
    ///
    /// If it is set, every life begins within the first month after `openedAt`.
    public var monthMilliseconds: Int64?
    /// When the store opened; nil for its start.
    public var openedAt: Instant?
    /// The URL for notifications; nil for none.
    public var notificationURL: String?
    /// The share of notifications whose attempts all fail to arrive, 0 to 1.
    public var lost = 0.0
    /// The share of notifications that arrive twice.
    public var repeated = 0.0
    /// The share of notifications that arrive up to two hours late.
    public var delayed = 0.0
    /// The share of requests that get a retryable error.
    public var failing = 0.0
    /// The fraction of Apple's rate limits that is allowed.
    public var rateShare = 1.0
    /// The shared secret that verifyReceipt requires; nil for any.
    public var sharedSecret: String?
    /// The address to listen at.
    public var host = "127.0.0.1"
    /// The port; 0 for any free one.
    public var port = 0
    /// Our clock.
    public var clock: @Sendable () -> Instant

    /// The defaults.
    public init(clock: @escaping @Sendable () -> Instant) {
        self.clock = clock
    }
}
