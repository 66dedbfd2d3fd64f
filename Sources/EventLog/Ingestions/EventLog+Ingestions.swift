package import Events
internal import Postgres

extension EventLog {
    /// Stores the statistics of an ingest run; called once, at its end.
    ///
    /// - Throws: `databaseUnavailable`, `permissionDenied`. The same call may be repeated safely.
    package func record(_ run: IngestionRun) async throws(EventLogError) {
        let counts = run.counts
        let reasons = counts.rejectedByReason.sorted { $0.key < $1.key }
        try await writing(
            "keep the statistics of the run \(run.id.text)",
            EventLog.insertIngestion,
            [
                .int4(Int32(identity.lanes.lane(of: run.id.text))), .text(run.id.text),
                .timestamptz(microseconds: run.startedAt.microseconds),
                .timestamptz(microseconds: run.finishedAt.microseconds),
                .int8(counts.payloads), .int8(counts.rejected), .int8(counts.appended),
                .int8(counts.duplicates), .int8(counts.restored), .int8(counts.streams),
                .int8(counts.unchanged), .bool(run.wasStopped), .text(run.source),
                .textArray(reasons.map(\.key)), .int8Array(reasons.map(\.value)),
            ]
        )
    }

    /// How much of the input was refused, repeated and restored.
    ///
    /// - Parameters:
    ///   - source: Only this channel; nil for all.
    ///   - since: Only runs that ended, and payloads that arrived, at this instant of our clock or
    ///     later; nil for all.
    /// - Returns: Sums of the runs, the counts of each channel in the log, and the counts of
    ///   transaction ids over the whole log.
    /// - Throws: `databaseUnavailable`.
    package func ingestQuality(
        source: String? = nil,
        since: Instant? = nil
    ) async throws(EventLogError) -> IngestQuality {
        let bounds: [PostgresValue] = [
            .text(source), .timestamptz(microseconds: since?.microseconds),
        ]
        return try await reading("add up the ingest runs") { session in
            let found = try await session.pipeline([
                PostgresStatement(EventLog.sumIngestions, bounds),
                PostgresStatement(EventLog.sumReasons, bounds),
                PostgresStatement(EventLog.countAliases, []),
                PostgresStatement(EventLog.countChannels, bounds),
            ])

            var reasons: [String: [String: Int64]] = [:]
            for row in found[1] {
                reasons[try row.text(0), default: [:]][try row.text(1)] = try row.int8(2)
            }
            let lines = try found[0].map { row in
                try EventLog.line(row, reasons: reasons[row.text(0)] ?? [:])
            }
            return IngestQuality(
                sources: lines,
                total: EventLog.sum(lines),
                channels: try found[3].map { row in
                    IngestQuality.Channel(
                        source: try row.text(0),
                        payloads: try row.int8(1),
                        events: try row.int8(2),
                        rejected: try row.int8(3)
                    )
                },
                aliases: try found[2].map { row in
                    IngestQuality.Aliases(
                        evidenceKind: try row.text(0),
                        purchases: try row.int8(1),
                        aliases: try row.int8(2)
                    )
                }
            )
        }
    }

    private static func line(
        _ row: PostgresRow,
        reasons: [String: Int64]
    ) throws -> IngestQuality.Line {
        var counts = IngestionCounts()
        counts.rejectedByReason = reasons
        counts.payloads = try row.int8(2)
        counts.appended = try row.int8(3)
        counts.duplicates = try row.int8(4)
        counts.restored = try row.int8(5)
        counts.streams = try row.int8(6)
        counts.unchanged = try row.int8(7)
        return IngestQuality.Line(source: try row.text(0), runs: try row.int8(1), counts: counts)
    }

    private static func sum(_ lines: [IngestQuality.Line]) -> IngestQuality.Line {
        var total = IngestQuality.Line(source: "", runs: 0, counts: IngestionCounts())
        for line in lines {
            total.runs += line.runs
            total.counts.payloads += line.counts.payloads
            total.counts.rejectedByReason.merge(line.counts.rejectedByReason, uniquingKeysWith: +)
            total.counts.appended += line.counts.appended
            total.counts.duplicates += line.counts.duplicates
            total.counts.restored += line.counts.restored
            total.counts.streams = max(total.counts.streams, line.counts.streams)
            total.counts.unchanged += line.counts.unchanged
        }
        return total
    }

