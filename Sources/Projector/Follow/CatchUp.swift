internal import EventLog
internal import Events
internal import Postgres
internal import Projections

/// One step of tables at one commit of a lane to a later one.
///
/// Rows, digests and positions are written in one transaction, so a step happens once or not at
/// all, even if others attempt the same step.
struct CatchUp: Sendable {
    let log: EventLog
    let lane: Int
    /// The parts, all at `from`, each with its fold and what that fold may use.
    let parts: [FollowedPart]
    let from: EventLog.Head
    let to: EventLog.Head

    /// The outcome of a step.
    enum Outcome: Sendable {
        /// The tables are at the later commit.
        case done(Counts)
        /// Another process moved them in the meantime; nothing was done.
        case overtaken
    }

    /// The counts of a step.
    struct Counts: Sendable {
        /// Events that are new in the tables.
        var events: Int64 = 0
        /// Streams that were folded.
        var streams = 0
        /// Streams that a fold refused.
        var refused = 0
    }

    /// Takes the step, in a session that writes; the log is read on a separate one.
    ///
    /// With `waits`, it waits for a process that is moving the same tables; otherwise it skips
    /// them.
    func run(in session: PostgresSession, waits: Bool) async throws -> Outcome {
        let channel = Channel<[TableChanges]>(waitingMax: 2)
        async let reading = read(into: channel)
        do throws(StepEnd) {
            try await session.transaction { session throws(StepEnd) in
                try write(from: channel, waits: waits, in: session)
            }
        } catch {
            channel.abandon()
            let read = await reading
            switch error {
            case .overtaken: return .overtaken
            case .nothingMoreComes:
                _ = try read.get()
                throw error
            case .postgres(let error): throw error
            }
        }
        return .done(try await reading.get())
    }

    private func read(into channel: Channel<[TableChanges]>) async -> Result<Counts, any Error> {
        do {
            let folding = ChangeFolding(parts, channel)
            let done = try await log.foldTouchedStreams(
                lane: lane,
                after: from,
                upTo: to,
                isRecorded: parts.contains { $0.projection.readsRecordedTimes },
                into: folding,
                { folding, touched in try folding.take(touched) },
                atEnd: { folding in try folding.finish() }
            )
            channel.finish()
            var counts = done.counts
            counts.events = to.offset - from.offset
            return .success(counts)
        } catch {
            channel.abandon()
            return .failure(error)
        }
    }

    private func write(
        from channel: Channel<[TableChanges]>,
        waits: Bool,
        in session: isolated PostgresSession
    ) throws(StepEnd) {
        let end: StepEnd?
        do throws(PostgresError) {
            end = try writeAll(from: channel, waits: waits, in: session)
        } catch {
            end = StepEnd(error)
        }
        if let end { throw end }
    }

    // What ended the step early; nil if everything is written.
    private func writeAll(
        from channel: Channel<[TableChanges]>,
        waits: Bool,
        in session: isolated PostgresSession
    ) throws(PostgresError) -> StepEnd? {
        try session.execute("SET LOCAL ROLE ledger_projector")
        // A lock on a table that is not live is not waited for.
        if !waits, !parts.contains(where: { $0.part.state == .live }) {
            try session.execute("SET LOCAL lock_timeout = '200ms'")
        }
        guard var current = try lock(waits: waits, in: session) else { return .overtaken }
        while let changes = channel.receive() {
            for (index, change) in changes.enumerated() {
                let followed = parts.first { $0.part.name == current[index].name }
                if let followed {
                    let cleared = ClearedRows(current[index], followed.projection)
                    current[index].content.add(try cleared.delete(change.cleared, in: session))
                }
                try apply(change, to: current[index], in: session)
                current[index].content.add(change.content)
            }
        }
        guard !channel.wasAbandoned else { return .nothingMoreComes }
        for index in current.indices { current[index].head = to }
        try session.pipeline(
            current.map(\.updated) + [NewestSignature.kept(lane: lane, upTo: to.offset)]
        )
        return nil
    }

