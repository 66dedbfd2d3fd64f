internal import Postgres

// Which connection a read uses.
extension EventLog {
    /// Runs a read on a pooled connection and converts errors of the database into ours.
    func reading<Value: Sendable>(
        _ action: String,
        _ body: @Sendable (PostgresSession) async throws -> Value
    ) async throws(EventLogError) -> Value {
        do {
            if let held { return try await body(held.session) }
            return try await pool.borrowing(body)
        } catch {
            throw await failure(error, doing: action)
        }
    }

    /// The same on a connection of a pool that no question may occupy.
    func reading<Value: Sendable>(
        _ action: String,
        on pool: PostgresPool,
        by deadline: Deadline? = nil,
        _ body: @Sendable (PostgresSession) async throws -> Value
    ) async throws(EventLogError) -> Value {
        do {
            return try await pool.borrowing(by: deadline, body)
        } catch {
            throw await failure(error, doing: action)
        }
    }

    /// Runs the reads that answer one question on one connection.
    ///
    /// Otherwise each read waits for a connection of its own, which costs more than the read.
    /// Concurrent reads in the body run one after the other. Keys are looked up once, and
    /// subscriptions, heads and the bounds of commits are read once, each as it is at its first
    /// read; two of them may be of different moments. A call within the body changes nothing.
    ///
    /// - Parameter body: Reads from this log.
    /// - Returns: What the body returns.
    /// - Throws: `databaseUnavailable` if no connection is available; what the body throws.
    package func onOneConnection<Value: Sendable>(
        _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        guard held == nil else { return try await body() }
        do {
            return try await pool.borrowing { session in
                let held = HeldSession(pool: pool, session: session)
                // Two changes of thread a read cost more than most reads.
                return try await withTaskExecutorPreference(session.taskExecutor) {
                    try await EventLog.$heldSession.withValue(held) { try await body() }
                }
            }
        } catch let error as PostgresError {
            throw EventLogError(error, doing: "connect")
        }
    }

    /// Runs the reads that answer one question on one connection, all of them at one moment: what is
    /// committed meanwhile is not seen, so that an answer and the position that it names agree.
    ///
    /// What `onOneConnection` has read before is read again. A distributed ledger has one moment for
    /// each server.
    ///
    /// - Parameter body: Reads from this log; if one of them fails, all later ones do.
    /// - Returns: What the body returns.
    /// - Throws: `databaseUnavailable` if no connection is available; what the body throws.
    package func inOneSnapshot<Value: Sendable>(
        _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        if held?.isSnapshot == true { return try await body() }
        return try await onOneConnection {
            guard var own = held else { return try await body() }
            (own.reads, own.isSnapshot) = (QuestionReads(), true)
            // Prepared as the reads are, because a server that lost these is noticed here, where no
            // transaction is open yet.
            let begin = PostgresStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", [])
            _ = try await reading("begin to read") { try await $0.pipeline([begin]) }
            do {
                let value = try await EventLog.$heldSession.withValue(own) { try await body() }
                try await commit()
                return value
            } catch let error as EventLogError {
                // What the session set in the transaction is lost with it.
                await own.session.close()
                throw error
            } catch {
                try await commit()
                throw error
            }
        }
    }

    /// What the question of this task made under a name; nil if nothing was, or outside of one.
    package func made<Value: Sendable>(_ name: QuestionName) -> Value? {
        questionReads?[made: name] as? Value
    }

    /// Keeps what was made from reads, for the rest of the question; does nothing outside of one.
    package func keep(_ value: some Sendable, as name: QuestionName) {
        questionReads?[made: name] = value
    }

    // Keeps what the session has set.
    private func commit() async throws(EventLogError) {
        try await reading("end to read") { try await $0.execute("COMMIT") }
    }

    private struct HeldSession: Sendable {
        let pool: PostgresPool
        let session: PostgresSession
        var reads = QuestionReads()
        var isSnapshot = false
    }

    @TaskLocal private static var heldSession: HeldSession?

    // The connection of the question that this task answers.
    private var held: HeldSession? { EventLog.heldSession.flatMap { $0.pool === pool ? $0 : nil } }

    /// The connection of the question that this task answers; nil outside `onOneConnection`.
    var heldSession: PostgresSession? { held?.session }

    /// What that question has read.
    var questionReads: QuestionReads? { held?.reads }
}
