import CPostgres

/// Initialises a session before its first statement.
extension Connection {
    /// How long a pooler may take to answer the probe: in transaction mode a server is free for it
    /// at once; in session mode the pool may be full, and the answer does not matter.
    private static let probeTimeout = Duration.seconds(1)

    /// Connects and initialises a session, in one round trip after that of the connection.
    ///
    /// Takes two more, and briefly a second connection, if a pooler is in between.
    convenience init(_ settings: ConnectionSettings) throws(PostgresError) {
        try self.init(connectingTo: settings)
        let mark = String(UInt64.random(in: 1...UInt64.max), radix: 16)
        let first = try ask(Self.prepare(mark: mark))
        if try first.int4(0) != PQbackendPID(handle) {
            isPooled = true
            guard try first.textIfPresent(1)?.isEmpty ?? true,
                try ask(Self.readMark).textIfPresent(0) == mark,
                Self.markSeenBySecondConnection(settings) != mark
            else { throw Self.shared() }
        }
        if let role = settings.role { try become(role) }
    }

    private func become(_ role: String) throws(PostgresError) {
        do throws(PostgresError) {
            try execute("SET ROLE \(try quotedIdentifier(role))", .obeyed)
        } catch {
            guard error.sqlState == "22023" else { throw error }
            var named = error
            named.message =
                "This server has no role \(role), which this connection must use. Create the role, "
                + "or name another one."
            throw named
        }
    }

    // The mark detects a pooler: a fresh session of PostgreSQL has none, keeps the one that it is
    // given, and shows it to no other session.
    //
    // Sessions hold transactions while they fold, so the timeouts for idle and long transactions
    // are switched off. Read-only transactions declare themselves, so a read-only default is
    // overridden.
    private static func prepare(mark: String) -> String {
        """
        SELECT pg_backend_pid(), current_setting('subledger.session', true),
            set_config('subledger.session', '\(mark)', false),
            set_config('idle_in_transaction_session_timeout', '0', false),
            set_config('default_transaction_read_only', 'off', false),
            CASE WHEN current_setting('transaction_timeout', true) IS NOT NULL
                THEN set_config('transaction_timeout', '0', false) END
        """
    }

    private static let readMark = "SELECT current_setting('subledger.session', true)"

    /// The result of one statement, which is not prepared.
    private func ask(_ sql: String) throws(PostgresError) -> PostgresRow {
        try begin(.obeyed)
        guard PQsendQueryParams(handle, sql, 0, nil, nil, nil, nil, 1) == 1 else { throw lost() }
        try flush(.obeyed)
        var rows: PostgresRows?
        var failure: PostgresError?
        while let result = try nextResult(.obeyed) {
            let status = result.status
            if status == .failed { failure = result.failure }
            if status == .rows { rows = PostgresRows(result.take()) }
            if isBroken { break }
        }
        if let failure { throw error(failure) }
        guard let rows else { throw lost() }
        return try rows.single()
    }

    /// The mark as a second connection sees it; nil if it sees none or cannot be opened now.
    private static func markSeenBySecondConnection(_ settings: ConnectionSettings) -> String? {
        do {
            let other = try Connection(connectingTo: settings)
            other.deadline = Deadline(after: probeTimeout)
            return try other.ask(readMark).textIfPresent(0)
        } catch {
            // A pooler without a free place is not a reason to refuse.
            return nil
        }
    }

    /// Describes a connection that other sessions also use between statements.
    static func shared() -> PostgresError {
        PostgresError(
            .sharedConnection,
            "The pooler in front of the database shares server connections, and their session "
                + "state, between clients. Connect to PostgreSQL directly, or through a pooler in "
                + "session mode (PgBouncer: pool_mode = session)."
        )
    }

    private func quotedIdentifier(_ name: String) throws(PostgresError) -> String {
        guard let quoted = PQescapeIdentifier(handle, name, name.utf8.count) else {
            throw PostgresError(.invalidSettings, "The role's name is not valid UTF-8 text.")
        }
        defer { PQfreemem(quoted) }
        return String(cString: quoted)
    }
}
