internal import EventLog
internal import Events
internal import Postgres
internal import Projections

/// Tables in a schema of their own, filled from the log next to the live ones.
struct Build: Sendable {
    let log: EventLog
    let settings: ConnectionSettings
    let plan: BuildPlan
    let schema: String

    /// Ranges of streams for each concurrent fold: enough for all folds to end at about the same
    /// time.
    static let rangesPerJob = 16

    /// The statistics target for ANALYZE of a new table: enough for the first hours.
    ///
    /// With PostgreSQL's default of 100, sampling takes longer than building an index. Autovacuum
    /// gathers more detail once the rows have changed.
    private static let statisticsTarget = 25

    /// Creates the schema, and records in `ledger_projection` that it is being filled.
    static func begin(
        _ plan: BuildPlan,
        log: EventLog,
        settings: ConnectionSettings,
        in session: PostgresSession
    ) async throws -> Build {
        let schema: String
        if let name = plan.schema {
            schema = name
        } else {
            schema = try await nextSchema(in: session)
        }
        let build = Build(
            log: log,
            settings: settings,
            plan: plan,
            schema: schema
        )
        try await session.transaction { session throws(PostgresError) in
            try build.makeSchema(in: session)
        }
        return build
    }

    private static func nextSchema(in session: PostgresSession) async throws -> String {
        let rows = try await session.query(
            """
            SELECT coalesce(max(substr(name, 12)::int), 0) + 1 FROM (
                SELECT nspname::text FROM pg_namespace
                -- The tables of a dropped schema are still listed.
                UNION ALL SELECT build_schema FROM projection.ledger_projection
            ) AS taken (name)
            WHERE name ~ '^projection_[0-9]{1,9}$'
            """
        )
        return "projection_\(try rows[0].int4(0))"
    }

    private func makeSchema(in session: isolated PostgresSession) throws(PostgresError) {
        let quoted = ProjectionSchema.quoted(schema)
        try session.execute(
            """
            \(ProjectionSchema.staysHere);
            CREATE SCHEMA \(quoted) AUTHORIZATION ledger_projector;
            SET LOCAL ROLE ledger_projector;
            GRANT USAGE ON SCHEMA \(quoted) TO ledger_writer, ledger_reader;
            COMMENT ON SCHEMA \(quoted) IS '\(ProjectionSchema.mark); projection.ledger_projection says of which log, and what people read are the views in schema projection.'
            """
        )
        let lanes = 0..<log.identity.lanes.value
        for projection in plan.projections {
            try session.query(
                ProjectionPart.insert,
                [
                    .int4Array(lanes.map { Int32($0) }),
                    .byteaArray(lanes.map { log.origin(lane: $0).digest.bytes }),
                    .text(schema), .text(projection.name), .int4(Int32(projection.version)),
                    .int4(Int32(plan.context(of: projection).catalogs.newestVersion)),
                    .text(plan.policy),
                    .bytea(ProjectionDigest().digest.bytes), .text(ProjectionPart.fold(projection)),
                ]
            )
        }
    }

