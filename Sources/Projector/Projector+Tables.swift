internal import EventLog
package import Events
internal import Postgres
internal import Projections

extension Projector {
    /// A table of a projection over all lanes, combined from its rows in `ledger_projection`.
    public struct Table: Codable, Sendable {
        /// The projection's name.
        public let name: String
        /// The schema with the table.
        public let schema: String
        /// The purpose of the table.
        public let state: State
        /// The version of the fold that built it.
        public let version: Int
        /// Whether this program's fold produces the same rows, so it can keep the table up to date.
        public let isCurrent: Bool
        /// Whether this program has a projection with that name.
        public let isKnown: Bool
        /// Module and type of the fold, such as `App.Trials`: whose the table is; nil where an older
        /// version of this program built it.
        public let fold: String?
        /// Newest version of the catalog used by the fold; 0 for none.
        public let catalogVersion: Int
        /// The policy of a what-if; nil for the policy in force.
        public let policy: String?
        /// Newest event of each lane that it includes; lanes without events are left out.
        public let positions: [Int: Int64]
        /// Events of the log that it does not include yet.
        public let lag: Int64
        /// Number of rows.
        public let rows: Int
        /// Digest of the content; equal for two ledgers with the same facts.
        package let digest: Digest
        /// Streams that the fold refused.
        public let refused: Int

        /// Whether another program has its fold: it alone keeps the table up to date.
        public var isForeign: Bool {
            !isKnown && fold.map { !$0.hasPrefix(ProjectionPart.ownModule) } ?? false
        }
    }

    /// All tables, the live ones first, in the order of the projections.
    ///
    /// - Throws: `databaseUnavailable`.
    public func tables() async throws(ProjectorError) -> [Table] {
        try await reading("list the tables") { try await tables(in: $0) }
    }

    /// Checks that the login may keep the tables up to date, and build them if there are none.
    ///
    /// - Throws: `permissionDenied`, `databaseUnavailable`.
    package func checkMayFollow() async throws(ProjectorError) {
        try await reading("check who may build the tables") { session in
            let row = try await session.query(
                """
                SELECT current_user::text, current_database()::text,
                    pg_has_role('ledger_projector', 'MEMBER'),
                    has_database_privilege(current_database(), 'CREATE')
                """
            ).single()
            let needsSchema = try await tables(in: session).allSatisfy { $0.state != .live }
            let missing = try [
                row.bool(2) ? nil : "GRANT ledger_projector TO",
                row.bool(3) || !needsSchema ? nil : "GRANT CREATE ON DATABASE \(row.text(1)) TO",
            ].compactMap { $0 }
            guard !missing.isEmpty else { return }
            let user = try row.text(0)
            throw ProjectorError(
                .permissionDenied,
                "\(user) may not build the tables of projections: "
                    + missing.map { "\($0) \(user)" }.joined(separator: "; ")
            )
        }
    }

    /// The views and functions for readers that are not those that this program creates; empty on a
    /// standby, and for logins that may not make temporary views.
    ///
    /// - Throws: `databaseUnavailable`.
    package func alteredViews() async throws(ProjectorError) -> [LiveAlteration] {
        try await reading("compare the views") { session in
            guard try await hasTables(in: session) else { return [] }
            let live = try await session.liveParts(of: projections.map(\.name))
            return try await session.transaction { session throws(PostgresError) in
                try LiveAlteration.ofViews(of: live, in: session)
            }
        }
    }

    func reading<Value: Sendable>(
        _ action: String,
        _ body: (PostgresSession) async throws -> Value
    ) async throws(ProjectorError) -> Value {
        do {
            return try await PostgresSession.using(settings, body)
        } catch {
            throw ProjectorError(error, doing: action)
        }
    }

    // Whether the table that lists them exists, in its current form.
    private func hasTables(in session: PostgresSession) async throws -> Bool {
        let known = try await session.query(
            """
            SELECT EXISTS (SELECT FROM pg_attribute WHERE attname = 'state'
                AND attrelid = to_regclass('projection.ledger_projection'))
            """
        )
        return try known.single().bool(0)
    }

