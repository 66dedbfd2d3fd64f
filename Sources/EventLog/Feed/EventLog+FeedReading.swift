internal import Events
internal import Postgres

// SQL of the feed.
extension EventLog {
    /// Events read from a lane, with the reader's new place in it.
    struct FeedRead: Sendable {
        var lane: LogFeed.Lane
        var events: [FedEvent]
        var confirmations: [FedConfirmation] = []
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

    /// The next events and confirmations of several lanes, in their order and in at most four
    /// statements.
    func pages(
        after lanes: [(number: Int, lane: LogFeed.Lane)]
    ) async throws(EventLogError) -> [Result<FeedRead, EventLogError>] {
        let (count, numbers, others) = (identity.lanes, lanes.map(\.number), lanes.count - 1)
        let words = others > 0 ? " and \(others) more" : ""
        return try await reading("read lane \(numbers[0])\(words)") { session in
            try await session.together { session in
                let commits = try EventLog.commits(after: lanes, in: session)
                let ends = lanes.map { commits[$0.number]?.last?.offset ?? $0.lane.offset }
                let events = try EventLog.events(after: lanes, of: count, upTo: ends, in: session)
                let evidence = try EventLog.summaries(of: events, numbers, in: session)
                let confirmed = try EventLog.confirmations(lanes, of: count, commits, in: session)
                return lanes.map { number, lane in
                    Result { () throws(EventLogError) in
                        let commits = try lane.continued(by: commits[number, default: []])
                        var read = try EventLog.read(
                            try events[number]?.get() ?? [],
                            after: lane,
                            commits,
                            evidence[number, default: [:]],
                            lane: number
                        )
                        let ended = commits.last { $0.offset <= read.lane.offset }
                        let known = try confirmed[number, default: .success([])].get()
                        read.confirmations = known.filter { $0.lastOffset <= read.lane.offset }
                        read.lane.confirmed = max(lane.confirmed, ended?.commit.number ?? 0)
                        return read
                    }
                }
            }
        }
    }

    private static func read(
        _ events: [Event],
        after lane: LogFeed.Lane,
        _ commits: [CommitMark],
        _ evidence: [Int64: EvidenceSummary],
        lane number: Int
    ) throws(EventLogError) -> FeedRead {
        var read = FeedRead(lane: lane, events: [])
        let end = commits.last?.offset ?? lane.offset
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
            (read.lane.offset, read.lane.newest) = (offset, commit)
        }
        guard events.count == FeedPage.eventsMax || read.lane.offset == end else {
            throw hole(lane: number, offset: read.lane.offset + 1)
        }
        // Commits that brought only confirmations need not be read again.
        if read.lane.offset == end { read.lane.newest = commits.last }
        return read
    }

    // The newest commit of each lane that was read, and those after it.
    private static func commits(
        after lanes: [(number: Int, lane: LogFeed.Lane)],
        in session: isolated PostgresSession
    ) throws -> [Int: [CommitMark]] {
        let rows = try session.query(
            FeedSQL.commits,
            [
                .int4Array(lanes.map { Int32($0.number) }),
                .int8Array(lanes.map { $0.lane.newest?.commit.number ?? 1 }),
            ]
        )
        var found = Dictionary(grouping: try rows.map(CommitMark.init(in:)), by: \.commit.lane)
        for (number, lane) in lanes { found[number] = found[number]?.onePage(after: lane) }
        return found
    }

