public import Events
internal import Postgres

/// A lease to ask Apple about a subscription, or about the notifications of an environment.
public struct PollLease: Sendable {
    /// The subject of the lease; without an id, the environment's notifications.
    public let subject: StreamID
    /// Where the last answer ended, in the poller's own format; nil if there was none.
    public let continuation: String?
}

/// When Apple last answered about a subscription.
public struct PollAnswer: Hashable, Sendable {
    /// The instant, on the server's clock.
    public let answeredAt: Instant
    /// Seconds since then, on the same clock.
    public let ageSeconds: Double
}

/// The process that is asking Apple about a subject.
public struct PollHolder: Hashable, Sendable {
    /// The unique name of the poller.
    public let holder: String
    /// When another poller may take over, on the server's clock.
    public let expiresAt: Instant
}

extension EventLog {
    /// Takes a lease on a subject, so several pollers do not ask twice.
    ///
    /// A lease that is neither ended nor renewed expires, on the server's clock.
    ///
    /// - Parameters:
    ///   - subject: What is to be asked about; without an id, the environment's notifications.
    ///   - holder: A name that is unique to this poller.
    ///   - seconds: How long the lease lasts, at most an hour.
    ///   - pause: Seconds after the last answer before any poller asks again.
    /// - Returns: The lease; nil if another poller has it, or the pause is not over.
    /// - Throws: `databaseUnavailable`; `permissionDenied` unless the login is a member of
    ///   `ledger_writer`.
    public func takePollLease(
        on subject: StreamID,
        holder: String,
        seconds: Double,
        pause: Double
    ) async throws(EventLogError) -> PollLease? {
        let sql = """
            INSERT INTO operation.poll (lane, environment, original_transaction_id, holder,
                expires_at)
            VALUES ($1, $2, $3, $4, clock_timestamp() + $5 * interval '1 millisecond')
            ON CONFLICT ON CONSTRAINT poll_pkey DO UPDATE
                SET holder = excluded.holder, expires_at = excluded.expires_at
                WHERE coalesce(NOT (\(EventLog.isPollLeased)), true)
                    AND (NOT coalesce(\(EventLog.isAnswerDated("poll")), false)
                        OR poll.answered_at
                            <= clock_timestamp() - $6 * interval '1 millisecond')
            RETURNING continuation
            """
        let values =
            key(of: subject) + [
                .text(holder), EventLog.lease(seconds), .int8(Int64(pause * 1000)),
            ]
        return try await reading("take a lease to ask Apple") { session in
            let rows = try await session.query(sql, values)
            guard rows.count == 1 else { return nil }
            return PollLease(subject: subject, continuation: try rows[0].textIfPresent(0))
        }
    }

    /// Ends a lease and records where the answer ended.
    ///
    /// If the lease expired and another poller took it, that poller keeps it.
    ///
    /// - Parameters:
    ///   - lease: The lease.
    ///   - holder: The poller that took it.
    ///   - continuation: Where the answer ended; nil keeps the earlier value.
    ///   - isAnswered: Whether Apple answered; if not, the next poller need not wait.
    /// - Throws: `databaseUnavailable`.
    public func end(
        _ lease: PollLease,
        holder: String,
        continuation: String?,
        isAnswered: Bool
    ) async throws(EventLogError) {
        let sql = """
            UPDATE operation.poll SET holder = NULL, expires_at = NULL,
                continuation = coalesce($5, continuation),
                answered_at = CASE WHEN $6 THEN clock_timestamp() ELSE answered_at END
            WHERE lane = $1 AND environment = $2 AND original_transaction_id = $3 AND holder = $4
            """
        let values =
            key(of: lease.subject) + [.text(holder), .text(continuation), .bool(isAnswered)]
        try await reading("end a lease to ask Apple") { session in
            _ = try await session.query(sql, values)
        }
    }

    /// Extends a lease, and records where the last answer ended.
    ///
    /// - Parameters:
    ///   - lease: The lease.
    ///   - holder: The poller that took it.
    ///   - continuation: Where the last answer ended; nil keeps the earlier value.
    ///   - seconds: How long it lasts from now on, at most an hour.
    /// - Returns: Whether the lease is still held; if not, another poller has taken it.
    /// - Throws: `databaseUnavailable`.
    public func renew(
        _ lease: PollLease,
        holder: String,
        continuation: String?,
        seconds: Double
    ) async throws(EventLogError) -> Bool {
        let sql = """
            UPDATE operation.poll SET continuation = coalesce($5, continuation),
                expires_at = clock_timestamp() + $6 * interval '1 millisecond'
            WHERE lane = $1 AND environment = $2 AND original_transaction_id = $3 AND holder = $4
            RETURNING lane
            """
        let values =
            key(of: lease.subject) + [
                .text(holder), .text(continuation), EventLog.lease(seconds),
            ]
        return try await reading("renew a lease to ask Apple") { session in
            try await !session.query(sql, values).isEmpty
        }
    }

