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
        guard let first = streams.first else { return [] }
        var (lanes, statements): ([Lane], [PostgresStatement]) = ([], [])
        for stream in streams {
            let lane = identity.lanes.lane(of: stream.originalTransactionId)
            let bound = KnowledgeBound(try await wholeCommits(knownAt, lane: lane), lane: lane)
            lanes.append(identity.lanes[lane])
            statements += bound.statements(of: stream, lane: lane)
        }
        let (asked, laneOf) = (statements, lanes)
        let others = streams.count > 1 ? " and \(streams.count - 1) more" : ""
        return try await reading("read \(first.originalTransactionId)\(others)") { session in
            let found = try await session.lookUp(asked)
            return try streams.indices.map { index in
                let (events, confirmations) = (found[2 * index], found[2 * index + 1])
                return StreamHistory(
                    stream: streams[index],
                    events: try EventRows.events(in: events, lane: laneOf[index]),
                    confirmations: try confirmations.flatMap { row in
                        try EventRows.confirmations(in: row, lane: laneOf[index])
                    }
                )
            }
        }
    }

    /// The environments in which an id has events, in the order of listings.
    public func environments(
        of originalTransactionId: String
    ) async throws(EventLogError) -> [Environment] {
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
            return try (0..<rows.count).map { row in
                StreamSummary(
                    originalTransactionId: try rows[row].text(2),
                    environment: Environment(try rows[row].text(1)),
                    lane: Int(try rows[row].int4(0)),
                    events: try rows[row].int8(3),
                    productIds: try rows[row].text(4).split(separator: "\n").map(String.init),
                    firstRecordedAt: Instant(microseconds: try rows[row].timestamptz(5)),
                    lastRecordedAt: Instant(microseconds: try rows[row].timestamptz(6))
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

/// The two statements that read one stream up to a bound of knowledge.
private struct KnowledgeBound {
    private let events: String
    private let confirmations: String
    private let parameters: [PostgresValue]

    init(_ knownAt: KnownAt, lane: Int) {
        let stream = "%.lane = $1 AND %.environment = $2 AND %.original_transaction_id = $3"
        var (eventBound, confirmationBound) = ("", "")
        switch knownAt {
        case .latest:
            parameters = []
        case .offsets(let offsets):
            parameters = [.int8(offsets[lane] ?? .max)]
            eventBound = " AND e.lane_offset <= $4"
            confirmationBound = " AND c.known_from_offset <= $4"
        case .time(let instant):
            parameters = [.timestamptz(microseconds: instant.microseconds)]
            eventBound = " AND e.recorded_at <= $4"
            confirmationBound = " AND c.recorded_at <= $4"
        }
        events = """
            SELECT \(EventRows.columns) FROM ledger.event e
            WHERE \(stream.replacing("%", with: "e"))\(eventBound) ORDER BY e.lane_offset
            """
        confirmations = """
            SELECT \(EventRows.confirmationColumns) FROM ledger.confirmation c
            WHERE \(stream.replacing("%", with: "c"))\(confirmationBound)
            ORDER BY c.as_of_ms, c.commit_no
            """
    }

    func statements(of stream: StreamID, lane: Int) -> [PostgresStatement] {
        let key: [PostgresValue] = [
            .int4(Int32(lane)), .text(stream.environment.word), .text(stream.originalTransactionId),
        ]
        return [events, confirmations].map { PostgresStatement($0, key + parameters) }
    }
}
