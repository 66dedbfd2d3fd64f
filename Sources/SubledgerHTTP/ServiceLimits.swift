internal import AppStore

/// The limits of one request to the service.
public struct ServiceLimits: Sendable {
    /// The most bytes of a notification: Apple's have about ten thousand.
    public var notificationByteCountMax = 1 << 20
    /// The most bytes of an upload: one payload of the greatest size, as JSON.
    public var uploadByteCountMax = AppStoreVerifier.payloadByteCountMax + (1 << 16)
    /// The most signed transactions in one upload.
    public var uploadPayloadsMax = 1_000
    /// The most concurrent requests with a body; others are asked to retry, so bodies cannot fill
    /// the memory.
    public var uploadsMax = 512
    /// The most bytes of concurrent bodies, which are held in memory; others are asked to retry.
    public var bodyBytesMax = 128 << 20
    /// Notifications a second, in the long run, from one address that sent nothing yet that Apple
    /// signed.
    public var strangerRequestsPerSecond = 20.0
    /// The same for all such addresses together.
    public var strangersRequestsPerSecond = 200.0
    /// How many such notifications may come at once after a pause, from one address: Apple sends
    /// what it could not deliver in bursts.
    public var strangerRequestsBurst = 100.0
    /// The same for all such addresses together.
    public var strangersRequestsBurst = 1_000.0
    /// The most concurrent notifications from one such address.
    public var strangerBodiesMax = 8
    /// The same for all such addresses together.
    public var strangersBodiesMax = 64
    /// Seconds that such a notification waits while others are verified or recorded before it is
    /// asked to retry.
    public var strangerTurnSecondsMax = 5.0
    /// Seconds within which the header fields of a request must be complete.
    public var headSecondsMax = 10.0
    /// Seconds within which a body must be complete.
    public var bodySecondsMax = 20.0
    /// Seconds that the answer to a question may take, reading included; 0 for any number.
    ///
    /// Longer than `positionSecondsMax`, which is part of it.
    public var answerSecondsMax = 15.0
    /// Seconds for which a commit, or a probe, shows that appends work.
    public var readinessSecondsMax = 1.0
    /// Seconds that the database may take for an append before the service counts as not ready.
    public var readinessWaitSecondsMax = 2.0
    /// The most seconds that a question waits for the position that it names.
    public var positionSecondsMax = 10.0
    /// Seconds for which the roles of tokens are cached: a revoked token is refused after that at
    /// the latest.
    public var tokenSecondsMax = 5.0
    /// Seconds that the database may take to read the tokens; then those read before count, for an
    /// hour.
    public var tokenReadSecondsMax = 5.0
    /// Days for which the ledger stores who asked about whom; 0 for not at all.
    public var auditDays = 0
    /// Seconds between two looks whether an outage of the database is over.
    public var outageSeconds = 1.0
    /// The most pages of the console that wait for new events: each looks for them once a second.
    public var liveStreamsMax = 32
    /// Seconds after which such a page asks again, so that the roles of its token are read again.
    public var liveSecondsMax = 600.0
    /// The most concurrent connections; others wait to be accepted.
    public var connectionsMax = 20_000
    /// Seconds without a byte after which a connection is closed.
    public var idleSecondsMax = 65.0

    /// The defaults.
    public init() {}
}
