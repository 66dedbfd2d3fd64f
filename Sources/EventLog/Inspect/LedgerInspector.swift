package import Events
internal import LedgerSchema
package import Postgres

/// Reads what an operator should know about a database before trusting it with a ledger.
///
/// Changes nothing, and does not need a ledger: each question opens a session of its own, so one
/// that fails does not prevent the others.
package struct LedgerInspector: Sendable {
    private let settings: ConnectionSettings

    /// Seconds that one question may take, connecting included.
    package static let secondsMax = 10.0

    /// An inspector of a database.
    package init(_ settings: ConnectionSettings) {
        self.settings = settings
    }

    /// The server's version and settings.
    package struct Server: Sendable {
        /// PostgreSQL's version, as the server writes it.
        package let version: String
        /// The encoding of the database; a ledger needs UTF8.
        package let encoding: String
        /// Whether it is a standby, which takes no appends.
        package let isStandby: Bool
        /// Whether commits reach the disk: `fsync`.
        package let flushesCommits: Bool
        /// Whether a partially written page can be repaired: `full_page_writes`.
        package let repairsPages: Bool
        /// Who is logged in.
        package let user: String
        /// The roles of the ledger whose privileges the user has.
        package let roles: [String]
        /// Where the server keeps its data; nil if the user lacks the privilege to read it.
        package let dataFolder: String?
        /// Whether server and client are on the same machine: the connection is a Unix socket.
        package let isLocal: Bool
        /// Schemas that are called like a role, which others than the role can fill.
        ///
        /// Sessions of that role, this program's excepted, find there by default what they name
        /// without a schema.
        package let schemasLikeRoles: [String]
    }

    /// Reads the server's version and settings.
    ///
    /// - Throws: `databaseUnavailable`, `invalidSettings`, `sharedConnection`.
    package func server() async throws(EventLogError) -> Server {
        try await asking("read the server's settings") { session in
            let row = try await session.query(LedgerInspector.readServer).single()
            return Server(
                version: try row.text(0),
                encoding: try row.text(1),
                isStandby: try row.bool(2),
                flushesCommits: try row.bool(3),
                repairsPages: try row.bool(4),
                user: try row.text(5),
                roles: try row.text(6).split(separator: " ").map(String.init),
                dataFolder: try row.textIfPresent(7),
                isLocal: try row.bool(8),
                schemasLikeRoles: try row.textArray(9)?.compactMap { $0 } ?? []
            )
        }
    }

    private static let readServer = """
        SELECT split_part(current_setting('server_version'), ' ', 1),
            current_setting('server_encoding'), pg_is_in_recovery(),
            current_setting('fsync')::boolean, current_setting('full_page_writes')::boolean,
            current_user::text,
            coalesce((SELECT string_agg(rolname::text, ' ' ORDER BY rolname) FROM pg_roles
                WHERE rolname LIKE 'ledger\\_%' AND pg_has_role(oid, 'USAGE')), ''),
            CASE WHEN pg_has_role('pg_read_all_settings', 'USAGE')
                THEN current_setting('data_directory', true) END,
            inet_server_addr() IS NULL, ARRAY(
                SELECT n.nspname::text FROM pg_namespace n JOIN pg_roles r ON r.rolname = n.nspname
                WHERE r.rolname LIKE 'ledger\\_%' OR n.nspowner <> r.oid OR EXISTS (
                    SELECT FROM aclexplode(n.nspacl) a
                    WHERE a.privilege_type = 'CREATE' AND a.grantee <> r.oid)
                ORDER BY n.nspname)
        """

    /// The difference between the clocks of both sides, and the newest date in the log.
    package struct Clocks: Sendable {
        /// How far the server's clock is ahead of this machine's, in milliseconds; behind it if
        /// negative.
        ///
        /// Exact to half of `roundTripMilliseconds`.
        package let serverAheadMilliseconds: Int64
        /// How long the question took.
        package let roundTripMilliseconds: Int64
        /// How far the newest commit is ahead of the server's clock; nil without commits.
        package let newestCommitAheadMilliseconds: Int64?
    }

    /// Compares the clocks.
    ///
    /// - Parameter clock: This machine's clock.
    /// - Returns: Their difference, and how old the newest commit is.
    /// - Throws: `databaseUnavailable`.
    package func clocks(
        _ clock: @escaping @Sendable () -> Instant = { .systemClock() }
    ) async throws(EventLogError) -> Clocks {
        try await asking("read the server's clock") { session in
            // The first statement of a session takes longer than the others.
            try await session.query("SELECT 1")
            let start = clock()
            let server = Instant(
                microseconds: try await session.query("SELECT clock_timestamp()").single()
                    .timestamptz(0)
            )
            let end = clock()
            let middle = start.milliseconds + (end.milliseconds - start.milliseconds) / 2
            var newest: Int64?
            if try await LedgerInspector.isThere("ledger.commit", session) {
                let row = try await session.query(LedgerInspector.readNewestCommit).single()
                newest = try row.isNull(0) ? nil : row.int8(0)
            }
            return Clocks(
                serverAheadMilliseconds: server.milliseconds - middle,
                roundTripMilliseconds: end.milliseconds - start.milliseconds,
                newestCommitAheadMilliseconds: newest
            )
        }
    }

    private static let readNewestCommit = """
        SELECT (extract(epoch FROM max(h.committed_at) - clock_timestamp()) * 1000)::bigint
        FROM ledger.lane l CROSS JOIN LATERAL (
            SELECT committed_at FROM ledger.commit c
            WHERE c.lane = l.lane ORDER BY commit_no DESC LIMIT 1) h
        """

    /// Roles, owners, privileges, triggers, functions and indexes that differ from those that
    /// `migrate` creates, as text.
    ///
    /// - Throws: `databaseUnavailable`, `permissionDenied`.
    package func differences() async throws(EventLogError) -> [String] {
        try await asking("compare the schema with this program's") { session in
            let found = try await session.atomically(.readOnlySnapshot) { session in
                try session.execute(MigrationRun.settings)
                let lanes = try AppliedSchema.identity(session).lanes
                let functions = try FunctionSource.before(lanes: lanes) + FunctionSource.after
                return try SchemaDifference.all(in: session).map(\.what)
                    + Set(
                        AppliedSchema.lost(among: Schema.migrations, in: session)
                            .compactMap(\.workingTable)
                    ).sorted().map { "table \($0)" }
                    + functions.filter { try !$0.isThere(in: session) }
                    .map { "function \($0.name)" }
                    + FunctionSource.further(than: functions, in: session)
                    .map { "further function \($0)" }
                    + Distribution.unguardedShards(in: session)
            }
            // Other servers do not share a snapshot with this one.
            let unlisted = try await session.atomically { session in
                try session.execute(MigrationRun.settings)
                return try Distribution.unlisted(AppliedSchema.identity(session), in: session)
            }
            let indexes = IndexBuilding(migrations: Schema.migrations, notice: { _ in })
            return try await found + unlisted
                + indexes.run(isDryRun: true, in: session).map { "index \($0)" }
        }
    }

    /// When the oldest event after these offsets was recorded; nil if there is none.
    ///
    /// - Parameter positions: The newest offset that is known, by lane; 0 for other lanes.
    /// - Returns: The server's clock then.
    /// - Throws: `databaseUnavailable`, `permissionDenied`.
    package func oldestEvent(
        after positions: [Int: Int64]
    ) async throws(EventLogError) -> Instant? {
        let known = positions.sorted { $0.key < $1.key }
        return try await asking("read when events were recorded") { session in
            let row = try await session.query(
                """
                SELECT min(e.recorded_at) FROM ledger.lane l
                LEFT JOIN unnest($1::int[], $2::bigint[]) p (lane, known) ON p.lane = l.lane
                JOIN ledger.event e ON e.lane = l.lane
                    AND e.lane_offset = coalesce(p.known, 0) + 1
                """,
                [.int4Array(known.map { Int32($0.key) }), .int8Array(known.map(\.value))]
            ).single()
            return try row.isNull(0) ? nil : Instant(microseconds: row.timestamptz(0))
        }
    }

    private static func isThere(
        _ table: String,
        _ session: PostgresSession
    ) async throws -> Bool {
        try await session.query("SELECT to_regclass($1) IS NOT NULL", [.text(table)]).single()
            .bool(0)
    }

    func asking<Value: Sendable>(
        _ action: String,
        _ body: @Sendable (PostgresSession) async throws -> Value
    ) async throws(EventLogError) -> Value {
        do {
            let deadline = Deadline(after: .seconds(LedgerInspector.secondsMax))
            return try await PostgresSession.using(settings, by: deadline) { session in
                await session.setDeadline(deadline)
                return try await body(session)
            }
        } catch {
            throw EventLog.error(error, doing: action)
        }
    }
}
