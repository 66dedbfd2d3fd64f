internal import EventLog
internal import Events
internal import Postgres
internal import Projections

/// One rebuild: tables in a schema of their own, from nothing to live.
struct Build: Sendable {
    let projections: [any Projection]
    let context: FoldContext
    let settings: ConnectionSettings
    let schema: String

    /// Ranges of streams for each fold at a time: enough that all end at about the same time.
    static let rangesPerJob = 16

    /// Makes the schema, still without tables.
    static func begin(
        _ projections: [any Projection],
        context: FoldContext,
        in session: PostgresSession,
        settings: ConnectionSettings
    ) async throws -> Build {
        try await session.execute(LiveViews.bootstrap)
        let rows = try await session.query(
            """
            SELECT coalesce(max(substr(nspname, 12)::int), 0) + 1 FROM pg_namespace
            WHERE nspname ~ '^projection_[0-9]{1,9}$'
            """
        )
        let schema = "projection_\(try rows[0].int4(0))"
        try await session.execute(
            """
            BEGIN;
            CREATE SCHEMA \(schema) AUTHORIZATION ledger_owner;
            SET LOCAL ROLE ledger_owner;
            COMMENT ON SCHEMA \(schema) IS 'Tables of one rebuild; what people read are the views in schema projection.';
            COMMIT
            """
        )
        return Build(
            projections: projections,
            context: context,
            settings: settings,
            schema: schema
        )
    }

    /// Folds the log up to `heads` into new tables, then builds their indexes.
    ///
    /// `jobs` connections read and fold ranges of streams at the same time; each projection has
    /// one more connection, which writes its table.
    func load(
        log: EventLog,
        heads: [Int: EventLog.Head],
        jobs: Int,
        progress: @escaping @Sendable (Int) -> Void
    ) async throws -> Folded {
        let ranges = try await ranges(of: log, heads, jobs)
        let channels = projections.map { _ in ChunkChannel() }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for (projection, channel) in zip(projections, channels) {
                group.addTask { try await write(projection, from: channel) }
            }
            do {
                let total = FoldedTotal(projections.count, progress)
                try await fold(log, ranges, jobs, into: channels, total)
                for channel in channels { channel.finish() }
                try await group.waitForAll()
                return total.value
            } catch {
                // Where a writer went away, it says why; the fold only noticed that it was gone.
                let hasWriterFailed = channels.contains { $0.wasAbandoned }
                for channel in channels { channel.abandon() }
                if hasWriterFailed { try await group.waitForAll() }
                throw error
            }
        }
    }

    private func ranges(
        of log: EventLog,
        _ heads: [Int: EventLog.Head],
        _ jobs: Int
    ) async throws -> RangeQueue {
        let lanes = heads.sorted { $0.key < $1.key }
        let wanted = jobs == 1 ? 1 : max(1, jobs * Build.rangesPerJob / max(1, lanes.count))
        var ranges: [(StreamRange, EventLog.Head)] = []
        for (lane, head) in lanes {
            ranges += try await log.streamRanges(lane: lane, upTo: head, atLeast: wanted)
                .map { ($0, head) }
        }
        return RangeQueue(ranges)
    }

    private func fold(
        _ log: EventLog,
        _ ranges: RangeQueue,
        _ jobs: Int,
        into channels: [ChunkChannel],
        _ total: FoldedTotal
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<jobs {
                group.addTask {
                    while let (range, head) = ranges.next() {
                        let folding = Folding(projections, in: context, channels, total)
                        let folded = try await log.foldStreams(
                            in: range,
                            upTo: head,
                            into: folding
                        ) { folding, history in try folding.take(history) }
                        try folded.finish()
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    // The table is made, filled and indexed by one transaction: where wal_level is minimal, the
    // server then writes it only once.
    private func write(_ projection: any Projection, from channel: ChunkChannel) async throws {
        let session = try await PostgresSession.connect(settings)
        do {
            try await session.transaction { session throws(PostgresError) in
                try fill(projection, from: channel, in: session)
            }
            try await session.execute("ANALYZE \(schema).\(projection.name)")
            await session.close()
        } catch {
            channel.abandon()
            await session.close()
            throw error
        }
    }

    private func fill(
        _ projection: any Projection,
        from channel: ChunkChannel,
        in session: isolated PostgresSession
    ) throws(PostgresError) {
        let table = "\(schema).\(projection.name)"
        let columns = (ProjectionRow.streamColumns + projection.columns + ["positions"])
            .joined(separator: ", ")
        try session.execute(
            "SET LOCAL ROLE ledger_owner; "
                + projection.tableSQL.replacing("{{schema}}", with: schema)
        )
        _ = try session.copyIn(
            "COPY \(table) (\(columns)) FROM STDIN (FORMAT BINARY)",
            from: channel,
            chunks: { channel throws(PostgresError) in channel.receive() }
        )
        try session.execute(
            """
            SET LOCAL maintenance_work_mem = '64MB';
            ALTER TABLE \(table) ADD CONSTRAINT \(projection.name)_key
                PRIMARY KEY (lane, environment, original_transaction_id, ordinal);
            \(projection.indexSQL.replacing("{{schema}}", with: schema))
            """
        )
    }
}

/// The receiver of a channel has gone; its own error tells why.
struct RebuildAbandoned: Error {}