    /// Folds the log up to `heads` into new tables of some of the projections, then builds their
    /// indexes.
    ///
    /// `jobs` connections read and fold ranges of streams concurrently; each projection has one
    /// more connection, which writes its table.
    func load(
        _ projections: [any Projection],
        upTo heads: [Int: EventLog.Head],
        jobs: Int,
        progress: @escaping @Sendable (Int) -> Void
    ) async throws -> Folded {
        let ranges = try await ranges(for: projections, upTo: heads, jobs)
        let channels = RowChannels(projections.count)
        let total = FoldedTotal(progress)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (projection, channel) in zip(projections, channels.rows) {
                group.addTask { try await write(projection, from: channel) }
            }
            group.addTask { try await writeRefusals(from: channels.refusals) }
            do {
                try await fold(projections, ranges, jobs, into: channels, total)
                for channel in channels.all { channel.finish() }
                try await group.waitForAll()
            } catch {
                if let reason = channels.readingFailure { throw reason }
                // If a writer failed, its error is the cause; the fold only noticed that it was
                // gone.
                channels.abandon(because: nil)
                try await group.waitForAll()
                throw error
            }
        }
        return total.value
    }

    private func ranges(
        for projections: [any Projection],
        upTo heads: [Int: EventLog.Head],
        _ jobs: Int
    ) async throws -> RangeQueue {
        let lanes = heads.sorted { $0.key < $1.key }
        let wanted = jobs == 1 ? 1 : max(1, jobs * Build.rangesPerJob / max(1, lanes.count))
        var ranges: [(StreamRange, EventLog.Head)] = []
        for (lane, head) in lanes {
            ranges += try await log.streamRanges(
                for: projections,
                lane: lane,
                upTo: head,
                atLeast: wanted
            ).map { ($0, head) }
        }
        return RangeQueue(ranges)
    }

    private func fold(
        _ projections: [any Projection],
        _ ranges: RangeQueue,
        _ jobs: Int,
        into channels: RowChannels,
        _ total: FoldedTotal
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<jobs {
                group.addTask {
                    while let range = ranges.next() {
                        let folding = Folding(
                            projections.map { ($0, plan.context(of: $0)) },
                            schema: schema,
                            range,
                            channels,
                            total
                        )

                        do {
                            // Finished on the reader's thread, because it waits for others there.
                            _ = try await log.foldStreams(
                                for: projections,
                                in: range.range,
                                upTo: range.head,
                                into: folding,
                                { folding, fold in try folding.take(fold) },
                                atEnd: { folding in try folding.finish() }
                            )
                        } catch {
                            // Other tasks may be waiting for this part to be received first.
                            channels.abandon(because: error)
                            throw error
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    // One transaction creates, fills and indexes the table: with a minimal wal_level, the server
    // then writes it only once.
    private func write(_ projection: any Projection, from channel: Channel<[UInt8]>) async throws {
        try await writing(from: channel) { session in
            do {
                try await session.transaction { session throws(PostgresError) in
                    try fill(projection, from: channel, in: session)
                }
            } catch let error as PostgresError where error.sqlState?.hasPrefix("22") == true {
                throw ProjectorError(
                    .database,
                    "a row of \(projection.name) does not fit into its table: \(error) Its fold "
                        + "must give a value for each of `columns`, of the column's type, and no "
                        + "text with a zero character"
                )
            }
            guard !channel.wasAbandoned else { return }
            try await session.execute(
                """
                SET default_statistics_target = \(Build.statisticsTarget);
                ANALYZE \(ProjectionSchema.table(projection.name, in: schema))
                """
            )
        }
    }

    private func writeRefusals(from channel: Channel<[UInt8]>) async throws {
        try await writing(from: channel) { session in
            try await session.transaction { session throws(PostgresError) in
                try session.execute(ProjectionSchema.asOwner)
                try session.copyIn(
                    """
                    COPY projection.refused_stream (\(RefusedStreams.columns))
                    FROM STDIN (FORMAT BINARY)
                    """,
                    from: CopiedChunks(channel),
                    chunks: { (chunks) throws(PostgresError) in chunks.next() }
                )
            }
        }
    }

    private func writing(
        from channel: Channel<[UInt8]>,
        _ body: (PostgresSession) async throws -> Void
    ) async throws {
        let session = try await PostgresSession.connect(settings)
        do {
            try await body(session)
            await session.close()
        } catch {
            channel.abandon()
            await session.close()
            throw error
        }
    }

    private func fill(
        _ projection: any Projection,
        from channel: Channel<[UInt8]>,
        in session: isolated PostgresSession
    ) throws(PostgresError) {
        let quoted = ProjectionSchema.quoted(schema)
        let table = ProjectionSchema.table(projection.name, in: schema)
        try session.execute(
            "\(ProjectionSchema.asOwner); "
                + [projection.tableSQL, projection.commentSQL].joined(separator: ";\n")
                .replacing("{{schema}}", with: quoted)
        )
        // FREEZE makes the rows visible to every snapshot: a transaction that began before the
        // rebuild and queries the view after the promotion must not find an empty table.
        _ = try session.copyIn(
            "COPY \(table) (\(projection.copiedColumns)) FROM STDIN (FORMAT BINARY, FREEZE)",
            from: CopiedChunks(channel),
            chunks: { (chunks) throws(PostgresError) in chunks.next() }
        )
        guard !channel.wasAbandoned else { return }
        try session.execute(
            """
            SET LOCAL maintenance_work_mem = '64MB';
            SET LOCAL max_parallel_maintenance_workers = 0;
            ALTER TABLE \(table) ADD CONSTRAINT \(projection.name)_key
                PRIMARY KEY (original_transaction_id, environment, lane, ordinal);
            \(projection.indexSQL.replacing("{{schema}}", with: quoted));
            GRANT SELECT ON \(table) TO ledger_writer, ledger_reader
            """
        )
    }
}

/// What to build, and where.
struct BuildPlan: Sendable {
    var projections: [any Projection]
    var context: FoldContext
    /// Different contexts for individual folds, by the projection's name.
    var contexts: [String: FoldContext] = [:]
    /// The policy of a what-if, as text; nil for the policy in force.
    var policy: String?
    /// The schema's name; nil for the next number.
    var schema: String?
    /// The action requested by the user, if the tables are to be promoted; nil if they never are.
    var promotingAction: String?

    /// What the fold of a projection may use in addition to events.
    func context(of projection: any Projection) -> FoldContext {
        contexts[projection.name] ?? context
    }
}

/// The chunks of a channel as one binary COPY, with header and trailer.
struct CopiedChunks: Sendable {
    private let channel: Channel<[UInt8]>
    private var hasBegun = false
    private var hasEnded = false

    init(_ channel: Channel<[UInt8]>) {
        self.channel = channel
    }

    mutating func next() -> [UInt8]? {
        if !hasBegun {
            hasBegun = true
            return CopyBinaryWriter.header
        }
        if let chunk = channel.receive() { return chunk }
        // An abandoned channel gets no trailer, so its COPY never counts as complete.
        guard !hasEnded, !channel.wasAbandoned else { return nil }
        hasEnded = true
        return CopyBinaryWriter.trailer
    }
}
