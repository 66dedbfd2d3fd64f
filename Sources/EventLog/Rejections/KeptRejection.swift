public import Events

/// A line in the list of rejections.
public struct KeptRejection: Hashable, Sendable {
    /// SHA-256 of the payload.
    public let digest: Digest
    /// The machine-readable reason.
    public let reason: String
    /// The reason as text.
    public let message: String
    /// The channel by which it first arrived.
    public let source: String
    /// Where it was first found; empty if unknown.
    public let location: String
    /// Length of the payload as it arrived, in bytes.
    public let byteCount: Int
    /// The number of its bytes stored; nil if none were.
    public let bodyByteCount: Int?
    /// When it was first refused for this reason, on our clock.
    public let receivedAt: Instant
    /// When it was accepted after all, on our clock; nil if it was not.
    public let takenAt: Instant?
    /// What it shows of its origin.
    public let standing: Standing
}

/// What is stored of the refused payloads of one standing.
public struct StoredRejections: Hashable, Sendable {
    /// Rows.
    public let rows: Int64
    /// Bytes of their bodies.
    public let bytes: Int64
    /// The rows from which on no more are stored.
    public let rowsMax: Int64
    /// The bytes from which on no more bodies are stored.
    public let bytesMax: Int64

    var stored: RejectedBodyBudget.Stored { RejectedBodyBudget.Stored(rows: rows, bytes: bytes) }
}

/// Refused payloads of one standing that this process did not store whole.
public struct OmittedRejections: Hashable, Sendable {
    /// Not stored at all, because there are too many.
    public internal(set) var rows = 0
    /// Stored without their bytes.
    public internal(set) var bodies = 0
}

/// A refused payload that was not accepted since, with the stored part of it.
public struct OpenRejection: Hashable, Sendable {
    /// The bytes that arrived.
    public let original: RejectedPayload.Original
    /// The channel they came by.
    public let source: String
    /// Where they were found; empty if unknown.
    public let location: String
    /// Whether they arrived live or through an import.
    public let arrival: Arrival
    /// When they arrived, on our clock.
    public let receivedAt: Instant
    /// Its place in the list.
    public let place: RejectedPayload.Place
    /// The stored bytes; nil if none are.
    public let body: [UInt8]?

    /// Everything that arrived, except passwords; nil if it is not stored whole.
    public var wholeBody: [UInt8]? {
        let max = RejectedPayload.bodyByteCountMax
        return original.byteCount > max && body?.count == max ? nil : body
    }
}
