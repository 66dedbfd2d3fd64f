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
            [.int8(Int64(bitPattern: Digest.of(Array(lock.utf8)).head))]
        )
        return try rows.single().bool(0)
    }
}

/// A named reader whose place is kept in the database.
package struct Consumer: Sendable {
    /// Its name.
    package let name: String
    /// What distinguishes this process from others that read under the name, before and after.
    package let holder: String

    /// A consumer of that name in this process.
    package init(_ name: String) {
        self.name = name
        holder = String(UInt64.random(in: .min ... .max), radix: 16)
    }

    /// The most bytes of a name.
    package static let nameBytesMax = 200
}

extension EventLog {
    /// Opens a connection that hears of commits and, for a consumer, holds its name.
    ///
    /// - Throws: `consumerInUse` if another process has the name, `databaseUnavailable`.
    package func followerSession(
        of consumer: Consumer?
    ) async throws(EventLogError) -> FollowerSession {
        let lock = consumer.map { "subledger/consumer/\($0.name)" }
        let session = try await followerSession(holding: lock)
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

    /// Where a consumer continues, once this process holds its name.
    ///
    /// - Parameters:
    ///   - consumer: The consumer; its name must not be blank, nor longer than `nameBytesMax`.
    ///   - start: Where it begins if it is new.
    /// - Returns: Its place, and whether no other process has read under the name since this one
    ///   did.
    /// - Throws: `permissionDenied` unless the role may write, `databaseUnavailable`.
    package func place(
        of consumer: Consumer,
        startingAt start: CommitCursor
    ) async throws(EventLogError) -> (cursor: CommitCursor, isContinued: Bool) {
        try await reading("read the place of consumer \(consumer.name)") { session in
            let row = try await session.query(
                """
                WITH before AS (SELECT holder FROM operation.consumer WHERE name = $1)
                INSERT INTO operation.consumer (name, cursor, holder, acknowledged_at)
                VALUES ($1, $2, $3, now())
                ON CONFLICT ON CONSTRAINT consumer_pkey DO UPDATE SET holder = excluded.holder
                RETURNING cursor, coalesce((SELECT holder FROM before) = $3, false)
                """,
                [.text(consumer.name), .text(start.description), .text(consumer.holder)]
            ).single()
            guard let cursor = CommitCursor(try row.text(0)) else {
                throw EventLogError(
                    .malformedLog,
                    "the cursor of consumer \(consumer.name) in operation.consumer is not one; "
                        + "delete the row to begin again"
                )
            }
            return (cursor, try row.bool(1))
        }
    }

    /// Moves the place of a consumer.
    ///
    /// - Throws: `consumerInUse` if another process reads under the name by now,
    ///   `databaseUnavailable`.
    package func acknowledge(
        _ cursor: CommitCursor,
        of consumer: Consumer
    ) async throws(EventLogError) {
        try await reading("acknowledge for consumer \(consumer.name)") { session in
            let moved = try await session.query(
                """
                UPDATE operation.consumer SET cursor = $2, acknowledged_at = now()
                WHERE name = $1 AND holder = $3 RETURNING 1
                """,
                [.text(consumer.name), .text(cursor.description), .text(consumer.holder)]
            )
            guard moved.count == 1 else { throw EventLogError.inUse(consumer) }
        }
    }
}

extension EventLogError {
    static func inUse(_ consumer: Consumer?) -> EventLogError {
        EventLogError(
            .consumerInUse,
            "another process reads as consumer \(consumer?.name ?? ""); it continues when that one ends. "
                + "Readers at the same time need different names"
        )
    }
}
