/// One session with the database: an actor on a separate thread.
///
/// Every method is synchronous on that thread, so no other caller's statement runs between the
/// statements of a ``transaction(_:_:)``. If the calling task is cancelled, the running statement
/// is stopped in the server and fails with `cancelled`; the session survives. Dropping the last
/// reference closes the session.
package actor PostgresSession {
    private let executor = ThreadExecutor(name: "postgres")
    private var connection: Connection?
    private var settings: ConnectionSettings?
    private var transactionIsOpen = false
    private var planning = Planning.automatic

    /// How the server plans prepared statements.
    package enum Planning: Sendable {
        /// For the parameters, where the server expects that to pay.
        case automatic
        /// Once for all parameters, and without parallel workers. Where every statement looks up by
        /// a key, planning each time or starting workers takes several times as long as looking
        /// up.
        case generic
    }

    private init() {}

    /// The session's own thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// The session's own thread for the parts of a task that belong to no actor.
    ///
    /// A task that prefers it, with `withTaskExecutorPreference`, runs its statements without
    /// waking a thread for each; what it computes holds up the session meanwhile.
    package nonisolated var taskExecutor: any TaskExecutor { executor.taskExecutor }

    /// Opens a session.
    ///
    /// Throws `invalidSettings` for settings that libpq cannot parse, `couldNotConnect` if no
    /// server answers or admits the user, `sharedConnection` behind a pooler that is not in session
    /// mode, and `deadlinePassed` or `cancelled` if the wait for a session ended first.
    package static func connect(
        _ settings: ConnectionSettings,
        by deadline: Deadline? = nil
    ) async throws(PostgresError) -> PostgresSession {
        // An actor's initialiser runs on its caller's thread, which connecting would block.
        let session = PostgresSession()
        try await FirstOutcome.run(by: deadline) { await session.opened(settings) }.get()
        return session
    }

    /// Opens a session for a body, and closes it however the body ends.
    ///
    /// - Parameters:
    ///   - settings: The database.
    ///   - deadline: When the wait for a session ends; nil for never.
    ///   - body: Uses the session.
    /// - Returns: What the body returns.
    /// - Throws: As ``connect(_:by:)``; otherwise what the body throws.
    package static func using<Value: Sendable>(
        _ settings: ConnectionSettings,
        by deadline: Deadline? = nil,
        _ body: (PostgresSession) async throws -> Value
    ) async throws -> Value {
        let session = try await connect(settings, by: deadline)
        do {
            let value = try await body(session)
            await session.close()
            return value
        } catch {
            await session.close()
            throw error
        }
    }

    private func opened(_ settings: ConnectionSettings) -> Result<Void, PostgresError> {
        self.settings = settings
        return Result { () throws(PostgresError) in connection = try Connection(settings) }
    }

    /// Runs one statement and returns its rows.
    ///
    /// The statement is prepared at its first use and cached by its text and the types of its
    /// parameters. Outside a transaction it is a transaction of its own, and runs once more, on a
    /// new connection, if a pooler exchanged the server behind this one.
    @discardableResult
    package func query(
        _ sql: String,
        _ parameters: [PostgresValue] = []
    ) throws(PostgresError) -> PostgresRows {
        do {
            return try pipeline([PostgresStatement(sql, parameters)])[0]
        } catch {
            // A single statement has no index.
            var error = error
            error.statementIndex = nil
            throw error
        }
    }

    /// Runs a text of one or more statements without parameters, and discards their rows.
    ///
    /// Several statements without BEGIN and COMMIT run as one transaction.
    package func execute(_ sql: String) throws(PostgresError) {
        try openConnection().execute(sql, .obeyed)
    }

    /// Runs statements in one round trip and, outside a transaction, as one transaction.
    ///
    /// A failure names its statement in `statementIndex`, and all of them are rolled back. Without
    /// an index the commit itself was refused, for example by a deferred constraint. Throws
    /// `misuse` for more than 10 000 statements, and for COPY, which also ends the session.
    @discardableResult
    package func pipeline(
        _ statements: [PostgresStatement],
        planning: Planning = .automatic
    ) throws(PostgresError) -> [PostgresRows] {
        try onConnection { connection throws(PostgresError) in
            try pipeline(statements, planning, on: connection)
        }
    }

    private func pipeline(
        _ statements: [PostgresStatement],
        _ planning: Planning,
        on connection: Connection
    ) throws(PostgresError) -> [PostgresRows] {
        guard planning != self.planning, !statements.isEmpty else {
            return try connection.pipeline(statements, .obeyed)
        }
        // Kept for the session, because a statement that only sets it costs as much as a look-up.
        // A transaction sets it for itself: it may be rolled back.
        let isLocal = transactionIsOpen
        let settings = planning.settings(isLocal: isLocal).map { PostgresStatement($0) }
        do {
            let rows = try connection.pipeline(settings + statements, .obeyed)
            if !isLocal { self.planning = planning }
            return Array(rows.dropFirst(settings.count))
        } catch {
            var error = error
            error.statementIndex = error.statementIndex.flatMap { index in
                index < settings.count ? nil : index - settings.count
            }
            throw error
        }
    }

    /// Runs statements in one round trip between an explicit BEGIN and COMMIT.
    ///
    /// Only outside a transaction. A failure names its statement in `statementIndex`, not counting
    /// BEGIN and COMMIT, and all of them are rolled back. Otherwise like ``pipeline(_:)``.
    @discardableResult
    package func pipelineTransaction(
        _ statements: [PostgresStatement]
    ) throws(PostgresError) -> [PostgresRows] {
        guard !transactionIsOpen, !statements.isEmpty else {
            throw PostgresError(
                .misuse,
                "A transaction is already open on this session, or there is nothing to run in one."
            )
        }
        return try onConnection { connection throws(PostgresError) in
            try connection.pipelineTransaction(statements, .obeyed)
        }
    }

    /// Runs statements on the connection and, if its server lacks those that were prepared in it,
    /// once more on a new one: a pooler has exchanged the server, or it was reset, so roles and
    /// settings of the session are missing too.
    private func onConnection<R>(
        _ body: (Connection) throws(PostgresError) -> R
    ) throws(PostgresError) -> R {
        let connection = try openConnection()
        let isRepeatable = !transactionIsOpen && connection.isIdle
        do {
            return try body(connection)
        } catch {
            guard error.code == .server("26000") else { throw error }
            let exchanged = connection.exchanged(error)
            guard isRepeatable, let settings else { throw exchanged }
            let fresh = try Connection(settings)
            fresh.deadline = connection.deadline
            (self.connection, planning) = (fresh, .automatic)
        }
        let fresh = try openConnection()
        do {
            return try body(fresh)
        } catch {
            guard error.code == .server("26000") else { throw error }
            // Only a server that is shared lacks what was prepared in it a moment ago.
            fresh.abandon()
            throw Connection.shared()
        }
    }

    /// Waits for a NOTIFY of a channel that the session listens to, and takes all that have arrived.
    ///
    /// Occupies the session meanwhile.
    ///
    /// - Parameter duration: The longest wait.
    /// - Returns: Whether one came.
    /// - Throws: `connectionLost`, and `cancelled` if the task is.
    package func waitForNotification(atMost duration: Duration) throws(PostgresError) -> Bool {
        try openConnection().waitForNotification(by: Deadline(after: duration))
    }

    /// Limits all waiting for the server from now on; nil removes the limit.
    ///
    /// A statement that is waiting when the deadline passes, even a COMMIT, fails with
    /// `deadlinePassed` and ends the session; the server is asked to stop it. A later statement
    /// fails at once.
    package func setDeadline(_ deadline: Deadline?) { connection?.deadline = deadline }

    /// Whether the session can run no further statement.
    package var isBroken: Bool { connection?.isBroken ?? true }

    /// Whether the session, after a check, can be lent to the next caller.
    ///
    /// The check notices a server that closed the connection, and a transaction left open.
    package var isReusable: Bool {
        connection?.detectServerClose()
        return !isBroken && connection?.isIdle == true
    }

    /// Ends the session; calls after it throw `closed`.
    package func close() { connection = nil }

    func openConnection() throws(PostgresError) -> Connection {
        guard let connection else {
            throw PostgresError(
                .closed,
                "The session was closed before this call. Open a new one."
            )
        }
        return connection
    }
}

