public import Events

/// A line in the list of rejections.
public struct KeptRejection: Hashable, Sendable {
    /// SHA-256 of the payload.
    public let digest: Digest
    /// The machine word of the refusal.
    public let reason: String
    /// The reason for people.
    public let message: String
    /// The channel it came by the first time.
    public let source: String
    /// Where it was found the first time; empty if that is not known.
    public let location: String
    /// Length of the payload as it arrived, in bytes.
    public let byteCount: Int
    /// Bytes of it that are kept; nil where nothing was kept.
    public let bodyByteCount: Int?
    /// When it was refused for this reason the first time, on our clock.
    public let receivedAt: Instant
}