    /// The process that is asking Apple for the notifications of an environment.
    ///
    /// - Parameter environment: Where the purchases were made.
    /// - Returns: The process; nil if there is none.
    /// - Throws: `databaseUnavailable`.
    public func notificationsHolder(
        in environment: StoreEnvironment
    ) async throws(EventLogError) -> PollHolder? {
        let subject = StreamID(environment: environment, originalTransactionId: "")
        return try await holder(
            "lane = $1 AND environment = $2 AND original_transaction_id = ''",
            Array(key(of: subject).dropLast())
        )
    }

    /// The process that is asking Apple about a subscription of an environment; of several, the one
    /// whose lease expires last.
    ///
    /// - Parameter environment: Where the purchases were made.
    /// - Returns: The process; nil if there is none.
    /// - Throws: `databaseUnavailable`.
    public func subscriptionsHolder(
        in environment: StoreEnvironment
    ) async throws(EventLogError) -> PollHolder? {
        try await holder(
            "environment = $1 AND original_transaction_id <> ''",
            [.text(environment.word)]
        )
    }

    /// The longest lease, in seconds.
    private static let leaseSecondsMax = 3600.0

    private static func lease(_ seconds: Double) -> PostgresValue {
        .int8(Int64(min(seconds, leaseSecondsMax) * 1000))
    }

    /// Whether a row of `operation.poll` is leased.
    ///
    /// No poller takes a longer lease than `leaseSecondsMax`, so one that says so does not count: it
    /// might never expire.
    private static let isPollLeased = """
        poll.expires_at > clock_timestamp()
            AND poll.expires_at <= clock_timestamp() + interval '\(leaseSecondsMax) seconds'
        """

    /// Whether a row of `operation.poll` says when Apple answered, and not in the future: any writer
    /// could date one so that the customer is never asked about again.
    ///
    /// With an allowance of five minutes for the clocks of other servers of the same database.
    static func isAnswerDated(_ row: String) -> String {
        "(isfinite(\(row).answered_at) AND \(row).answered_at "
            + "<= clock_timestamp() + interval '300 seconds')"
    }

    private func holder(
        _ condition: String,
        _ values: [PostgresValue]
    ) async throws(EventLogError) -> PollHolder? {
        try await reading("look up who asks Apple") { session in
            let rows = try await session.query(
                """
                SELECT holder, ceil(extract(epoch FROM expires_at) * 1000)::bigint
                FROM operation.poll
                WHERE \(condition) AND \(EventLog.isPollLeased)
                ORDER BY expires_at DESC LIMIT 1
                """,
                values
            )
            guard !rows.isEmpty else { return nil }
            return PollHolder(
                holder: try rows[0].text(0),
                expiresAt: Instant(milliseconds: try rows[0].int8(1))
            )
        }
    }

    /// Records that Apple's answer about one subscription covered others as well, so they are not
    /// asked about again soon.
    ///
    /// - Parameter streams: The others; one that is being asked about keeps its lease.
    /// - Throws: `databaseUnavailable`.
    public func recordAnswered(_ streams: Set<StreamID>) async throws(EventLogError) {
        guard !streams.isEmpty else { return }
        let ordered = streams.sorted()
        try await reading("record what Apple answered") { session in
            _ = try await session.query(
                """
                INSERT INTO operation.poll (lane, environment, original_transaction_id, answered_at)
                SELECT lane, environment, id, clock_timestamp()
                FROM unnest($1::int[], $2::text[], $3::text[]) AS told (lane, environment, id)
                ON CONFLICT ON CONSTRAINT poll_pkey DO UPDATE
                    SET answered_at = excluded.answered_at
                """,
                values(of: ordered)
            )
        }
    }

    /// When Apple last answered about subscriptions.
    ///
    /// - Parameter streams: The subscriptions; memory grows with their number.
    /// - Returns: The last answer about each; no entry for those that Apple never answered about.
    /// - Throws: `databaseUnavailable`.
    public func pollAnswers(
        about streams: [StreamID]
    ) async throws(EventLogError) -> [StreamID: PollAnswer] {
        try await reading("look up when Apple answered") { session in
            let rows = try await session.query(
                """
                SELECT environment, original_transaction_id,
                    floor(extract(epoch FROM answered_at) * 1000)::bigint,
                    floor(extract(epoch FROM clock_timestamp() - answered_at) * 1000)::bigint
                FROM operation.poll
                JOIN unnest($1::int[], $2::text[], $3::text[])
                    AS asked (lane, environment, original_transaction_id)
                    USING (lane, environment, original_transaction_id)
                WHERE \(EventLog.isAnswerDated("poll"))
                """,
                values(of: streams)
            )

            let found = try rows.map { row in
                let answer = PollAnswer(
                    answeredAt: Instant(milliseconds: try row.int8(2)),
                    ageSeconds: Double(try row.int8(3)) / 1000
                )
                return (try row.stream(0), answer)
            }
            return Dictionary(found) { $1 }
        }
    }

    private func values(of streams: [StreamID]) -> [PostgresValue] {
        [
            .int4Array(streams.map { Int32(identity.lanes.lane(of: $0.originalTransactionId)) }),
            .textArray(streams.map(\.environment.word)),
            .textArray(streams.map(\.originalTransactionId)),
        ]
    }

    private func key(of subject: StreamID) -> [PostgresValue] {
        subject.key(inLane: identity.lanes.lane(of: subject.originalTransactionId))
    }
}