extension PostgresSession {
    /// Runs statements as one transaction.
    ///
    /// The body is synchronous and runs on the session's thread, so no other caller's statement
    /// runs in between. Any error it throws rolls everything back. Throws `rolledBack` if the body
    /// swallowed a statement's failure, because the server then commits nothing, and `misuse`
    /// inside another transaction. Cancellation stops the body's statements but never COMMIT or
    /// ROLLBACK.
    @discardableResult
    package func transaction<R: Sendable, E: PostgresErrorConvertible>(
        _ mode: TransactionMode = .readCommitted,
        _ body: @Sendable (isolated PostgresSession) throws(E) -> R
    ) throws(E) -> R {
        try converting(to: E.self, try beginTransaction(mode))
        defer { transactionIsOpen = false }
        let result: R
        do throws(E) {
            result = try body(self)
        } catch {
            rollBack()
            throw error
        }
        try converting(to: E.self, try commit())
        return result
    }

    private func beginTransaction(_ mode: TransactionMode) throws(PostgresError) {
        let connection = try openConnection()
        guard !transactionIsOpen, connection.isBroken || connection.isIdle else {
            throw PostgresError(
                .misuse,
                "A transaction is already open on this session. Use it, or a separate session."
            )
        }
        do {
            if planning != .automatic {
                let settings = Planning.automatic.settings(isLocal: false)
                try connection.execute(settings.joined(separator: "; "), .obeyed)
                planning = .automatic
            }
            try connection.execute(mode.beginStatement, .obeyed)
        } catch {
            throw error.ofBegin
        }
        transactionIsOpen = true
    }

