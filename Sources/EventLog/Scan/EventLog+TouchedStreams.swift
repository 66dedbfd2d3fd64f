package import Events
internal import Postgres

/// A subscription that a part of the log is about, as it was known before and after.
package struct TouchedStream: Sendable {
    /// What was known before; without events if nothing was known.
    package let before: StreamHistory
    /// What is known after.
    package let after: StreamHistory
    /// Whether something of it was erased: then `before` is not what was known before, and what was
    /// folded from it must be taken from where it is stored.
    package let isErased: Bool
    /// Both with when each part became known; nil if that was not requested.
    package let recorded: Recorded?

    /// What was known, and when it became known.
    package struct Recorded: Sendable {
        /// What was known before.
        package let before: RecordedHistory
        /// What is known after.
        package let after: RecordedHistory
    }
}

extension EventLog {
    /// Folds over the streams that the commits between two heads of a lane touched, by an event or
    /// by a repetition, whole streams at a time, in the order of `StreamID`.
    ///
    /// Holds in memory the names of the touched streams, the events of several hundred, and the
    /// repetitions of one; with `isRecorded`, all repetitions. `fold` runs on the connection's own
    /// thread and may block it.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - from: The commit before the first that counts.
    ///   - to: The last commit that counts.
    ///   - isRecorded: Whether `fold` receives when each part became known.
    ///   - state: The initial state of the fold.
    ///   - fold: Called once per stream; an error it throws ends the scan.
    ///   - atEnd: Called after the last stream, on the same thread, which it may block too.
    /// - Returns: The state after the last stream.
    /// - Throws: `databaseUnavailable`, or what `fold` threw.
    package func foldTouchedStreams<State: Sendable>(
        lane: Int,
        after from: Head,
        upTo to: Head,
        isRecorded: Bool = false,
        into state: State,
        _ fold: @escaping @Sendable (inout State, TouchedStream) throws -> Void,
        atEnd: @escaping @Sendable (inout State) throws -> Void = { _ in }
    ) async throws(EventLogError) -> State {
        let here = identity.lanes[lane]
        return try await reading("read what is new in lane \(lane)") { session in
            let touched = TouchedScan(
                lane: here,
                from: from,
                to: to,
                keeping: isRecorded ? .all : .neededByFolds(splitAt: from.commit),
                isRecorded: isRecorded
            )
            return try await session.atomically(.readOnlySnapshot) { session in
                let erased = try touched.erasedStreams(in: session)
                var state = try touched.fold(in: session, into: state) { state, scanned in
                    let isErased = erased.contains(scanned.history.stream)
                    try fold(&state, touched.stream(scanned, isErased: isErased))
                }
                try atEnd(&state)
                return state
            }
        }
    }

    /// The newest commit of a lane with at most this many new events and repetitions since a head,
    /// but at least the next commit; nil if there is none.
    ///
    /// - Throws: `databaseUnavailable`.
    package func head(
        lane: Int,
        after head: Head,
        statements: Int64
    ) async throws(EventLogError) -> Head? {
        try await reading("read the commits of lane \(lane)") { session in
            let rows = try await session.query(
                """
                SELECT commit_no, last_offset, digest FROM (
                    SELECT commit_no, first_offset + (count - 1) AS last_offset, digest,
                        sum(count + confirmations) OVER (ORDER BY commit_no) AS statements
                    FROM ledger.commit WHERE lane = $1 AND commit_no > $2
                    ORDER BY commit_no LIMIT \(EventLog.commitsPerStepMax)
                ) AS next
                WHERE statements <= $3 OR commit_no = $2 + 1
                ORDER BY commit_no DESC LIMIT 1
                """,
                [.int4(Int32(lane)), .int8(head.commit), .int8(statements)]
            )
            guard rows.count == 1 else { return nil }
            let commit = try rows[0].int8(0)
            return Head(
                offset: try rows[0].int8(1),
                commit: commit,
                digest: try CommitMark.digest(in: rows[0], 2, of: commit)
            )
        }
    }

    /// The most commits examined for one step: each may bring a single event.
    private static let commitsPerStepMax = 20_000

    /// The head at a commit of a lane; nil if the log has no such commit.
    ///
    /// - Throws: `databaseUnavailable`.
    package func head(lane: Int, commit: Int64) async throws(EventLogError) -> Head? {
        guard commit > 0 else { return origin(lane: lane) }
        return try await reading("read commit \(commit) of lane \(lane)") { session in
            let rows = try await session.query(
                """
                SELECT first_offset + (count - 1), digest FROM ledger.commit
                WHERE lane = $1 AND commit_no = $2
                """,
                [.int4(Int32(lane)), .int8(commit)]
            )
            guard rows.count == 1 else { return nil }
            return Head(
                offset: try rows[0].int8(0),
                commit: commit,
                digest: try CommitMark.digest(in: rows[0], 1, of: commit)
            )
        }
    }
}

/// One scan over the streams that a part of a lane touched, several hundred at a time.
struct TouchedScan: Sendable {
    let lane: Lane
    let from: EventLog.Head
    let to: EventLog.Head
    let keeping: KeptRepetitions
    var isRecorded = false
    /// The one stream to read; nil for all that the commits touched.
    var only: StreamID?