    func tables(in session: PostgresSession) async throws -> [Table] {
        guard try await hasTables(in: session) else { return [] }
        let parts = try await session.parts(where: "true")
        let refused = try await refusedCounts(in: session)
        let heads = try await log.heads()
        let groups = Dictionary(grouping: parts) { TablePlace(schema: $0.schema, name: $0.name) }
        let order = projections.map(\.name)
        return groups.compactMap { place, parts in
            table(parts, refused[place] ?? 0, heads)
        }.sorted { one, other in
            let places = [one, other].map { order.firstIndex(of: $0.name) ?? order.count }
            return (one.state.rank, one.schema, places[0], one.name)
                < (other.state.rank, other.schema, places[1], other.name)
        }
    }

    func refusedCounts(in session: PostgresSession) async throws -> [TablePlace: Int] {
        var counts: [TablePlace: Int] = [:]
        for row in try await session.query(
            "SELECT build_schema, name, count(*) FROM projection.refused_stream GROUP BY 1, 2"
        ) {
            let place = TablePlace(schema: try row.text(0), name: try row.text(1))
            counts[place] = Int(try row.int8(2))
        }
        return counts
    }

    private func table(
        _ parts: [ProjectionPart],
        _ refused: Int,
        _ heads: [Int: EventLog.Head]
    ) -> Table? {
        guard let first = parts.first else { return nil }
        let content = parts.content
        return Table(
            name: first.name,
            schema: first.schema,
            state: first.state,
            version: first.version,
            isCurrent: projections.contains { first.isMade(by: $0) },
            isKnown: retired(among: [first.name]).isEmpty,
            fold: first.fold,
            catalogVersion: first.catalogVersion,
            policy: first.policy,
            positions: parts.positions,
            lag: parts.reduce(0) { $0 + (heads[$1.lane]?.offset ?? 0) - $1.head.offset },
            rows: content.rowCount,
            digest: content.digest,
            refused: refused
        )
    }

    /// The position up to which every live table includes the log; lanes without events are left
    /// out.
    ///
    /// - Throws: `databaseUnavailable`.
    package func livePositions() async throws(ProjectorError) -> [Int: Int64] {
        let live = try await tables().filter { isLiveHere($0) }
        var least: [Int: Int64] = [:]
        for lane in Set(live.flatMap(\.positions.keys)) {
            least[lane] = live.map { $0.positions[lane] ?? 0 }.min()
        }
        return least
    }

    // Live, and of a projection of this program: a table of another one is never brought up to
    // date.
    private func isLiveHere(_ table: Table) -> Bool {
        table.state == .live && table.isKnown
    }

    private static func restored(_ table: Table) -> ProjectorError {
        ProjectorError(
            .logForked,
            "\(table.name) contains more events than the log: an older copy of the log was "
                + "restored. `subledger verify` reports whether the log is intact; if it is the "
                + "right one, `subledger rebuild` rebuilds the tables"
        )
    }

    /// Waits until every live table includes these events.
    ///
    /// - Parameters:
    ///   - positions: An offset for each lane that matters.
    ///   - pollInterval: How long to wait between looks.
    ///   - isGivenUp: Called between looks; true stops waiting.
    /// - Returns: Whether they are included.
    /// - Throws: `nothingLive`, `logForked`, `databaseUnavailable`.
    public func wait(
        for positions: [Int: Int64],
        pollInterval: Duration = .milliseconds(50),
        isGivenUp: () -> Bool
    ) async throws(ProjectorError) -> Bool {
        try await reading("wait for the live tables") { session in
            while true {
                let live = try await tables(in: session).filter { isLiveHere($0) }
                guard !live.isEmpty else {
                    throw ProjectorError(
                        .nothingLive,
                        "there are no tables to wait for yet; `subledger rebuild` creates them"
                    )
                }
                if let ahead = live.first(where: { $0.lag < 0 }) { throw Projector.restored(ahead) }
                let isThere = live.allSatisfy { table in
                    positions.allSatisfy { lane, offset in table.positions[lane] ?? 0 >= offset }
                }
                if isThere {
                    try await checkLog(of: live, in: session)
                    return true
                }
                if isGivenUp() { return false }
                do {
                    try await Task.sleep(for: pollInterval)
                } catch {
                    return false
                }
            }
        }
    }

    // The positions of the tables prove nothing if they were built from another log.
    private func checkLog(of live: [Table], in session: PostgresSession) async throws {
        let parts = try await session.liveParts(of: live.map(\.name))
        var checked: Set<EventLog.Head> = []
        for part in parts where part.head.commit > 0 && checked.insert(part.head).inserted {
            try await check(part.head, lane: part.lane)
        }
    }
}
