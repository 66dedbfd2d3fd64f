public import EventLog
public import Events

/// What was refused and why: the newest run first, each in the order of its input.
public struct RejectionsDocument: Codable, Hashable, Sendable {
    /// The number of refusals, listed or not.
    public let count: Int64
    /// The first refusals, up to the requested number.
    public let rejections: [Line]

    /// A payload that was refused; listed once for each reason.
    public struct Line: Codable, Hashable, Sendable {
        /// SHA-256 of the payload, in hexadecimal.
        public let digest: String
        /// The machine-readable reason.
        public let reason: String
        /// Why, and what to do.
        public let message: String
        /// The channel it came by.
        public let source: String
        /// Where it was first found; empty if there is no place to return to.
        public let location: String
        /// Its size in bytes.
        public let byteCount: Int
        /// The number of bytes kept; null if none are.
        public let bodyByteCount: OrNull<Int>
        /// When it arrived, on our clock.
        public let receivedAt: Instant
        /// When it was accepted after all, on our clock; null if it is open.
        public let takenAt: OrNull<Instant>
        /// What it shows of its origin: `proven`, `chained` or `unproven`.
        public let standing: String
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
    public func rejections(
        _ filter: RejectionFilter = RejectionFilter(),
        limit: Int = 100
    ) async throws(EventLogError) -> RejectionsDocument {
        let (count, listed) = try await log.rejections(filter, limit: limit)
        return RejectionsDocument(
            count: count,
            rejections: listed.map { rejection in
                RejectionsDocument.Line(
                    digest: rejection.digest.hex,
                    reason: rejection.reason,
                    message: rejection.message,
                    source: rejection.source,
                    location: rejection.location,
                    byteCount: rejection.byteCount,
                    bodyByteCount: OrNull(rejection.bodyByteCount),
                    receivedAt: rejection.receivedAt,
                    takenAt: OrNull(rejection.takenAt),
                    standing: rejection.standing.rawValue
                )
            }
        )
    }
}
