public import Events
internal import Postgres

extension EventLog {
    /// Everything that the log knew about one subscription; empty if it knew nothing.
    ///
    /// A position inside a commit includes the whole commit (`wholeCommits`).
    public func history(
        of stream: StreamID,
        knownAt: KnownAt = .latest
    ) async throws(EventLogError) -> StreamHistory {
        try await histories(of: [stream], knownAt: knownAt)[0]
    }

    /// Everything that the log knew about several subscriptions, in their order and in one round
    /// trip.
    package func histories(
        of streams: [StreamID],
        knownAt: KnownAt = .latest
    ) async throws(EventLogError) -> [StreamHistory] {
        var known: [StreamHistory] = []
        for recorded in try await recordedHistories(of: streams) {
            let lane = identity.lanes.lane(of: recorded.stream.originalTransactionId)
            known.append(recorded.cut(to: try await wholeCommits(knownAt, lane: lane)).latest)
        }
        return known
    }

    /// Everything that the log knows about one subscription, with when it became known; empty if it
    /// knows nothing.
    ///
    /// - Parameter stream: The subscription.
    /// - Returns: Its events and their confirmations.
    /// - Throws: `databaseUnavailable`, `malformedLog`.
    public func recordedHistory(
        of stream: StreamID
    ) async throws(EventLogError) -> RecordedHistory {
        try await recordedHistories(of: [stream])[0]
    }

    // Within `onOneConnection`, a subscription that was read before is not read again.
    private func recordedHistories(
        of streams: [StreamID]
    ) async throws(EventLogError) -> [RecordedHistory] {
        var known = streams.map { questionReads?[$0] }
        let unread = streams.indices.filter { known[$0] == nil }
        let read = try await readHistories(of: unread.map { streams[$0] })
        for (index, history) in zip(unread, read) {
            known[index] = history
            questionReads?[history.stream] = history
        }
        return known.compactMap(\.self)
    }

    private func readHistories(
        of streams: [StreamID]
    ) async throws(EventLogError) -> [RecordedHistory] {
        guard let first = streams.first else { return [] }
        let lanes = streams.map {
            identity.lanes[identity.lanes.lane(of: $0.originalTransactionId)]
        }
        let statements = zip(streams, lanes).flatMap { stream, lane in
            [EventLog.recordedEvents, EventLog.recordedConfirmations].map {
                PostgresStatement($0, stream.key(inLane: lane.number))
            }
        }

        let others = streams.count > 1 ? " and \(streams.count - 1) more" : ""
        return try await reading("read \(first.originalTransactionId)\(others)") { session in
            let found = try await session.lookUp(statements)
            return try streams.indices.map { index in
                RecordedHistory(
                    stream: streams[index],
                    events: try EventRows.events(in: found[2 * index], lane: lanes[index]),
                    repetitions: try found[2 * index + 1].flatMap { row in
                        try ConfirmationJoin.repetitions(in: row, lane: lanes[index])
                    }
                )
            }
        }
    }

    private static let recordedEvents = """
        SELECT \(EventRows.columns) FROM ledger.event e
        WHERE e.lane = $1 AND e.environment = $2 AND e.original_transaction_id = $3
        ORDER BY e.lane_offset
        """

    private static let recordedConfirmations = """
        SELECT \(ConfirmationJoin.columns) FROM ledger.confirmation c
        WHERE c.lane = $1 AND c.environment = $2 AND c.original_transaction_id = $3
        ORDER BY c.as_of_ms, c.commit_no
        """

    /// The environments in which an id has events, in the order of listings.
    public func environments(
        of originalTransactionId: String
    ) async throws(EventLogError) -> [StoreEnvironment] {
        try await streams(with: [.originalTransactionId(originalTransactionId)])
            .map(\.environment)
    }

