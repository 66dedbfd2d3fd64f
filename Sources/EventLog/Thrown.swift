internal import Postgres

/// Lets a body throw any error where the database requires one type: the body's own error is
/// rethrown.
struct Thrown: PostgresErrorConvertible {
    let error: any Error

    init(_ error: PostgresError) { self.error = error }

    init(any error: any Error) { self.error = error }
}

extension PostgresSession {
    /// Runs a body on the session's own thread: several round trips with one change of threads.
    func together<R: Sendable>(
        _ body: @Sendable (isolated PostgresSession) throws -> R
    ) throws -> R {
        try body(self)
    }

    /// Runs statements as one transaction; any error from the body rolls it back.
    func atomically<R: Sendable>(
        _ mode: TransactionMode = .readCommitted,
        _ body: @Sendable (isolated PostgresSession) throws -> R
    ) throws -> R {
        do {
            return try transaction(mode) { session throws(Thrown) in
                do {
                    return try body(session)
                } catch {
                    throw Thrown(any: error)
                }
            }
        } catch {
            throw error.error
        }
    }
}

extension PostgresSession {
    /// Runs a statement that joins keys to a table of the log, probing an index for each key even if
    /// the table was never analysed.
    func probe(_ sql: String, _ keys: [PostgresValue]) throws -> PostgresRows {
        let setting = PostgresStatement(
            """
            SELECT set_config('enable_hashjoin', 'off', true),
                set_config('enable_mergejoin', 'off', true),
                set_config('enable_seqscan', 'off', true)
            """
        )
        return try pipeline([setting, PostgresStatement(sql, keys)])[1]
    }

    /// Sets plans that do not depend on the parameters.
    ///
    /// A coordinator of Citus finds the shard in the parameters, so there the server decides.
    static func genericPlans(isLocal: Bool) -> String {
        """
        SELECT set_config('plan_cache_mode',
            CASE WHEN current_setting('citus.shard_count', true) IS NULL
                THEN 'force_generic_plan' ELSE 'auto' END, \(isLocal))
        """
    }

    /// Looks up by keys, in one round trip and with plans that do not depend on the keys: planning
    /// takes several times as long as looking up.
    func lookUp(_ statements: [PostgresStatement]) throws -> [PostgresRows] {
        let setting = PostgresStatement(PostgresSession.genericPlans(isLocal: true))
        return Array(try pipeline([setting] + statements).dropFirst())
    }
}

extension PostgresPool {
    /// Provides a session to a body that may throw any error.
    func borrowing<R: Sendable>(
        by deadline: Deadline? = nil,
        _ body: @Sendable (PostgresSession) async throws -> R
    ) async throws -> R {
        do {
            return try await withSession(by: deadline) { session throws(Thrown) in
                do {
                    return try await body(session)
                } catch {
                    throw Thrown(any: error)
                }
            }
        } catch {
            throw error.error
        }
    }
}
