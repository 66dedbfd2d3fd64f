public import EventLog
internal import Events

/// What was refused and why: the newest run first, each in the order of its input.
package struct RejectionsDocument: Encodable, Hashable, Sendable {
    /// The number of refusals, listed or not.
    package let count: Int64
    /// The first refusals, up to the requested number; a payload is listed once for each reason.
    package let rejections: [KeptRejection]
}

extension KeptRejection: Encodable {
    private enum CodingKeys: CodingKey {
        case digest, reason, message, source, location, byteCount, bodyByteCount, receivedAt
        case takenAt, standing
    }

    /// Writes the line; `bodyByteCount` and `takenAt` are null if they have no value.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(digest.hex, forKey: .digest)
        try container.encode(reason, forKey: .reason)
        try container.encode(message, forKey: .message)
        try container.encode(source, forKey: .source)
        try container.encode(location, forKey: .location)
        try container.encode(byteCount, forKey: .byteCount)
        try container.encode(bodyByteCount, forKey: .bodyByteCount)
        try container.encode(receivedAt, forKey: .receivedAt)
        try container.encode(takenAt, forKey: .takenAt)
        try container.encode(standing.rawValue, forKey: .standing)
    }
}

extension Ledger {
    /// What was refused and why: the newest run first, each in the order of its input.
    ///
    /// - Parameters:
    ///   - filter: Which refusals.
    ///   - limit: The most lines.
    /// - Returns: The answer.
    /// - Throws: `EventLogError`.
    package func rejections(
        _ filter: RejectionFilter = RejectionFilter(),
        limit: Int = 100
    ) async throws(EventLogError) -> RejectionsDocument {
        let (count, listed) = try await log.rejections(filter, limit: limit)
        return RejectionsDocument(count: count, rejections: listed)
    }
}
