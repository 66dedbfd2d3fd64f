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

    /// What was folded, one entry a projection.
    struct Folded: Sendable {
        var digests: [ProjectionDigest]
        var streams = 0
        var events = 0
    }

    /// Makes the schema and its empty tables.
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
        let tables = projections.map { $0.tableSQL.replacing("{{schema}}", with: schema) }
        try await session.execute(
            """
            BEGIN;
            CREATE SCHEMA \(schema) AUTHORIZATION ledger_owner;
            SET LOCAL ROLE ledger_owner;
            COMMENT ON SCHEMA \(schema) IS 'Tables of one rebuild; what people read are the views in schema projection.';
            \(tables.joined(separator: ";\n"));
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

    /// Folds the log up to `heads` into the tables, then builds their indexes.
    func load(
        log: EventLog,
        heads: [Int: EventLog.Head],
        progress: @escaping @Sendable (Int) -> Void
    ) async throws -> Folded {
        let channels = projections.map { _ in ChunkChannel() }
        let folded = try await withThrowingTaskGroup(of: Void.self) { group in
            for (projection, channel) in zip(projections, channels) {
                group.addTask { try await write(projection, from: channel) }
            }
            do {
                let folded = try await fold(log, heads, into: channels, progress)
                for channel in channels { channel.finish() }
                try await group.waitForAll()
                return folded
            } catch {
                // Where a writer went away, it says why; the fold only noticed that it was gone.
                let hasWriterFailed = channels.contains { $0.wasAbandoned }
                for channel in channels { channel.abandon() }
                if hasWriterFailed { try await group.waitForAll() }
                throw error
            }
        }
        let session = try await PostgresSession.connect(settings)
        for projection in projections {
            let indexSQL = projection.indexSQL.replacing("{{schema}}", with: schema)
            if !indexSQL.isEmpty { try await session.execute(indexSQL) }
            try await session.execute("ANALYZE \(schema).\(projection.name)")
        }
        await session.close()
        return folded
    }

    private func fold(
        _ log: EventLog,
        _ heads: [Int: EventLog.Head],
        into channels: [ChunkChannel],
        _ progress: @escaping @Sendable (Int) -> Void
    ) async throws -> Folded {
        var folding = Folding(projections, in: context, channels, progress)
        for (lane, head) in heads.sorted(by: { $0.key < $1.key }) {
            folding = try await log.foldStreams(lane: lane, upTo: head, into: folding) {
                folding,
                history in
                try folding.take(history)
            }
        }
        return try folding.finish()
    }

    private func write(_ projection: any Projection, from channel: ChunkChannel) async throws {
        let session = try await PostgresSession.connect(settings)
        let columns = (ProjectionRow.streamColumns + projection.columns + ["positions"])
            .joined(separator: ", ")
        let table = "\(schema).\(projection.name)"
        do {
            _ = try await session.copyIn(
                "COPY \(table) (\(columns)) FROM STDIN (FORMAT BINARY)",
                from: channel,
                chunks: { channel throws(PostgresError) in channel.receive() }
            )
            await session.close()
        } catch {
            channel.abandon()
            await session.close()
            throw error
        }
    }
}

/// The receiver of a channel has gone; its own error tells why.
struct RebuildAbandoned: Error {}

/// Folds stream after stream and encodes the rows.
private struct Folding: Sendable {
    /// Bytes of rows after which they are handed to the writer.
    private static let chunkBytesMax = 1 << 16

    /// Streams between two reports of progress.
    private static let progressStreams = 1000

    private let projections: [any Projection]
    private let context: FoldContext
    private let channels: [ChunkChannel]
    private let progress: @Sendable (Int) -> Void
    private var writers: [CopyBinaryWriter]
    private var folded: Build.Folded

    init(
        _ projections: [any Projection],
        in context: FoldContext,
        _ channels: [ChunkChannel],
        _ progress: @escaping @Sendable (Int) -> Void
    ) {
        self.projections = projections
        self.context = context
        self.channels = channels
        self.progress = progress
        writers = projections.map { _ in CopyBinaryWriter() }
        folded = Build.Folded(digests: projections.map { _ in ProjectionDigest() })
    }

    mutating func take(_ history: StreamHistory) throws {
        let timeline = Timeline(history)
        let lane = PostgresValue.int4(Int32(timeline.lane))
        let environment = PostgresValue.text(timeline.stream.environment.word)
        let id = PostgresValue.text(timeline.stream.originalTransactionId)
        for (index, projection) in projections.enumerated() {
            let rows = projection.rows(of: timeline, in: context)
            for (ordinal, row) in rows.enumerated() {
                writers[index].row(
                    [lane, environment, id, .int4(Int32(ordinal + 1))]
                        + row.values.map(PostgresValue.init)
                        + [.int8Array(row.positions.map(\.offset))]
                )
            }
            folded.digests[index].add(rows, of: timeline.stream)
            if writers[index].readyByteCount >= Folding.chunkBytesMax { try flush(index) }
        }
        folded.streams += 1
        folded.events += history.events.count
        if folded.streams % Folding.progressStreams == 0 { progress(folded.events) }
    }

    mutating func finish() throws -> Build.Folded {
        for index in writers.indices {
            writers[index].finish()
            try flush(index)
        }
        progress(folded.events)
        return folded
    }

    private mutating func flush(_ index: Int) throws {
        guard channels[index].send(writers[index].takeBytes()) else { throw RebuildAbandoned() }
    }
}

extension PostgresValue {
    /// A column's value as PostgreSQL takes it.
    init(_ value: ColumnValue) {
        switch value {
        case .null: self = .null
        case .integer(let number): self = .int8(number)
        case .int32(let number): self = .int4(number)
        case .text(let text): self = .text(text)
        case .boolean(let flag): self = .bool(flag)
        case .timestamp(let instant):
            self = .timestamptz(microseconds: instant.milliseconds * 1000)
        case .integers(let numbers): self = .int8Array(numbers)
        case .texts(let texts): self = .textArray(texts)
        }
    }
}
