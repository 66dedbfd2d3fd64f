package import Events
internal import Postgres

/// Payloads that one caller accepted, with the time.
struct TakenMark: Sendable {
    let digests: [Digest]
    let instant: Instant
}

/// Accepting refused payloads later.
extension EventLog {
    /// Whether any payload was ever refused.
    ///
    /// - Returns: False if no rejection is stored.
    /// - Throws: `databaseUnavailable`.
    package func hasRejections() async throws(EventLogError) -> Bool {
        try await reading("look for rejections") { session in
            try await session.query("SELECT EXISTS (SELECT 1 FROM ledger.rejection)", [])
                .single().bool(0)
        }
    }

    /// Marks those of the payloads that were refused before as accepted.
    ///
    /// To be called when their facts are durable. If the call is lost, the payloads stay open, and
    /// ingesting them again marks them. Callers that arrive during a query share the next one: few
    /// payloads were ever refused, but a service asks about every payload.
    ///
    /// - Parameters:
    ///   - digests: SHA-256 of accepted payloads, refused before or not.
    ///   - instant: Our clock.
    /// - Throws: `databaseUnavailable`, `permissionDenied`; then none is marked.
    package func markTaken(
        _ digests: [Digest],
        at instant: Instant
    ) async throws(EventLogError) {
        guard !digests.isEmpty else { return }
        let mark = TakenMark(digests: digests, instant: instant)
        try await takenMarks.join(mark, size: digests.count) { marks throws(EventLogError) in
            // Payloads that share a query get the latest of their times.
            try await self.markTogether(
                marks.flatMap(\.digests),
                at: marks.map(\.instant).max() ?? instant
            )
        }
    }

    private func markTogether(
        _ digests: [Digest],
        at instant: Instant
    ) async throws(EventLogError) {
        let lanes = digests.map { Int32(identity.lanes.lane(of: $0.hex)) }
        // Few payloads were refused, and only these need a transaction.
        let open = try await retryingUntilDeadline { deadline throws(EventLogError) in
            try await reading("look for rejections", on: payloadPool, by: deadline) { session in
                try await session.query(
                    EventLog.openDigests,
                    [.int4Array(lanes), .byteaArray(digests.map(\.bytes))]
                ).map { row in (try row.int4(0), try row.bytea(1)) }
            }
        }
        guard !open.isEmpty else { return }
        try await writing(
            "mark rejections as accepted",
            EventLog.insertTaken,
            [
                .int4Array(open.map(\.0)), .byteaArray(open.map(\.1)),
                .timestamptz(microseconds: instant.microseconds),
            ]
        )
    }

    /// Refused payloads that were not accepted since, each once, the oldest run first.
    ///
    /// - Parameters:
    ///   - filter: Which refusals; a payload that was refused for several reasons counts with the
    ///     last one.
    ///   - startedAt: When the run that retries them began; payloads that this run itself refuses
    ///     are excluded.
    ///   - last: The last one of the previous page; nil for the first page.
    ///   - limit: The most payloads of a page.
    /// - Returns: A page; empty at the end.
    /// - Throws: `databaseUnavailable`.
    package func openRejections(
        _ filter: RejectionFilter,
        except startedAt: Instant,
        after last: OpenRejection?,
        limit: Int
    ) async throws(EventLogError) -> [OpenRejection] {
        var filter = filter
        filter.isOpen = true
        let values: [PostgresValue] =
            EventLog.bounds(of: filter) + [
                .timestamptz(microseconds: startedAt.microseconds),
                .timestamptz(microseconds: last?.place.runStartedAt.microseconds),
                .int8(last?.place.inputNumber ?? 0), .bytea(last?.original.digest.bytes ?? []),
                .int8(Int64(limit)),
            ]

        return try await reading("read the rejections") { session in
            try await session.query(EventLog.openPage, values).map { row in
                OpenRejection(
                    original: RejectedPayload.Original(
                        digest: Digest(bytes: try row.bytea(0)) ?? .zero,
                        byteCount: Int(try row.int4(1))
                    ),
                    source: try row.text(2),
                    location: try row.text(3),
                    arrival: try row.bool(8) ? .imported : .live,
                    receivedAt: Instant(microseconds: try row.timestamptz(4)),
                    place: RejectedPayload.Place(
                        runStartedAt: Instant(microseconds: try row.timestamptz(5)),
                        inputNumber: try row.int8(6)
                    ),
                    body: try row.byteaIfPresent(7)
                )
            }
        }
    }

    // All writers use the same order, so no two wait for each other's rows.
    // ANY: Citus asks no other shard.
    private static let openDigests = """
        SELECT DISTINCT r.lane, r.payload_digest
        FROM unnest($1::int[], $2::bytea[]) AS g (lane, digest)
            JOIN ledger.rejection r ON r.lane = g.lane AND r.payload_digest = g.digest
            LEFT JOIN ledger.rejection_taken t
                ON t.lane = r.lane AND t.payload_digest = r.payload_digest
        WHERE r.lane = ANY ($1) AND t.lane IS NULL ORDER BY r.lane, r.payload_digest
        """

    private static let insertTaken = """
        INSERT INTO ledger.rejection_taken (lane, payload_digest, taken_at)
        SELECT g.lane, g.digest, $3 FROM unnest($1::int[], $2::bytea[]) AS g (lane, digest)
        ON CONFLICT DO NOTHING
        """

    private static let openPage = """
        SELECT r.payload_digest, r.byte_count, r.source, r.location,
            (SELECT min(f.received_at) FROM ledger.rejection f
                WHERE f.lane = r.lane AND f.payload_digest = r.payload_digest),
            r.run_started_at, r.input_no, r.body, r.is_imported
        \(matchingRejections)
            AND r.run_started_at <> $5
            AND ($6::timestamptz IS NULL
                OR (r.run_started_at, r.input_no, r.payload_digest) > ($6, $7::bigint, $8::bytea))
            AND NOT EXISTS (SELECT 1 FROM ledger.rejection n
                WHERE n.lane = r.lane AND n.payload_digest = r.payload_digest
                    AND (n.run_started_at, n.reason) > (r.run_started_at, r.reason)
                    AND n.run_started_at <> $5)
        ORDER BY r.run_started_at, r.input_no, r.payload_digest LIMIT $9
        """
}