    /// A page of the list of streams, by lane, id and environment; statements about no transaction
    /// and versions of the catalog are not streams.
    ///
    /// - Parameters:
    ///   - after: The last line of the previous page; nil for the first page.
    ///   - limit: The most lines of the page.
    /// - Returns: The lines; fewer than `limit` on the last page.
    /// - Throws: `databaseUnavailable`.
    public func streams(
        after: StreamSummary? = nil,
        limit: Int = 1000
    ) async throws(EventLogError) -> [StreamSummary] {
        let parameters: [PostgresValue] = [
            .int4(Int32(after?.lane ?? -1)), .text(after?.environment.word ?? ""),
            .text(after?.originalTransactionId ?? ""), .int8(Int64(limit)),
        ]
        return try await reading("list the streams") { session in
            let rows = try await session.query(EventLog.streamsSQL, parameters)
            return try rows.map { row in
                StreamSummary(
                    originalTransactionId: try row.text(2),
                    environment: StoreEnvironment(try row.text(1)),
                    lane: Int(try row.int4(0)),
                    events: try row.int8(3),
                    productIds: try row.text(4).split(separator: "\n").map(String.init),
                    firstRecordedAt: Instant(microseconds: try row.timestamptz(5)),
                    lastRecordedAt: Instant(microseconds: try row.timestamptz(6))
                )
            }
        }
    }

    private static let streamsSQL = """
        SELECT lane, environment, original_transaction_id, count(*),
            coalesce(string_agg(DISTINCT product_id, E'\\n' ORDER BY product_id), ''),
            min(recorded_at), max(recorded_at)
        FROM ledger.event
        WHERE environment <> '' AND original_transaction_id <> ''
            AND (lane, original_transaction_id, environment) > ($1, $3, $2)
        GROUP BY lane, original_transaction_id, environment
        ORDER BY lane, original_transaction_id, environment
        LIMIT $4
        """

    /// The newest commit of a lane: a bound of knowledge whose meaning never changes.
    public struct Head: Hashable, Sendable {
        /// Offset of the newest event up to that commit; 0 before the first.
        public let offset: Int64
        /// Number of the commit; later ones may add confirmations without changing the offset.
        public let commit: Int64
        /// The commit's digest, which covers all commits before it.
        public let digest: Digest

        /// The head with these columns of a commit.
        public init(offset: Int64, commit: Int64, digest: Digest) {
            self.offset = offset
            self.commit = commit
            self.digest = digest
        }

        /// The head at a commit.
        public init(_ mark: CommitMark) {
            self.init(offset: mark.offset, commit: mark.commit.number, digest: mark.digest)
        }
    }

    /// The head of a lane before its first commit, with the digest that the chain starts from.
    public func origin(lane: Int) -> Head {
        Head(offset: 0, commit: 0, digest: identity.genesis(lane: lane))
    }

    /// Throws `malformedLog` for a newest commit whose numbers no lane reaches: a role may insert
    /// any, and what is computed from them would overflow.
    static func checkHead(lane: Int, _ numbers: Int64...) throws {
        guard numbers.allSatisfy((0...Position.offsetMax).contains) else {
            throw EventLogError(
                .malformedLog,
                "the newest commit of lane \(lane) has a number that is out of range; run "
                    + "`subledger verify`"
            )
        }
    }

    /// The head of every lane with commits.
    public func heads() async throws(EventLogError) -> [Int: Head] {
        if let known = questionReads?.heads { return known }
        let heads = try await readHeads()
        questionReads?.heads = heads
        return heads
    }

    private func readHeads() async throws(EventLogError) -> [Int: Head] {
        let lanes = PostgresValue.int4(Int32(identity.lanes.value))
        return try await reading("read the heads of the lanes") { session in
            let rows = try await session.query(
                """
                SELECT l.lane, h.head, h.commit_no, h.digest
                FROM ledger.lane AS l CROSS JOIN LATERAL (
                    SELECT first_offset + (count - 1) AS head, commit_no, digest
                    FROM ledger.commit c
                    WHERE c.lane = l.lane ORDER BY commit_no DESC LIMIT 1) h
                WHERE l.lane < $1
                """,
                [lanes]
            )

            var heads: [Int: Head] = [:]
            for row in rows {
                let (lane, offset) = (Int(try row.int4(0)), try row.int8(1))
                let commit = try row.int8(2)
                try EventLog.checkHead(lane: lane, offset, commit)
                heads[lane] = Head(
                    offset: offset,
                    commit: commit,
                    digest: try CommitMark.digest(in: row, 3, of: commit)
                )
            }
            return heads
        }
    }
}

extension RecordedHistory {
    /// The history as it was at a bound of knowledge.
    package func cut(to knownAt: KnownAt) -> RecordedHistory {
        switch knownAt {
        case .latest: self
        case .time(let instant): cut(at: instant)
        case .offsets(let offsets):
            events.first.flatMap { offsets[$0.position.lane.number] }.map { cut(upTo: $0) } ?? self
        }
    }
}
