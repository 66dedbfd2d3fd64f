package import Events
internal import Postgres
internal import Synchronization

extension EventLog {
    /// Stores refused payloads, each once per reason; those already stored stay unchanged.
    ///
    /// Returns when they are durable. This is not an append: the chain of digests does not cover
    /// them.
    ///
    /// Each standing has limits of its own, in rows and bytes: beyond them, a refusal is stored
    /// without its bytes, or not at all. ``LogStatistics`` counts these. Unproven ones are deleted
    /// when they are old.
    ///
    /// - Parameter rejections: As many as the caller holds; they are sent in one statement.
    /// - Returns: How many bodies were not stored, because those of their standing have reached its
    ///   limit.
    /// - Throws: `databaseUnavailable`, `permissionDenied`; then none of them is stored.
    @discardableResult
    package func record(_ rejections: [RejectedPayload]) async throws(EventLogError) -> Int {
        guard !rejections.isEmpty else { return 0 }
        if rejectedBodies.withLock({ $0.isStale }) {
            try await writing(
                "delete old rejections",
                "SELECT ledger.forget_rejections($1)",
                [.int4(RejectedPayload.unprovenDaysMax)]
            )
            let sums = try await retryingUntilDeadline { deadline throws(EventLogError) in
                try await storedRejections(by: deadline)
            }
            rejectedBodies.withLock { $0.refresh(sums.mapValues(\.stored)) }
        }
        let admission = rejectedBodies.withLock { $0.admit(rejections) }
        if !admission.stored.isEmpty { try await insert(admission.stored) }
        omittedRejections.withLock { counts in
            for standing in Standing.allCases {
                let (omitted, bare) = (admission.omitted, admission.withoutBody)
                counts[standing, default: OmittedRejections()].rows += omitted[standing] ?? 0
                counts[standing, default: OmittedRejections()].bodies += bare[standing] ?? 0
            }
        }
        return admission.lostBodies
    }

    /// What is stored of each standing, and the limits; tried once.
    package func storedRejections() async throws(EventLogError) -> [Standing: StoredRejections] {
        try await storedRejections(by: limits.deadline())
    }

    private func storedRejections(
        by deadline: Deadline
    ) async throws(EventLogError) -> [Standing: StoredRejections] {
        let rows = try await reading("add up the rejections", on: payloadPool, by: deadline) {
            session in
            try await session.query(EventLog.sumBodies, []).map { row in
                (try row.text(0), try row.int8(1), try row.int8(2))
            }
        }
        let limit = rejectedBodies.withLock { $0.limit }
        var sums: [Standing: StoredRejections] = [:]
        for standing in Standing.allCases {
            let row = rows.first { $0.0 == standing.rawValue }
            sums[standing] = StoredRejections(
                rows: row?.1 ?? 0,
                bytes: row?.2 ?? 0,
                rowsMax: RejectedPayload.rowsMax(of: standing),
                bytesMax: RejectedPayload.bytesMax(of: standing, ofProven: limit)
            )
        }
        return sums
    }