    // The current parts, locked; nil if one was moved, or is being moved.
    private func lock(
        waits: Bool,
        in session: isolated PostgresSession
    ) throws(PostgresError) -> [ProjectionPart]? {
        var current: [ProjectionPart] = []
        for part in parts.map(\.part) {
            let rows = try session.parts(
                where: "lane = $1 AND build_schema = $2 AND name = $3",
                [.int4(Int32(part.lane)), .text(part.schema), .text(part.name)],
                waits ? "FOR UPDATE" : "FOR UPDATE SKIP LOCKED"
            )
            guard rows.count == 1, rows[0].head == part.head, rows[0].state == part.state
            else { return nil }
            current.append(rows[0])
        }
        return current
    }

    private func apply(
        _ change: TableChanges,
        to part: ProjectionPart,
        in session: isolated PostgresSession
    ) throws(PostgresError) {
        if !change.ordinals.isEmpty {
            try session.query(
                """
                DELETE FROM \(part.table) t
                USING unnest($2::text[], $3::text[], $4::int[]) AS d (environment, id, ordinal)
                WHERE t.lane = $1 AND t.environment = d.environment
                    AND t.original_transaction_id = d.id AND t.ordinal = d.ordinal
                """,
                [
                    .int4(Int32(lane)), .textArray(change.environments),
                    .textArray(change.streams), .int4Array(change.ordinals),
                ]
            )
        }
        var change = change
        let inserted = change.takeInserted()
        if !inserted.isEmpty {
            let columns = parts.first { $0.part.name == part.name }?.projection.copiedColumns ?? ""
            try session.copyIn(
                "COPY \(part.table) (\(columns)) FROM STDIN (FORMAT BINARY)",
                from: [CopyBinaryWriter.trailer, inserted, CopyBinaryWriter.header],
                chunks: { (chunks) throws(PostgresError) in chunks.popLast() }
            )
        }
        try session.pipeline(RefusedStreams.statements(change, of: part))
    }
}

/// Why a step ended before everything was written; it is then rolled back.
private enum StepEnd: PostgresErrorConvertible {
    /// The tables are no longer at the commit at which the step begins.
    case overtaken
    /// The reading side has failed; its own error is the cause.
    case nothingMoreComes
    /// The database refused, or the connection was lost.
    case postgres(PostgresError)

    init(_ error: PostgresError) { self = .postgres(error) }
}

/// A part with the fold that keeps it up to date.
struct FollowedPart: Sendable {
    let part: ProjectionPart
    let projection: any Projection
    let context: FoldContext
}

extension Projection {
    /// The columns of the table in the order in which rows are encoded.
    var copiedColumns: String {
        (ProjectionRow.streamColumns + columns + ["positions"]).joined(separator: ", ")
    }
}

/// Folds touched streams before and after, and collects the changes.
private struct ChangeFolding: Sendable {
    /// Bytes of changes at which they are passed to the writer.
    private static let chunkBytesMax = 1 << 20

    private let parts: [FollowedPart]
    private let channel: Channel<[TableChanges]>
    private var changes: [TableChanges]
    private(set) var counts = CatchUp.Counts()

    init(_ parts: [FollowedPart], _ channel: Channel<[TableChanges]>) {
        self.parts = parts
        self.channel = channel
        changes = parts.map { _ in TableChanges() }
    }

    mutating func take(_ touched: TouchedStream) throws {
        let recorded = touched.recorded
        let before = recorded.map { StreamFold($0.before) } ?? StreamFold(touched.before)
        let after = recorded.map { StreamFold($0.after) } ?? StreamFold(touched.after)
        var isRefused = false
        for (index, followed) in parts.enumerated() {
            let new = after.rows(of: followed.projection, in: followed.context)
            isRefused = isRefused || new.refusal != nil
            if touched.isErased {
                changes[index].replaceAll(by: new, of: after.stream, lane: after.lane.number)
                continue
            }
            let old = before.rows(of: followed.projection, in: followed.context)
            changes[index].replace(old, by: new, of: after.stream, lane: after.lane.number)
        }
        counts.streams += 1
        counts.refused += isRefused ? 1 : 0
        let bytes = changes.reduce(0) { $0 + $1.byteCount }
        if bytes >= ChangeFolding.chunkBytesMax { try flush() }
    }

    /// Passes on the remaining changes.
    mutating func finish() throws {
        try flush()
    }

    private mutating func flush() throws {
        guard channel.send(changes) else { throw ChannelAbandoned() }
        changes = parts.map { _ in TableChanges() }
    }
}
