internal import AppStore

/// What one request may take of the service.
public struct ServiceLimits: Sendable {
    /// Bytes of a notification: Apple's have some ten thousand.
    public var notificationByteCountMax = 1 << 20
    /// Bytes of an upload: one payload of the greatest size, as JSON.
    public var uploadByteCountMax = AppStoreVerifier.payloadByteCountMax + (1 << 16)
    /// Signed transactions in one upload.
    public var uploadPayloadsMax = 1_000
    /// Requests with a body that are under way at once; more are asked to come again, so that
    /// bodies cannot fill the memory.
    public var uploadsMax = 512
    /// Seconds in which a body must be there.
    public var bodySecondsMax = 20.0
    /// Seconds that a question waits at most for the position that it names.
    public var positionSecondsMax = 10.0
    /// Seconds for which the roles of tokens are remembered: a token that was revoked is refused
    /// after that at the latest.
    public var tokenSecondsMax = 5.0
    /// Connections at once; more wait to be accepted.
    public var connectionsMax = 20_000
    /// Seconds without a byte after which a connection is closed.
    public var idleSecondsMax = 65.0

    /// The defaults.
    public init() {}
}