    // Those of commits that were not passed on, by lane.
    private static func confirmations(
        _ lanes: [(number: Int, lane: LogFeed.Lane)],
        of count: LaneCount,
        _ commits: [Int: [CommitMark]],
        in session: isolated PostgresSession
    ) throws -> [Int: Result<[FedConfirmation], EventLogError>] {
        let asked = lanes.compactMap { number, lane -> (lane: Int, since: Int64, last: Int64)? in
            let last = commits[number, default: []].last { $0.commit.confirmations > 0 }
            guard let last, last.commit.number > lane.confirmed else { return nil }
            return (number, lane.confirmed, last.commit.number)
        }
        guard !asked.isEmpty else { return [:] }
        let rows = try session.query(
            FeedSQL.confirmations,
            [
                .int4Array(asked.map { Int32($0.lane) }), .int8Array(asked.map(\.since)),
                .int8Array(asked.map(\.last)),
            ]
        )
        var found: [Int: Result<[FedConfirmation], EventLogError>] = [:]
        var index = 0
        while index < rows.count {
            let (lane, start) = (Int(try rows[index].int4(9)), index)
            while index < rows.count, try rows[index].int4(9) == Int32(lane) { index += 1 }
            let ends = Dictionary(
                uniqueKeysWithValues: commits[lane, default: []].map {
                    ($0.commit.number, $0.offset)
                }
            )
            // One that cannot be read ends the feed of its lane.
            found[lane] = Result {
                try (start..<index).flatMap { try fed(in: rows[$0], lane: count[lane], ends) }
            }
            .mapError { EventLog.error($0, doing: "read a confirmation") }
        }
        return found
    }

    // What a row repeats; nothing if it was erased.
    private static func fed(
        in row: PostgresRow,
        lane: Lane,
        _ ends: [Int64: Int64]
    ) throws -> [FedConfirmation] {
        let (stream, end) = (try row.stream(0), ends[try row.int8(6)] ?? .max)
        return try ConfirmationJoin.repetitions(in: row, lane: lane).map {
            FedConfirmation(
                stream: stream,
                confirmation: $0.confirmation,
                recordedAt: $0.recordedAt,
                lastOffset: end
            )
        }
    }

    private static func events(
        after lanes: [(number: Int, lane: LogFeed.Lane)],
        of count: LaneCount,
        upTo ends: [Int64],
        in session: isolated PostgresSession
    ) throws -> [Int: Result<[Event], EventLogError>] {
        guard zip(lanes, ends).contains(where: { $0.lane.offset < $1 }) else { return [:] }
        let rows = try session.query(
            FeedSQL.events,
            [
                .int4Array(lanes.map { Int32($0.number) }), .int8Array(lanes.map(\.lane.offset)),
                .int8Array(ends),
            ]
        )
        var events: [Int: Result<[Event], EventLogError>] = [:]
        var index = 0
        while index < rows.count {
            let (lane, start) = (try rows[index].int4(0), index)
            while index < rows.count, try rows[index].int4(0) == lane { index += 1 }
            // An event that cannot be read ends the feed of its lane, after the lanes before it.
            events[Int(lane)] = Result {
                try (start..<index).map { try EventRows.event(in: rows[$0], of: count) }
            }
            .mapError { EventLog.error($0, doing: "read an event") }
        }
        return events
    }

    private static func summaries(
        of events: [Int: Result<[Event], EventLogError>],
        _ lanes: [Int],
        in session: isolated PostgresSession
    ) throws -> [Int: [Int64: EvidenceSummary]] {
        guard !events.isEmpty else { return [:] }
        var (numbers, firsts, lasts): ([Int64], [Int32], [Int32]) = ([], [], [])
        for lane in lanes {
            firsts.append(Int32(numbers.count + 1))
            if case .success(let read) = events[lane] { numbers += Set(read.map(\.evidence)) }
            lasts.append(Int32(numbers.count))
        }
        let rows = try session.query(
            FeedSQL.evidence,
            [
                .int4Array(lanes.map { Int32($0) }), .int8Array(numbers), .int4Array(firsts),
                .int4Array(lasts),
            ]
        )
        var found: [Int: [Int64: EvidenceSummary]] = [:]
        for row in rows {
            found[Int(try row.int4(7)), default: [:]][try row.int8(0)] = try EvidenceSummary(row)
        }
        return found
    }

