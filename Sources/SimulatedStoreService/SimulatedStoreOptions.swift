public import Events

/// What a served store sells, how fast its time passes, and what goes wrong on purpose.
public struct SimulatedStoreOptions: Sendable {
    /// The seed of everything.
    public var seed: UInt64 = 1
    /// Subscriptions of production.
    public var subscriptions = 20
    /// Subscriptions of the sandbox, with other ids.
    public var sandboxSubscriptions = 0
    /// How long a month takes, in milliseconds; nil for the calendar's own months and dates.
    ///
    /// With a length, every life begins within the first month after `openedAt`.
    public var monthMilliseconds: Int64?
    /// When the store opened; nil for when it is started.
    public var openedAt: Instant?
    /// Where notifications are sent; nil for nowhere.
    public var notificationURL: String?
    /// The share of notifications of which no attempt arrives, 0 to 1.
    public var lost = 0.0
    /// The share of notifications that arrive twice.
    public var repeated = 0.0
    /// The share of notifications that arrive up to two hours late.
    public var delayed = 0.0
    /// The share of requests that get an error which is worth another attempt.
    public var failing = 0.0
    /// How much of Apple's rate limits is allowed.
    public var rateShare = 1.0
    /// The shared secret that verifyReceipt wants; nil for any.
    public var sharedSecret: String?
    /// The address to listen at.
    public var host = "127.0.0.1"
    /// The port; 0 for any that is free.
    public var port = 0
    /// Our clock.
    public var clock: @Sendable () -> Instant

    /// The defaults.
    public init(clock: @escaping @Sendable () -> Instant) {
        self.clock = clock
    }
}
