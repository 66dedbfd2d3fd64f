package import EventLog
internal import Events
package import Postgres
package import Projections

extension Projector {
    /// Fills temporary tables of a session with the content of projections up to a position of the
    /// log, and creates views for analysts over them.
    ///
    /// Nothing changes for other readers, and the tables are dropped with the session. Memory does
    /// not grow with the log; the log is read once for each table, because a session copies into
    /// one table at a time.
    ///
    /// - Parameters:
    ///   - names: The projections.
    ///   - relations: The views and functions to create, each after those that it reads.
    ///   - context: What the folds may use.
    ///   - heads: The newest commit of each lane to take into account.
    ///   - state: Names the state that the tables hold; a session can have several. Only tables of
    ///     `AnalyticsRelation.readState` have indexes apart from their primary key.
    ///   - session: The session, outside of a transaction.
    /// - Returns: How many subscriptions the folds refused, for the table with the most refusals.
    /// - Throws: `permissionDenied` if the role may not create temporary tables;
    ///   `databaseUnavailable`, also on a standby, which cannot have any.
    package func fillTemporary(
        of names: Set<String>,
        for relations: [AnalyticsRelation],
        knowing context: FoldContext,
        upTo heads: [Int: EventLog.Head],
        as state: String = AnalyticsRelation.readState,
        in session: PostgresSession
    ) async throws(ProjectorError) -> Int {
        do {
            var refused = 0
            for projection in projections where names.contains(projection.name) {
                let fold = TemporaryFold(
                    projection: projection,
                    context: context,
                    log: log,
                    state: state
                )
                refused = max(refused, try await fold.fill(upTo: heads, in: session))
            }
            for relation in relations {
                try await session.execute(AnalyticsRelation.temporary(relation.sql))
            }
            return refused
        } catch let error as PostgresError where ["42501", "25006"].contains(error.sqlState) {
            throw Projector.refusal(ofTemporaryTables: error)
        } catch {
            throw ProjectorError(error, doing: "fold the log into temporary tables")
        }
    }

    /// The columns of a projection's own, between those of the subscription and `positions`.
    package func ownColumns(of name: String) -> [String] {
        projections.first { $0.name == name }?.columns ?? []
    }

    private static func refusal(ofTemporaryTables error: PostgresError) -> ProjectorError {
        let isStandby = error.sqlState == "25006"
        return ProjectorError(
            isStandby ? .databaseUnavailable : .permissionDenied,
            "fold the log into temporary tables: \(error). "
                + (isStandby
                    ? "A standby does not allow them: connect to the primary"
                    : "GRANT TEMPORARY ON DATABASE to the role that you connect with")
        )
    }
}

/// The fold of one projection into a temporary table.
private struct TemporaryFold: Sendable {
    let projection: any Projection
    let context: FoldContext
    let log: EventLog
    let state: String

    /// Creates and fills the table; returns how many subscriptions were refused.
    func fill(upTo heads: [Int: EventLog.Head], in session: PostgresSession) async throws -> Int {
        let channel = Channel<[UInt8]>()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    try await write(from: channel, in: session)
                } catch {
                    channel.abandon()
                    throw error
                }
            }

            do {
                let refused = try await fold(upTo: heads, into: channel)
                channel.finish()
                try await group.waitForAll()
                return refused
            } catch {
                let hasWriterFailed = channel.wasAbandoned
                channel.abandon()
                do {
                    try await group.waitForAll()
                } catch let other {
                    // The writer's error is the cause; the fold only noticed that its rows were no
                    // longer received.
                    if hasWriterFailed { throw other }
                }
                throw error
            }
        }
    }

    private func fold(
        upTo heads: [Int: EventLog.Head],
        into channel: Channel<[UInt8]>
    ) async throws -> Int {
        var rows = TemporaryRows(projection: projection, context: context, channel: channel)
        for (lane, head) in heads.sorted(by: { $0.key < $1.key }) {
            for range in try await log.streamRanges(
                for: [projection],
                lane: lane,
                upTo: head
            ) {
                rows = try await log.foldStreams(
                    for: [projection],
                    in: range,
                    upTo: head,
                    into: rows,
                    { rows, fold in try rows.take(fold, lane: lane) },
                    atEnd: { rows in try rows.flush() }
                )
            }
        }
        return rows.refused
    }

    private func write(from channel: Channel<[UInt8]>, in session: PostgresSession) async throws {
        let table = AnalyticsRelation.temporaryTable(projection.name, of: state)
        let place = "{{schema}}.\(projection.name)"
        try await session.execute(projection.tableSQL.replacing(place, with: table))
        _ = try await session.copyIn(
            "COPY \(table) (\(projection.copiedColumns)) FROM STDIN (FORMAT BINARY)",
            from: CopiedChunks(channel),
            chunks: { (chunks) throws(PostgresError) in chunks.next() }
        )
        // The names of indexes are unique in the schema, so the tables of one state have them.
        let indexes = state == AnalyticsRelation.readState ? projection.indexSQL : ""
        try await session.execute(
            """
            ALTER TABLE \(table)
                ADD PRIMARY KEY (original_transaction_id, environment, lane, ordinal);
            \(indexes.replacing(place, with: table));
            ANALYZE \(table)
            """
        )
    }
}

/// The rows of a projection on their way into a temporary table.
private struct TemporaryRows: Sendable {
    let projection: any Projection
    let context: FoldContext
    let channel: Channel<[UInt8]>
    var writer = CopyBinaryWriter.rowsOnly()
    var refused = 0

    /// Bytes of rows at which they are passed to the writer.
    private static let chunkBytesMax = 1 << 16

    mutating func take(_ fold: StreamFold, lane: Int) throws {
        switch fold.rows(of: projection, in: context) {
        case .rows(let rows): writer.rows(rows, of: fold.stream, lane: lane)
        case .refused: refused += 1
        }
        if writer.readyByteCount > TemporaryRows.chunkBytesMax { try flush() }
    }

    mutating func flush() throws {
        guard writer.readyByteCount > 0 else { return }
        guard channel.send(writer.takeBytes()) else { throw ChannelAbandoned() }
    }
}
