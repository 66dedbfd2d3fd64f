internal import Events
internal import Postgres

// SQL of the feed.
extension EventLog {
    /// Events read from a lane, with the reader's new place in it.
    struct FeedRead: Sendable {
        var lane: LogFeed.Lane
        var events: [FedEvent]
    }

    /// The newest commit of every lane that has commits.
    func headMarks() async throws(EventLogError) -> [Int: CommitMark] {
        let lanes = PostgresValue.int4(Int32(identity.lanes.value))
        return try await reading("look for new commits") { session in
            var heads: [Int: CommitMark] = [:]
            for row in try await session.query(FeedSQL.heads, [lanes]) {
                let mark = try CommitMark(in: row)
                heads[mark.commit.lane] = mark
            }
            return heads
        }
    }

    /// The next events of a lane; empty if the next commits brought only confirmations.
    func page(
        of number: Int,
        after lane: LogFeed.Lane
    ) async throws(EventLogError) -> FeedRead {
        try await reading("read lane \(number)") { session in
            try await session.together { session in
                let commits = try EventLog.commits(of: number, from: lane.newest, in: session)
                return try EventLog.page(of: number, after: lane, commits, in: session)
            }
        }
    }

    /// The newest commit that was read, which must still exist, and those after it.
    private static func commits(
        of lane: Int,
        from newest: CommitMark?,
        in session: isolated PostgresSession
    ) throws -> [CommitMark] {
        let rows = try session.query(
            FeedSQL.commits,
            [.int4(Int32(lane)), .int8(newest?.commit.number ?? 1)]
        )
        let commits = try rows.map(CommitMark.init(in:))
        guard let newest else { return commits }
        guard let first = commits.first else {
            throw EventLogError.cursorBeyondLog(newest, end: nil)
        }
        guard first == newest else { throw EventLogError.cursorNotOfLog(newest, found: first) }
        return commits
    }

    private static func page(
        of number: Int,
        after lane: LogFeed.Lane,
        _ commits: [CommitMark],
        in session: isolated PostgresSession
    ) throws -> FeedRead {
        var read = FeedRead(lane: lane, events: [])
        let end = commits.last?.offset ?? lane.offset
        let events = try EventLog.events(of: number, after: lane.offset, upTo: end, in: session)
        let evidence = try EventLog.summaries(of: events, lane: number, in: session)
        read.events.reserveCapacity(events.count)
        var rest = commits[...]
        for event in events {
            let offset = event.position.offset
            while let first = rest.first, first.offset < offset { rest.removeFirst() }
            guard let commit = rest.first, commit.commit.firstOffset <= offset,
                offset == read.lane.offset + 1
            else { throw hole(lane: number, offset: read.lane.offset + 1) }
            read.events.append(
                FedEvent(
                    event: event,
                    evidence: evidence[event.evidence],
                    mark: FeedCursor.Mark(offset: offset, in: commit)
                )
            )
            read.lane = LogFeed.Lane(offset: offset, newest: commit)
        }
        guard events.count == FeedPage.eventsMax || read.lane.offset == end else {
            throw hole(lane: number, offset: read.lane.offset + 1)
        }
        // Commits that brought only confirmations need not be read again.
        if read.lane.offset == end { read.lane.newest = commits.last }
        return read
    }

    private static func events(
        of lane: Int,
        after offset: Int64,
        upTo end: Int64,
        in session: isolated PostgresSession
    ) throws -> [Event] {
        guard offset < end else { return [] }
        return try session.query(
            FeedSQL.events,
            [.int4(Int32(lane)), .int8(offset), .int8(end)]
        ).map { try EventRows.event(in: $0) }
    }

    private static func summaries(
        of events: [Event],
        lane: Int,
        in session: isolated PostgresSession
    ) throws -> [Int64: EvidenceSummary] {
        guard !events.isEmpty else { return [:] }
        let numbers = Array(Set(events.map(\.evidence)))
        let rows = try session.query(
            EvidenceSummary.sql,
            [.int4(Int32(lane)), .int8Array(numbers)]
        )
        return try EvidenceSummary.byNumber(rows)
    }

    private static func hole(lane: Int, offset: Int64) -> EventLogError {
        EventLogError(
            .malformedLog,
            "event \(lane):\(offset) is missing, or belongs to no commit, although later events "
                + "exist; nothing after it was read; run `subledger verify`"
        )
    }
}

private enum FeedSQL {
    private static let columns = """
        \(CommitMark.columns)
        """

    static let heads = """
        SELECT h.* FROM ledger.lane AS l CROSS JOIN LATERAL (
            SELECT \(columns) FROM ledger.commit c
            WHERE c.lane = l.lane ORDER BY c.commit_no DESC LIMIT 1) h
        WHERE l.lane < $1
        """

    // One more than a page has events, because the first was read before. With a literal limit, the
    // plan is a scan along the primary key, whatever the statistics are.
    static let commits = """
        SELECT \(columns) FROM ledger.commit c
        WHERE c.lane = $1 AND c.commit_no >= $2 ORDER BY c.commit_no
        LIMIT \(FeedPage.eventsMax + 1)
        """

    static let events = """
        SELECT \(EventRows.columns) FROM ledger.event e
        WHERE e.lane = $1 AND e.lane_offset > $2 AND e.lane_offset <= $3 ORDER BY e.lane_offset
        LIMIT \(FeedPage.eventsMax)
        """
}
