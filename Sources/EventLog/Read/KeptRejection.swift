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
    /// When it was taken in after all, on our clock; nil where it was not.
    public let takenAt: Instant?
}

/// A refused payload that was not taken in since, with what is kept of it.
public struct OpenRejection: Hashable, Sendable {
    /// The bytes that arrived.
    public let original: RejectedPayload.Original
    /// The channel they came by.
    public let source: String
    /// Where they were found; empty if that is not known.
    public let location: String
    /// Whether they arrived live or by an import.
    public let arrival: Arrival
    /// When they arrived, on our clock.
    public let receivedAt: Instant
    /// Its place in the list.
    public let place: RejectedPayload.Place
    /// What is kept of them; nil for nothing.
    public let body: [UInt8]?

    /// All that arrived, but for passwords; nil where that is not kept.
    public var wholeBody: [UInt8]? {
        let max = RejectedPayload.bodyByteCountMax
        return original.byteCount > max && body?.count == max ? nil : body
    }
}
