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
    /// Seconds within which a body must be complete.
    public var bodySecondsMax = 20.0
    /// The most seconds that a question waits for the position that it names.
    public var positionSecondsMax = 10.0
    /// Seconds for which the roles of tokens are cached: a revoked token is refused after that at
    /// the latest.
    public var tokenSecondsMax = 5.0
    /// The most concurrent connections; others wait to be accepted.
    public var connectionsMax = 20_000
    /// Seconds without a byte after which a connection is closed.
    public var idleSecondsMax = 65.0

    /// The defaults.
    public init() {}
}