    private func insert(_ rejections: [RejectedPayload]) async throws(EventLogError) {
        let lanes = rejections.map { identity.lanes.lane(of: $0.digest.hex) }
        // All writers use the same order, so no two wait for each other's rows.
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
                .int8Array(sorted.map(\.place.runStartedAt.milliseconds)),
                .int8Array(sorted.map(\.place.inputNumber)),
                .int8Array(sorted.map(\.receivedAt.milliseconds)),
                .byteaArray(sorted.map(\.digest.bytes)), .textArray(sorted.map(\.reason)),
                .textArray(sorted.map(\.source)), .textArray(sorted.map(\.location)),
                .textArray(sorted.map(\.message)), .byteaArray(sorted.map(\.body)),
                .boolArray(sorted.map { $0.arrival == .imported }),
                .textArray(sorted.map(\.standing.rawValue)),
            ]
        )
    }

    /// The stored rejections and their number: the newest run first, each in the order of its
    /// input.
    ///
    /// - Parameters:
    ///   - filter: Which ones.
    ///   - limit: The most lines returned.
    /// - Returns: How many match, and the first of them.
    /// - Throws: `databaseUnavailable`.
    package func rejections(
        _ filter: RejectionFilter = RejectionFilter(),
        limit: Int
    ) async throws(EventLogError) -> (count: Int64, listed: [KeptRejection]) {
        let bounds = EventLog.bounds(of: filter)
        return try await reading("list the rejections") { session in
            let found = try await session.pipeline([
                PostgresStatement(EventLog.countRejections, bounds),
                PostgresStatement(EventLog.listRejections, bounds + [.int8(Int64(limit))]),
            ])
            let listed = try found[1].map { row in
                KeptRejection(
                    digest: Digest(bytes: try row.bytea(0)) ?? .zero,
                    reason: try row.text(1),
                    message: try row.text(2),
                    source: try row.text(3),
                    location: try row.text(4),
                    byteCount: Int(try row.int4(5)),
                    bodyByteCount: try row.int4IfPresent(6).map(Int.init),
                    receivedAt: Instant(microseconds: try row.timestamptz(7)),
                    takenAt: try row.timestamptzIfPresent(8).map(Instant.init(microseconds:)),
                    standing: Standing(rawValue: try row.text(9)) ?? .unproven
                )
            }
            return (try found[0].single().int8(0), listed)
        }
    }

    /// The stored part of a rejected payload.
    ///
    /// - Parameter digest: SHA-256 of the payload as it arrived.
    /// - Returns: Nil if no such payload was refused; `.some(nil)` if it was, but none of it could
    ///   be stored.
    /// - Throws: `databaseUnavailable`.
    package func rejectedBody(_ digest: Digest) async throws(EventLogError) -> [UInt8]?? {
        let lane = identity.lanes.lane(of: digest.hex)
        return try await reading("read the rejected payload \(digest)") { session in
            // The same bytes are stored for every reason.
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

    /// Runs one statement as a writer, in a transaction, and repeats it until its time is over
    /// while the database is unavailable or does not accept writes; it must be safe to repeat.
    func writing(
        _ action: String,
        _ sql: String,
        _ parameters: [PostgresValue]
    ) async throws(EventLogError) {
        try await writing(action) { try $0.query(sql, parameters) }
    }

    /// The same for several statements.
    func writing(
        _ action: String,
        _ body: @escaping @Sendable (isolated PostgresSession) throws -> Void
    ) async throws(EventLogError) {
        try await retryingUntilDeadline { deadline throws(EventLogError) in
            try await write(action, by: deadline, body)
        }
    }

    /// Runs work that is safe to repeat, and repeats it until its time is over while the database
    /// is unavailable or does not accept writes.
    ///
    /// Throws the error of the last attempt that had time to fail.
    func retryingUntilDeadline<Value>(
        _ body: (Deadline) async throws(EventLogError) -> Value
    ) async throws(EventLogError) -> Value {
        let deadline = limits.deadline()
        var attempt = 0
        var cause: EventLogError?
        while true {
            do {
                return try await body(deadline)
            } catch {
                guard error.isRetryable else { throw error }
                guard !deadline.isPassed else { throw cause ?? error }
                cause = error
            }
            await AppendLimits.backOff(attempt: attempt)
            attempt += 1
        }
    }

    private func write(
        _ action: String,
        by deadline: Deadline,
        _ body: @escaping @Sendable (isolated PostgresSession) throws -> Void
    ) async throws(EventLogError) {
        let prepare = AppendSQL.prepareTransaction(secondsMax: limits.secondsMax)
        try await reading(action, on: payloadPool, by: deadline) { session in
            do {
                try await session.atomically { session in
                    try session.execute(prepare)
                    try body(session)
                }
            } catch let error as PostgresError where error.sqlState == "25006" {
                // A connection to a primary that was demoted still serves readers; writers need
                // another.
                await session.close()
                throw error
            }
        }
    }

    private static let sumBodies = """
        SELECT standing, count(*), coalesce(sum(octet_length(body)), 0)::bigint
        FROM ledger.rejection GROUP BY standing
        """

    private static let insertRejections = """
        INSERT INTO ledger.rejection (lane, byte_count, run_started_at, input_no, received_at,
            payload_digest, reason, source, location, message, body, is_imported, standing)
        SELECT r.lane, r.byte_count,
            timestamptz 'epoch' + r.started_ms * interval '1 millisecond', r.input_no,
            timestamptz 'epoch' + r.received_ms * interval '1 millisecond', r.digest, r.reason,
            r.source, r.location, r.message, r.body, r.is_imported, r.standing
        FROM unnest($1::int[], $2::int[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bytea[],
            $7::text[], $8::text[], $9::text[], $10::text[], $11::bytea[], $12::boolean[],
            $13::text[]) AS r (lane, byte_count, started_ms, input_no, received_ms, digest, reason,
            source, location, message, body, is_imported, standing)
        ON CONFLICT DO NOTHING
        """

    private static let countRejections = "SELECT count(*) \(matchingRejections)"

    private static let listRejections = """
        SELECT r.payload_digest, r.reason, r.message, r.source, r.location, r.byte_count,
            octet_length(r.body), r.received_at, t.taken_at, r.standing
        \(matchingRejections)
        ORDER BY r.run_started_at DESC, r.input_no, r.payload_digest, r.reason LIMIT $5
        """
}

extension EventLog {
    static let matchingRejections = """
        FROM ledger.rejection r LEFT JOIN ledger.rejection_taken t
            ON t.lane = r.lane AND t.payload_digest = r.payload_digest
        WHERE ($1::text IS NULL OR r.reason = $1) AND ($2::text IS NULL OR r.source = $2)
            AND ($3::timestamptz IS NULL OR r.received_at >= $3)
            AND (NOT $4::boolean OR t.lane IS NULL)
        """

    static func bounds(of filter: RejectionFilter) -> [PostgresValue] {
        [
            .text(filter.reason), .text(filter.source),
            .timestamptz(microseconds: filter.since?.microseconds), .bool(filter.isOpen),
        ]
    }
}
