public import Events
internal import Postgres

extension EventLog {
    /// Keeps payloads that were refused, each once a reason; what is kept already stays as it is.
    ///
    /// Returns when they are durable. It is no append: the chain of digests does not cover them.
    ///
    /// - Parameter rejections: As many as the caller holds; they go in one statement.
    /// - Throws: `databaseUnavailable`, `permissionDenied`; then none of them is kept.
    public func keep(_ rejections: [RejectedPayload]) async throws(EventLogError) {
        guard !rejections.isEmpty else { return }
        let lanes = rejections.map { identity.lanes.lane(of: $0.digest.hex) }
        // In one order for all writers, or two of them would wait for each other's rows.
        let order = rejections.indices.sorted { left, right in
            if lanes[left] != lanes[right] { return lanes[left] < lanes[right] }
            let (first, second) = (rejections[left], rejections[right])
            if first.digest != second.digest {
                return first.digest.bytes.lexicographicallyPrecedes(second.digest.bytes)
            }
            return first.reason < second.reason
        }
        let sorted = order.map { rejections[$0] }
        try await writing(
            "keep rejections",
            EventLog.insertRejections,
            [
                .int4Array(order.map { Int32(lanes[$0]) }),
                .int4Array(sorted.map { Int32(clamping: $0.byteCount) }),
                .int8Array(sorted.map(\.receivedAt.milliseconds)),
                .byteaArray(sorted.map(\.digest.bytes)), .textArray(sorted.map(\.reason)),
                .textArray(sorted.map(\.source)), .textArray(sorted.map(\.location)),
                .textArray(sorted.map(\.message)), .byteaArray(sorted.map(\.body)),
            ]
        )
    }

    /// Rejections that are kept, newest first, with how many there are in all.
    ///
    /// - Parameters:
    ///   - filter: Which ones.
    ///   - limit: Most lines returned.
    /// - Returns: How many match, and the newest of them.
    /// - Throws: `databaseUnavailable`.
    public func rejections(
        _ filter: RejectionFilter = RejectionFilter(),
        limit: Int
    ) async throws(EventLogError) -> (count: Int64, newest: [KeptRejection]) {
        let bounds: [PostgresValue] = [
            .text(filter.reason), .text(filter.source),
            .timestamptz(microseconds: filter.since?.microseconds),
        ]
        return try await reading("list the rejections") { session in
            let found = try await session.pipeline([
                PostgresStatement(EventLog.countRejections, bounds),
                PostgresStatement(EventLog.listRejections, bounds + [.int8(Int64(limit))]),
            ])
            let newest = try found[1].map { row in
                KeptRejection(
                    digest: Digest(bytes: try row.bytea(0)) ?? .zero,
                    reason: try row.text(1),
                    message: try row.text(2),
                    source: try row.text(3),
                    location: try row.text(4),
                    byteCount: Int(try row.int4(5)),
                    bodyByteCount: try row.int4IfPresent(6).map(Int.init),
                    receivedAt: Instant(microseconds: try row.timestamptz(7))
                )
            }
            return (try found[0].single().int8(0), newest)
        }
    }

    /// What is kept of a rejected payload.
    ///
    /// - Parameter digest: SHA-256 of the payload as it arrived.
    /// - Returns: Nil where no such payload was refused; `.some(nil)` where it was, and nothing of
    ///   it could be kept.
    /// - Throws: `databaseUnavailable`.
    public func rejectedBody(_ digest: Digest) async throws(EventLogError) -> [UInt8]?? {
        let lane = identity.lanes.lane(of: digest.hex)
        return try await reading("read the rejected payload \(digest)") { session in
            // For every reason the same bytes are kept.
            let rows = try await session.query(
                """
                SELECT body FROM ledger.rejection WHERE lane = $1 AND payload_digest = $2
                ORDER BY body IS NULL LIMIT 1
                """,
                [.int4(Int32(lane)), .bytea(digest.bytes)]
            )
            return rows.count == 0 ? .none : .some(try rows[0].byteaIfPresent(0))
        }
    }

    /// Runs one statement as a writer, as a transaction, again until its time is over while the
    /// database is away or takes no writes; so it must do no harm when repeated.
    func writing(
        _ action: String,
        _ sql: String,
        _ parameters: [PostgresValue]
    ) async throws(EventLogError) {
        let deadline = limits.deadline()
        var attempt = 0
        while true {
            do {
                return try await write(action, sql, parameters, by: deadline)
            } catch {
                guard error.isRetryable, !deadline.isPassed else { throw error }
            }
            await AppendLimits.backOff(attempt: attempt)
            attempt += 1
        }
    }

    private func write(
        _ action: String,
        _ sql: String,
        _ parameters: [PostgresValue],
        by deadline: Deadline
    ) async throws(EventLogError) {
        let prepare = AppendSQL.prepareTransaction(secondsMax: limits.secondsMax)
        try await reading(action, by: deadline) { session in
            do {
                try await session.atomically { session in
                    try session.execute(prepare)
                    try session.query(sql, parameters)
                }
            } catch let error as PostgresError where error.sqlState == "25006" {
                // A connection to a primary that was demoted serves readers; writers need another.
                await session.close()
                throw error
            }
        }
    }

    private static let insertRejections = """
        INSERT INTO ledger.rejection (lane, byte_count, received_at, payload_digest, reason, source,
            location, message, body)
        SELECT r.lane, r.byte_count,
            timestamptz 'epoch' + r.received_ms * interval '1 millisecond', r.digest, r.reason,
            r.source, r.location, r.message, r.body
        FROM unnest($1::int[], $2::int[], $3::bigint[], $4::bytea[], $5::text[], $6::text[],
            $7::text[], $8::text[], $9::bytea[]) AS r (lane, byte_count, received_ms, digest,
            reason, source, location, message, body)
        ON CONFLICT DO NOTHING
        """

    private static let matchingRejections = """
        FROM ledger.rejection WHERE ($1::text IS NULL OR reason = $1)
            AND ($2::text IS NULL OR source = $2) AND ($3::timestamptz IS NULL OR received_at >= $3)
        """

    private static let countRejections = "SELECT count(*) \(matchingRejections)"

    private static let listRejections = """
        SELECT payload_digest, reason, message, source, location, byte_count, octet_length(body),
            received_at
        \(matchingRejections)
        ORDER BY received_at DESC, payload_digest, reason LIMIT $4
        """
}
