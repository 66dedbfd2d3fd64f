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
        let first = try ask(prepare(mark: mark))
        if try first.int4(0) != PQbackendPID(handle) {
            guard try first.textIfPresent(1)?.isEmpty ?? true,
                try ask("SELECT \(Self.readMark)").textIfPresent(0) == mark,
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

    // Until the search path is set, names are looked up where a role, a database or a schema called
    // like a role leads, so every function here is named with its schema, and there is no operator.
    // Afterwards, a name without a schema is PostgreSQL's own; pg_temp is named because it would
    // otherwise come first. With row_security off, a policy that would hide rows is an error.
    //
    // The mark detects a pooler: a fresh session of PostgreSQL has none, keeps the one that it is
    // given, and shows it to no other session.
    //
    // Sessions hold transactions while they fold, so the timeouts for idle and long transactions
    // are switched off. Read-only transactions declare themselves, so a read-only default is
    // overridden.
    //
    // The catalog's definitions are compared as texts, and values are read as texts, so they are
    // printed in one form wherever the database is.
    private func prepare(mark: String) -> String {
        var settings = Self.settings
        if !hasOwnOption("statement_timeout") { settings.append(("statement_timeout", "0")) }
        if !hasOwnOption("lock_timeout") { settings.append(("lock_timeout", "0")) }
        let set = settings.map { "pg_catalog.set_config('\($0)', '\($1)', false)" }
        return """
            SELECT pg_catalog.pg_backend_pid(), \(Self.readMark),
                pg_catalog.set_config('subledger.session', '\(mark)', false),
                \(set.joined(separator: ",\n    ")),
                CASE WHEN pg_catalog.current_setting('transaction_timeout', true) IS NOT NULL
                    THEN pg_catalog.set_config('transaction_timeout', '0', false) END
            """
    }

    private static let settings = [
        ("search_path", "pg_catalog, pg_temp"), ("standard_conforming_strings", "on"),
        ("row_security", "off"), ("idle_in_transaction_session_timeout", "0"),
        ("default_transaction_read_only", "off"), ("datestyle", "ISO, MDY"),
        ("intervalstyle", "postgres"), ("timezone", "UTC"), ("bytea_output", "hex"),
        ("extra_float_digits", "1"), ("quote_all_identifiers", "off"),
    ]

    // A limit of a role or a database is for its other users; one in the options of this
    // connection is for us.
    private func hasOwnOption(_ name: String) -> Bool {
        option("options")?.contains(name) ?? false
    }

    private static let readMark = "pg_catalog.current_setting('subledger.session', true)"

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
            return try other.ask("SELECT \(readMark)").textIfPresent(0)
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
