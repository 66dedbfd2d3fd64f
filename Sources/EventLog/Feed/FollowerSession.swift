internal import Events
internal import Postgres

/// A follower's own connection: it hears of commits, and holds the name of a consumer while it is
/// open.
package struct FollowerSession: Sendable {
    private let session: PostgresSession
    // A standby accepts no LISTEN.
    private let hears: Bool

    fileprivate init(_ session: PostgresSession) async throws {
        let isStandby = try await session.query("SELECT pg_is_in_recovery()").single().bool(0)
        if !isStandby { try await session.execute("LISTEN \(Appender.channel)") }
        (self.session, hears) = (session, !isStandby)
    }

    /// Waits for a commit, at most for that time; returns whether it heard of one.
    ///
    /// - Throws: `databaseUnavailable` if the connection was lost; `CancellationError`.
    @discardableResult
    package func waitForCommit(atMost duration: Duration) async throws -> Bool {
        guard hears else {
            try await Task.sleep(for: duration)
            return false
        }
        do {
            return try await session.waitForNotification(atMost: duration)
        } catch {
            if error.code == .cancelled { throw CancellationError() }
            throw EventLogError(error, doing: "wait for commits")
        }
    }

    /// Gives the name back and closes it.
    package func close() async {
        do {
            // The server gives back what a closed connection held only when it notices the end, so
            // the next reader of the name might still find it in use.
            try await session.execute("SELECT pg_advisory_unlock_all()")
        } catch {
            // A lost connection holds nothing.
        }
        await session.close()
    }

    /// Takes a lock for as long as the connection lasts; false if another one has it.
    fileprivate func hold(_ lock: String) async throws -> Bool {
        let rows = try await session.query(
            "SELECT pg_try_advisory_lock($1)",
            [Consumer.key(ofLock: lock)]
        )
        return try rows.single().bool(0)
    }
}

extension EventLog {
    /// Opens a connection that hears of commits and, for a consumer, holds its name.
    ///
    /// - Throws: `consumerInUse` if another process has the name, `databaseUnavailable`.
    package func followerSession(
        of consumer: Consumer?
    ) async throws(EventLogError) -> FollowerSession {
        let session = try await followerSession(holding: consumer?.lock)
        guard let session else { throw EventLogError.inUse(consumer) }
        return session
    }

    /// Opens a connection that hears of commits and holds a lock of that name, if one is given.
    ///
    /// - Returns: The connection; nil if another one has the lock.
    /// - Throws: `databaseUnavailable`.
    package func followerSession(
        holding lock: String?
    ) async throws(EventLogError) -> FollowerSession? {
        var opened: PostgresSession?
        do {
            let session = try await PostgresSession.connect(settings)
            opened = session
            let follower = try await FollowerSession(session)
            if let lock, try await !follower.hold(lock) {
                await session.close()
                return nil
            }
            return follower
        } catch {
            await opened?.close()
            throw EventLog.error(error, doing: "follow the log")
        }
    }
}