    /// Streams whose events are held at once: about as many as in a part of a rebuild.
    private static let streamsMax = 500

    func fold<State: Sendable>(
        in session: isolated PostgresSession,
        into state: State,
        _ fold: @escaping @Sendable (inout State, ScannedStream) throws -> Void
    ) throws -> State {
        // Each stream is looked up by the index that begins with it; the server's estimate of their
        // number is often far off, and a wrong one would make it read the whole lane.
        try session.execute(
            """
            SET LOCAL enable_hashjoin = off;
            SET LOCAL enable_mergejoin = off;
            SET LOCAL enable_bitmapscan = off;
            SET LOCAL max_parallel_workers_per_gather = 0;
            SET LOCAL jit = off
            """
        )
        var state = state
        let streams = try only.map { [$0] } ?? touchedStreams(in: session)
        for start in stride(from: 0, to: streams.count, by: TouchedScan.streamsMax) {
            let end = min(start + TouchedScan.streamsMax, streams.count)
            try self.fold(Array(streams[start..<end]), in: session) { try fold(&state, $0) }
        }
        return state
    }

    private func fold(
        _ streams: [StreamID],
        in session: isolated PostgresSession,
        _ fold: @escaping (ScannedStream) throws -> Void
    ) throws {
        let listed = TouchedScan.list(streams)
        var histories = try EventLog.gather(eventsSQL(of: listed), lane: lane, in: session)
            .makeIterator()
        try EventLog.join(
            lane: lane,
            keeping: keeping,
            streams: { histories.next() },
            confirmations: confirmationsSQL(of: listed),
            in: session,
            fold
        )
    }

    /// What was read of a stream, before and after.
    func stream(_ scanned: ScannedStream, isErased: Bool) -> TouchedStream {
        let known = scanned.cut(offset: from.offset, commit: from.commit)
        return TouchedStream(
            before: known.complete,
            after: scanned.complete,
            isErased: isErased,
            recorded: isRecorded
                ? TouchedStream.Recorded(
                    before: RecordedHistory(known),
                    after: RecordedHistory(scanned)
                ) : nil
        )
    }

    // Includes streams whose erasure is beyond the commits read here: their rows are blank already.
    func erasedStreams(in session: isolated PostgresSession) throws -> Set<StreamID> {
        let rows = try session.query(
            """
            SELECT DISTINCT environment, original_transaction_id FROM ledger.event
            WHERE kind = 'erasure' AND lane = $1
            """,
            [.int4(Int32(lane.number))]
        )
        return Set(try rows.map { try $0.stream(0) })
    }

    private func touchedStreams(in session: isolated PostgresSession) throws -> [StreamID] {
        let rows = try session.query(
            """
            SELECT environment, original_transaction_id FROM ledger.event
            WHERE lane = $1 AND lane_offset > $2 AND lane_offset <= $3
                AND environment <> '' AND original_transaction_id <> ''
            UNION
            SELECT environment, original_transaction_id FROM ledger.confirmation
            WHERE lane = $1 AND commit_no > $4 AND commit_no <= $5
                AND environment <> '' AND original_transaction_id <> ''
            ORDER BY environment, original_transaction_id
            """,
            [
                .int4(Int32(lane.number)), .int8(from.offset), .int8(to.offset), .int8(from.commit),
                .int8(to.commit),
            ]
        )
        return try rows.map { try $0.stream(0) }
    }

    // Literals, because COPY takes no parameters.
    private static func list(_ streams: [StreamID]) -> String {
        let rows = streams.enumerated().map { index, stream in
            "(\(index), " + StreamRange.literal(stream).dropFirst()
        }
        return "(VALUES \(rows.joined(separator: ", "))) AS t (number, environment, id)"
    }

    // OFFSET 0 makes the planner keep the look-up.
    private func eventsSQL(of streams: String) -> String {
        """
        COPY (
            SELECT e.* FROM \(streams) CROSS JOIN LATERAL (
                SELECT \(ScannedRow.columns) FROM ledger.event
                WHERE lane = \(lane.number) AND environment = t.environment
                    AND original_transaction_id = t.id AND lane_offset <= \(to.offset)
                    AND \(ScannedRow.isNotErasedLink)
                OFFSET 0
            ) AS e
            ORDER BY t.number
        ) TO STDOUT (FORMAT BINARY)
        """
    }

    private func confirmationsSQL(of streams: String) -> String {
        """
        COPY (
            SELECT e.* FROM \(streams) CROSS JOIN LATERAL (
                SELECT \(ConfirmationJoin.columns) FROM ledger.confirmation c
                WHERE c.lane = \(lane.number) AND c.environment = t.environment
                    AND c.original_transaction_id = t.id AND c.commit_no <= \(to.commit)
                OFFSET 0
            ) AS e
            ORDER BY t.number, e.as_of_ms, e.commit_no
        ) TO STDOUT (FORMAT BINARY)
        """
    }
}
