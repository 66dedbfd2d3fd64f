package import Events

/// A line in the list of rejections.
package struct KeptRejection: Hashable, Sendable {
    /// SHA-256 of the payload.
    package let digest: Digest
    /// The machine-readable reason.
    package let reason: String
    /// The reason as text.
    package let message: String
    /// The channel by which it first arrived.
    package let source: String
    /// Where it was first found; empty if unknown.
    package let location: String
    /// Length of the payload as it arrived, in bytes.
    package let byteCount: Int
    /// The number of its bytes stored; nil if none were.
    package let bodyByteCount: Int?
    /// When it was first refused for this reason, on our clock.
    package let receivedAt: Instant
    /// When it was accepted after all, on our clock; nil if it was not.
    package let takenAt: Instant?
    /// What it shows of its origin.
    package let standing: Standing
}

/// What is stored of the refused payloads of one standing.
package struct StoredRejections: Hashable, Sendable {
    /// Rows.
    package let rows: Int64
    /// Bytes of their bodies.
    package let bytes: Int64
    /// The rows from which on no more are stored.
    package let rowsMax: Int64
    /// The bytes from which on no more bodies are stored.
    package let bytesMax: Int64

    var stored: RejectedBodyBudget.Stored { RejectedBodyBudget.Stored(rows: rows, bytes: bytes) }
}

/// Refused payloads of one standing that this process did not store whole.
package struct OmittedRejections: Hashable, Sendable {
    /// Not stored at all, because there are too many.
    package internal(set) var rows = 0
    /// Stored without their bytes.
    package internal(set) var bodies = 0
}

/// A refused payload that was not accepted since, with the stored part of it.
package struct OpenRejection: Hashable, Sendable {
    /// The bytes that arrived.
    package let original: RejectedPayload.Original
    /// The channel they came by.
    package let source: String
    /// Where they were found; empty if unknown.
    package let location: String
    /// Whether they arrived live or through an import.
    package let arrival: Arrival
    /// When they arrived, on our clock.
    package let receivedAt: Instant
    /// Its place in the list.
    package let place: RejectedPayload.Place
    /// The stored bytes; nil if none are.
    package let body: [UInt8]?

    /// Everything that arrived, except passwords; nil if it is not stored whole.
    package var wholeBody: [UInt8]? {
        let max = RejectedPayload.bodyByteCountMax
        return original.byteCount > max && body?.count == max ? nil : body
    }
}