    private static func hole(lane: Int, offset: Int64) -> EventLogError {
        EventLogError(
            .malformedLog,
            "event \(lane):\(offset) is missing, or belongs to no commit, although later events "
                + "exist; nothing after it was read; run `subledger verify`"
        )
    }
}

extension [CommitMark] {
    /// The first of the commits: as many as fill a page with events or with confirmations.
    fileprivate func onePage(after lane: LogFeed.Lane) -> [CommitMark] {
        var rows = 0
        return Array(
            prefix { mark in
                rows += mark.commit.number > lane.confirmed ? mark.commit.confirmations : 0
                return mark.commit.number == lane.newest?.commit.number
                    || rows <= Swift.max(FeedPage.confirmationRowsMax, mark.commit.confirmations)
                        && mark.commit.firstOffset <= lane.offset + Int64(FeedPage.eventsMax)
            }
        )
    }
}

private enum FeedSQL {
    static let heads = """
        SELECT h.* FROM ledger.lane AS l CROSS JOIN LATERAL (
            SELECT \(CommitMark.columns) FROM ledger.commit c
            WHERE c.lane = l.lane ORDER BY c.commit_no DESC LIMIT 1) h
        WHERE l.lane < $1
        """

    // From it, Citus also knows which shards it need not ask.
    private static let isAsked = "k.lane = l.lane AND k.lane = ANY ($1)"

    private static let place = "array_position($1, l.lane)"

    // One more than a page has events, because the first was read before. With a literal limit for
    // each lane, the plan is a scan along the primary key, whatever the statistics are.
    static let commits = """
        SELECT \(CommitMark.columns) FROM ledger.lane AS l CROSS JOIN LATERAL (
            SELECT * FROM ledger.commit k
            WHERE \(isAsked) AND k.commit_no >= ($2)[\(place)] ORDER BY k.commit_no
            LIMIT \(FeedPage.eventsMax + 1)) c
        WHERE l.lane = ANY ($1) ORDER BY c.lane, c.commit_no
        """

    static let events = """
        SELECT \(EventRows.columns) FROM ledger.lane AS l CROSS JOIN LATERAL (
            SELECT * FROM ledger.event k
            WHERE \(isAsked) AND k.lane_offset > ($2)[\(place)]
                AND k.lane_offset <= ($3)[\(place)] ORDER BY k.lane_offset
            LIMIT \(FeedPage.eventsMax)) e
        WHERE l.lane = ANY ($1) ORDER BY e.lane, e.lane_offset
        """

    static let confirmations = """
        SELECT \(ConfirmationJoin.columns), c.lane FROM ledger.lane AS l CROSS JOIN LATERAL (
            SELECT * FROM ledger.confirmation k
            WHERE \(isAsked) AND k.commit_no > ($2)[\(place)] AND k.commit_no <= ($3)[\(place)]) c
        WHERE l.lane = ANY ($1)
        ORDER BY c.lane, c.commit_no, c.environment, c.original_transaction_id, c.as_of_ms
        """

    // The numbers of all lanes are in one array, which has a slice for each.
    static let evidence = """
        SELECT \(EvidenceSummary.columns), v.lane FROM ledger.lane AS l CROSS JOIN LATERAL (
            SELECT * FROM ledger.evidence k
            WHERE \(isAsked)
                AND k.evidence_no = ANY (($2)[($3)[\(place)]:($4)[\(place)]])
            LIMIT \(FeedPage.eventsMax)) v
        WHERE l.lane = ANY ($1)
        """
}

extension LogFeed.Lane {
    /// The commits after the newest one that was read, which must still be the first of those found.
    fileprivate func continued(by found: [CommitMark]) throws(EventLogError) -> [CommitMark] {
        guard let newest else { return found }
        guard let first = found.first else {
            throw EventLogError.cursorBeyondLog(newest, end: nil)
        }
        guard first == newest else { throw EventLogError.cursorNotOfLog(newest, found: first) }
        return found
    }
}