    private static let insertIngestion = """
        INSERT INTO ledger.ingestion (lane, run_id, started_at, finished_at, payloads, rejected,
            appended, duplicates, restored, streams, unchanged, was_stopped, source,
            rejected_by_reason)
        SELECT $1, $2::uuid, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,
            coalesce(jsonb_object_agg(r.reason, r.count) FILTER (WHERE r.reason IS NOT NULL), '{}')
        FROM unnest($14::text[], $15::bigint[]) AS r (reason, count)
        ON CONFLICT DO NOTHING
        """

    private static let matchingIngestions = """
        ledger.ingestion i
        WHERE ($1::text IS NULL OR i.source = $1) AND ($2::timestamptz IS NULL OR i.finished_at >= $2)
        """

    private static let sumIngestions = """
        SELECT i.source, count(*), sum(i.payloads)::bigint, sum(i.appended)::bigint,
            sum(i.duplicates)::bigint, sum(i.restored)::bigint, max(i.streams)::bigint,
            sum(i.unchanged)::bigint
        FROM \(matchingIngestions) GROUP BY i.source ORDER BY i.source
        """

    private static let sumReasons = """
        SELECT i.source, r.key, sum(r.value::numeric)::bigint
        FROM \(matchingIngestions.replacing(
            "ledger.ingestion i",
            with: "ledger.ingestion i CROSS JOIN LATERAL jsonb_each_text(i.rejected_by_reason) r"
        )) GROUP BY i.source, r.key
        """

    private static let countChannels = """
        SELECT source, sum(payloads)::bigint, sum(events)::bigint, sum(rejected)::bigint FROM (
            SELECT source, count(*) AS payloads, 0 AS events, 0 AS rejected
            FROM ledger.evidence
            WHERE ($1::text IS NULL OR source = $1)
                AND ($2::timestamptz IS NULL OR received_at >= $2)
            GROUP BY source
            UNION ALL
            SELECT v.source, 0, count(*), 0
            FROM ledger.event e JOIN ledger.evidence v USING (lane, evidence_no)
            WHERE ($1::text IS NULL OR v.source = $1)
                AND ($2::timestamptz IS NULL OR v.received_at >= $2)
            GROUP BY v.source
            UNION ALL
            SELECT source, 0, 0, count(*)
            FROM ledger.rejection
            WHERE ($1::text IS NULL OR source = $1)
                AND ($2::timestamptz IS NULL OR received_at >= $2)
            GROUP BY source
        ) counted
        GROUP BY source ORDER BY source
        """

    // The first id of a purchase is its own, every further one an alias. Facts with the same key
    // and product are about the same purchase (Fact.subject).
    private static let countAliases = """
        WITH named AS (
            SELECT e.lane, e.environment, e.original_transaction_id, e.purchase_date_ms,
                e.expires_date_ms, e.product_id, e.transaction_id, e.lane_offset AS known_from,
                e.evidence_no
            FROM ledger.event e WHERE e.kind = 'transaction' AND e.transaction_id <> ''
            UNION ALL
            SELECT e.lane, e.environment, e.original_transaction_id, e.purchase_date_ms,
                e.expires_date_ms, e.product_id, r.transaction_id, c.known_from_offset,
                e.evidence_no
            FROM ledger.confirmation c
                CROSS JOIN LATERAL \(EventRows.repetitions) r
                JOIN ledger.event e ON e.lane = c.lane AND e.lane_offset = r.lane_offset
            WHERE c.transaction_ids IS NOT NULL AND r.transaction_id <> ''
                AND e.kind = 'transaction'
        ), first AS (
            SELECT DISTINCT ON (lane, environment, original_transaction_id, purchase_date_ms,
                    expires_date_ms, product_id, transaction_id) *
            FROM named
            ORDER BY lane, environment, original_transaction_id, purchase_date_ms,
                expires_date_ms, product_id, transaction_id, known_from
        ), numbered AS (
            SELECT f.lane, f.evidence_no, row_number() OVER (
                PARTITION BY f.lane, f.environment, f.original_transaction_id, f.purchase_date_ms,
                    f.expires_date_ms, f.product_id
                ORDER BY f.known_from, f.transaction_id) AS number
            FROM first f
        )
        SELECT v.kind, count(*) FILTER (WHERE n.number = 1), count(*) FILTER (WHERE n.number > 1)
        FROM numbered n JOIN ledger.evidence v
            ON v.lane = n.lane AND v.evidence_no = n.evidence_no
        GROUP BY v.kind ORDER BY v.kind
        """
}
