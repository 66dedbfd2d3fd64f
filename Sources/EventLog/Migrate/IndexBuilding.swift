internal import LedgerSchema
internal import Postgres

/// Builds the indexes of large tables after a migration's transaction, outside of any transaction.
struct IndexBuilding: Sendable {
    let migrations: [Schema.Migration]
    var lockTimeoutSeconds = Migrator.lockTimeoutSecondsDefault
    let notice: @Sendable (String) -> Void

    /// Builds the missing indexes, and rebuilds those that an interrupted run left invalid.
    ///
    /// - Returns: Their names.
    func run(isDryRun: Bool, in session: PostgresSession) async throws -> [String] {
        var built: [String] = []
        for index in migrations.flatMap(\.indexes) {
            let state = try await IndexBuilding.state(of: index, in: session)
            guard state != .valid else { continue }
            built.append("ledger.\(index.name)")
            if !isDryRun { try await build(index, state, in: session) }
        }
        return built
    }

    /// The state of an index.
    private enum State: Equatable {
        case valid
        /// The index does not exist, or its build did not finish.
        case missing(isInvalid: Bool, isPartitioned: Bool)
    }

    private static func state(
        of index: Schema.Index,
        in session: PostgresSession
    ) async throws -> State {
        let rows = try await session.query(
            """
            SELECT t.relkind = 'p', (
                SELECT i.indisvalid FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid
                WHERE x.relnamespace = t.relnamespace AND x.relname = $2)
            FROM pg_class t
            WHERE t.relnamespace = to_regnamespace('ledger')::oid AND t.relname = $1
            """,
            [.text(index.table), .text(index.name)]
        )
        guard let row = rows.first else {
            return .missing(isInvalid: false, isPartitioned: false)  // in a dry run
        }
        let isValid = try row.boolIfPresent(1)
        if isValid == true { return .valid }
        return .missing(isInvalid: isValid == false, isPartitioned: try row.bool(0))
    }

    private func build(
        _ index: Schema.Index,
        _ state: State,
        in session: PostgresSession
    ) async throws {
        guard case .missing(let isInvalid, let isPartitioned) = state else { return }
        notice(
            isPartitioned
                ? "building index ledger.\(index.name); appends wait until it is built"
                : "building index ledger.\(index.name); appends continue. The build waits for "
                    + "transactions that are open now"
        )
        let concurrently = isPartitioned ? "" : " CONCURRENTLY"
        try await session.execute("SET ROLE ledger_owner")
        // Whoever holds the whole table is waited for no longer than by the rest of a migration.
        try await session.execute(
            "BEGIN; SET LOCAL lock_timeout = '\(lockTimeoutSeconds)s'; "
                + "LOCK TABLE ledger.\(index.table) IN SHARE UPDATE EXCLUSIVE MODE; COMMIT"
        )
        // A concurrent build waits for other transactions, but none waits for it, so it needs no
        // limit.
        try await session.execute("SET lock_timeout = 0; SET statement_timeout = 0")
        if isInvalid {
            try await session.execute("DROP INDEX\(concurrently) ledger.\(index.name)")
        }
        try await session.execute(index.statement(concurrently))
        try await session.execute("RESET ROLE; SET lock_timeout = '\(lockTimeoutSeconds)s'")
    }
}

extension Schema.Index {
    /// The statement that builds it.
    func statement(_ concurrently: String = "") -> String {
        "CREATE INDEX\(concurrently) IF NOT EXISTS \(name) ON ledger.\(table) \(definition)"
    }
}