    private func commit() throws(PostgresError) {
        let tag = try openConnection().execute("COMMIT", .ignored)
        guard tag == "COMMIT" else {
            throw PostgresError(
                .rolledBack,
                "The transaction was rolled back although its body succeeded, because a statement "
                    + "in it had failed. Let the body throw the statement's error."
            )
        }
    }

    private func rollBack() {
        guard let connection, !connection.isBroken, !connection.isIdle else { return }
        do {
            try connection.execute("ROLLBACK", .ignored)
        } catch {
            // Closing the connection also rolls back, and the caller's error is the one that
            // matters.
            connection.abandon()
        }
    }
}

extension PostgresSession.Planning {
    /// The statements that set it, for the session or for the transaction.
    ///
    /// A coordinator of Citus finds the server with the rows in the parameters, so there the plans
    /// depend on them in any case. Look-ups there use one session on each worker: Citus opens more
    /// after ten milliseconds, and each of these first reads the catalog of every shard. PostgreSQL
    /// without Citus ignores that setting.
    package func settings(isLocal: Bool) -> [String] {
        switch self {
        case .automatic:
            [
                "plan_cache_mode", "max_parallel_workers_per_gather",
                "citus.max_adaptive_executor_pool_size",
            ].map { name in
                isLocal ? "SET LOCAL \(name) TO DEFAULT" : "RESET \(name)"
            }
        case .generic:
            [
                """
                SELECT set_config('plan_cache_mode',
                        CASE WHEN current_setting('citus.shard_count', true) IS NULL
                            THEN 'force_generic_plan' ELSE 'auto' END, \(isLocal)),
                    set_config('max_parallel_workers_per_gather', '0', \(isLocal)),
                    set_config('citus.max_adaptive_executor_pool_size', '1', \(isLocal))
                """
            ]
        }
    }
}
