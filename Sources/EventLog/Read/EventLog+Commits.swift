package import Events
internal import Postgres
internal import Synchronization

extension EventLog {
    /// The newest commit of a lane as known then; nil if there was none.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - knownAt: A position or an instant; both may lie between two commits.
    /// - Returns: The commit. An offset names the newest commit that starts at or before it.
    /// - Throws: `databaseUnavailable`.
    package func newestCommit(
        lane: Int,
        knownAt: KnownAt = .latest
    ) async throws(EventLogError) -> CommitMark? {
        let asked = CommitBound(knownAt, lane: lane)
        if let known = questionReads?[asked] { return known }
        var (bound, parameters) = ("true", [PostgresValue.int4(Int32(lane))])
        switch asked {
        case .all:
            break
        case .offset(_, let offset):
            bound = "c.first_offset <= $2"
            parameters.append(.int8(offset))
        case .time(_, let instant):
            bound = "c.committed_at <= $2"
            parameters.append(.timestamptz(microseconds: instant.microseconds))
        }
        let (sql, values) = (CommitSearch.sql(bound), parameters)
        let newest = try await reading("read the commits of lane \(lane)") { session in
            try await session.query(sql, values).map(CommitMark.init(in:)).first
        }
        // Beyond the end of the lane, a later commit may still belong to the bound.
        if case .offset(_, let offset) = asked, newest?.offset ?? 0 < offset { return newest }
        questionReads?[asked] = newest
        return newest
    }

    /// When the ledger made its first commit, on our clock: it cannot have been asked before.
    ///
    /// Read once, because no later commit changes it, and a distributed ledger asks every shard.
    ///
    /// - Returns: The instant; nil if nothing was committed.
    /// - Throws: `databaseUnavailable`.
    package func firstCommittedAt() async throws(EventLogError) -> Instant? {
        if let known = firstCommit.withLock({ $0 }) { return known }
        let query = PostgresStatement(
            """
            SELECT c.committed_at FROM ledger.lane AS l
            JOIN ledger.commit c ON c.lane = l.lane AND c.commit_no = 1
            WHERE l.lane < $1
            ORDER BY c.committed_at LIMIT 1
            """,
            [.int4(Int32(identity.lanes.value))]
        )
        // Citus would open more connections to each server, which takes longer than the query.
        let oneConnection = PostgresStatement(
            "SELECT set_config('citus.max_adaptive_executor_pool_size', '1', true)",
            []
        )
        let first = try await reading("read the first commit") { session in
            try await session.pipeline([oneConnection, query])[1]
                .map { Instant(microseconds: try $0.timestamptz(0)) }.first
        }
        firstCommit.withLock { $0 = first }
        return first
    }

    /// The bound with every position moved to the end of its commit: a commit is known as a whole,
    /// because no answer was ever given from a part of one.
    ///
    /// - Parameters:
    ///   - knownAt: The bound; positions that do not exist in the log stay, for checks to refuse.
    ///   - lane: The only lane that matters; nil for all.
    /// - Returns: The bound, with positions only at the ends of commits.
    /// - Throws: `databaseUnavailable`.
    package func wholeCommits(
        _ knownAt: KnownAt,
        lane: Int? = nil
    ) async throws(EventLogError) -> KnownAt {
        guard case .offsets(let offsets) = knownAt else { return knownAt }
        var ends = offsets
        for (own, offset) in offsets where offset > 0 && own == lane ?? own {
            let commit = try await newestCommit(lane: own, knownAt: knownAt)
            ends[own] = max(offset, commit?.offset ?? offset)
        }
        return .offsets(ends)
    }

    /// The heads of the lanes as known then: bounds for a fold over the whole log.
    ///
    /// - Parameter knownAt: An offset inside a commit includes the whole commit (`wholeCommits`); a
    ///   lane that is not named counts whole.
    /// - Returns: The head of each lane with commits.
    /// - Throws: `databaseUnavailable`.
    package func heads(knownAt: KnownAt) async throws(EventLogError) -> [Int: Head] {
        var heads = try await heads()
        guard knownAt != .latest else { return heads }
        for (lane, head) in heads {
            guard let mark = try await newestCommit(lane: lane, knownAt: knownAt) else {
                heads[lane] = nil
                continue
            }
            let offset = min(mark.offset, head.offset)
            heads[lane] = Head(offset: offset, commit: mark.commit.number, digest: mark.digest)
        }
        return heads
    }

    /// An event with its payload and its commit; nil if there is none at that position.
    ///
    /// - Parameter position: Its position.
    /// - Returns: The event, its payload byte for byte as it arrived, and its commit.
    /// - Throws: `databaseUnavailable`, `malformedLog`.
    package func event(at position: Position) async throws(EventLogError) -> StoredEvent? {
        let place: [PostgresValue] = [.int4(Int32(position.lane.number)), .int8(position.offset)]
        let lane = identity.lanes[position.lane.number]
        let position = Position(lane: lane, offset: position.offset)
        let genesis = identity.genesis(lane: lane.number)
        return try await reading("read event \(position)") { session in
            let found = try await session.pipeline([
                PostgresStatement(
                    """
                    SELECT \(EventRows.columns), e.store, e.is_late FROM ledger.event e
                    WHERE e.lane = $1 AND e.lane_offset = $2
                    """,
                    place
                ),
                PostgresStatement(CommitSearch.sql("c.first_offset <= $2"), place),
            ])
            guard found[0].count == 1, let mark = try found[1].map(CommitMark.init(in:)).first
            else { return nil }
            let event = try EventRows.event(in: found[0][0], lane: lane)
            guard let keys = CommitmentKeys(stored: try found[0][0].bytea(13)) else {
                throw EventRows.malformed(position)
            }

            var vault = EvidenceVault(lane: lane.number, evidenceSources, session: session)
            let content = try await vault.contents(of: [event.evidence])[event.evidence]
            let previous = try await session.query(
                "SELECT digest FROM ledger.commit WHERE lane = $1 AND commit_no = $2",
                [.int4(Int32(position.lane.number)), .int8(mark.commit.number - 1)]
            )
            return StoredEvent(
                event: event,
                evidence: content.map(CitedPayload.Found.init) ?? .missing,
                commit: mark,
                previousDigest: try previous.compactMap { Digest(bytes: try $0.bytea(0)) }.first
                    ?? genesis,
                keys: keys,
                store: try found[0][0].textIfPresent(14) ?? "",
                isLate: try found[0][0].bool(15)
            )
        }
    }
}

/// Finds the newest commit of lane `$1` within a bound.
///
/// Commit numbers have no gaps, and offsets and instants never decrease within a lane: a binary
/// search by the primary key takes about thirty look-ups, whereas a scan from the end could read
/// the whole table.
private enum CommitSearch {
    static func sql(_ bound: String) -> String {
        """
        WITH RECURSIVE search (low, high) AS (
            SELECT 0::bigint, coalesce(max(commit_no), 0) FROM ledger.commit WHERE lane = $1
            UNION ALL
            SELECT CASE WHEN m.holds THEN m.middle ELSE m.low END,
                CASE WHEN m.holds THEN m.high ELSE m.middle - 1 END
            FROM (
                SELECT s.low, s.high, c.commit_no AS middle, \(bound) AS holds
                FROM search s JOIN ledger.commit c
                    ON c.lane = $1 AND c.commit_no = (s.low + s.high + 1) / 2
                WHERE s.low < s.high
            ) m
        )
        SELECT \(CommitMark.columns)
        FROM search s JOIN ledger.commit c ON c.lane = $1 AND c.commit_no = s.low
        WHERE s.low = s.high
        """
    }
}
