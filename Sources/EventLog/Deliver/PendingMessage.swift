package import Events
internal import Postgres

/// A message that a webhook has not received although its place has passed it, or that was given up.
package struct PendingMessage: Hashable, Sendable {
    /// The header `webhook-id`: the id of the effect, or `alert:` and the id of the alert.
    package let messageId: String
    /// The effect; nil for an alert.
    package let effect: Effect?
    /// When it was first sent, or would have been if it did not wait for an earlier one.
    package var firstSentAt: Instant
    /// How often it was sent.
    package var attempts: Int
    /// When it is sent again; nil if it was given up.
    package var nextAttemptAt: Instant?
    /// What the last attempt came to; empty if it waits for an earlier effect.
    package var failure: String

    /// What names an effect, also after others of its commit were erased.
    package struct Effect: Hashable, Sendable {
        /// The subscription.
        package let stream: StreamID
        /// The lane of its commit.
        package let lane: Int
        /// The number of its commit.
        package let commit: Int64
        /// Which effect of the commit for the subscription, from 1.
        package let ordinal: Int

        /// A name.
        package init(stream: StreamID, lane: Int, commit: Int64, ordinal: Int) {
            (self.stream, self.lane, self.commit) = (stream, lane, commit)
            self.ordinal = ordinal
        }
    }

    /// A delivery.
    package init(messageId: String, effect: Effect?, firstSentAt: Instant) {
        (self.messageId, self.effect, self.firstSentAt) = (messageId, effect, firstSentAt)
        (attempts, nextAttemptAt, failure) = (0, firstSentAt, "")
    }

    fileprivate init(in row: PostgresRow) throws {
        messageId = try row.text(0)
        if let lane = try row.int4IfPresent(1) {
            effect = Effect(
                stream: StreamID(
                    environment: StoreEnvironment(try row.text(3)),
                    originalTransactionId: try row.text(4)
                ),
                lane: Int(lane),
                commit: try row.int8(2),
                ordinal: Int(try row.int4(5))
            )
        } else {
            effect = nil
        }
        firstSentAt = Instant(microseconds: try row.timestamptz(6))
        attempts = Int(try row.int4(7))
        nextAttemptAt = try row.timestamptzIfPresent(8).map(Instant.init(microseconds:))
        failure = try row.text(9)
    }

    fileprivate static let columns = """
        message_id, lane, commit_no, environment, original_transaction_id, ordinal, first_sent_at,
        attempts, next_attempt_at, failure
        """
}

extension EventLog {
    /// What a webhook has not received, in the order of the log; alerts last.
    ///
    /// - Parameters:
    ///   - webhook: Its name.
    ///   - isGivenUp: Whether to return what was given up, and not what is sent again.
    ///   - limit: The most.
    /// - Returns: The deliveries.
    /// - Throws: `databaseUnavailable`.
    package func deliveries(
        of webhook: String,
        isGivenUp: Bool,
        limit: Int = .max
    ) async throws(EventLogError) -> [PendingMessage] {
        try await reading("read what the webhook \(webhook) has not received") { session in
            try await session.query(
                """
                SELECT \(PendingMessage.columns) FROM operation.delivery
                WHERE webhook = $1 AND (next_attempt_at IS NULL) = $2
                ORDER BY lane NULLS LAST, commit_no, environment, original_transaction_id, ordinal,
                    message_id
                LIMIT $3
                """,
                [.text(webhook), .bool(isGivenUp), .int8(Int64(limit))]
            ).map { try PendingMessage(in: $0) }
        }
    }

    /// What is known of the deliveries of a webhook.
    package struct DeliveryState: Hashable, Sendable {
        /// Messages that are sent again.
        package let waiting: Int64
        /// Messages that were given up.
        package let givenUp: Int64
        /// When its place last moved; nil if it has none.
        package let movedAt: Instant?
        /// The place; nil if it has none.
        package let cursor: CommitCursor?
    }

    /// What is known of the deliveries of a webhook.
    ///
    /// - Throws: `databaseUnavailable`.
    package func deliveryState(of webhook: String) async throws(EventLogError) -> DeliveryState {
        try await reading("read the deliveries of the webhook \(webhook)") { session in
            let row = try await session.query(
                """
                SELECT count(*) FILTER (WHERE d.next_attempt_at IS NOT NULL),
                    count(*) FILTER (WHERE d.webhook IS NOT NULL AND d.next_attempt_at IS NULL),
                    max(c.acknowledged_at), max(c.cursor)
                FROM (SELECT $1::text AS name) w
                LEFT JOIN operation.delivery d ON d.webhook = w.name
                LEFT JOIN operation.consumer c ON c.name = $2
                """,
                [.text(webhook), .text(Webhook.consumerPrefix + webhook)]
            ).single()
            return DeliveryState(
                waiting: try row.int8(0),
                givenUp: try row.int8(1),
                movedAt: try row.timestamptzIfPresent(2).map(Instant.init(microseconds:)),
                cursor: try row.textIfPresent(3).flatMap(CommitCursor.init)
            )
        }
    }

    /// Moves the place of a webhook, and stores what it has passed without delivering it.
    ///
    /// - Parameters:
    ///   - webhook: Its name.
    ///   - consumer: Its consumer, with the holder of this process.
    ///   - cursor: The new place; nil if it did not move.
    ///   - kept: What was passed, or was sent again without success, or was given up.
    ///   - done: The messages that were stored before, and were delivered or came to nothing.
    /// - Throws: `consumerInUse` if another process delivers by now, or the place was moved;
    ///   `databaseUnavailable`.
    package func settle(
        _ webhook: String,
        as consumer: Consumer,
        at cursor: CommitCursor?,
        keeping kept: [PendingMessage],
        done: [String]
    ) async throws(EventLogError) {
        let holds = try await reading("keep what the webhook \(webhook) received") { session in
            try await session.atomically { session in
                let held = try session.query(
                    """
                    UPDATE operation.consumer
                    SET cursor = coalesce($2, cursor), acknowledged_at = now()
                    WHERE name = $1 AND holder = $3 RETURNING 1
                    """,
                    [.text(consumer.name), .text(cursor?.description), .text(consumer.holder)]
                )
                guard !held.isEmpty else { return false }
                if !done.isEmpty {
                    try session.query(
                        """
                        DELETE FROM operation.delivery
                        WHERE webhook = $1 AND message_id = ANY($2)
                        """,
                        [.text(webhook), .textArray(done)]
                    )
                }
                if !kept.isEmpty { try session.query(keepDeliveries, kept.parameters(of: webhook)) }
                return true
            }
        }
        guard holds else { throw EventLogError.inUse(consumer) }
    }

    /// Lets a webhook begin again after a place: everything after it is sent, also what was received.
    ///
    /// - Returns: Whether there is such a webhook.
    /// - Throws: `permissionDenied`, `databaseUnavailable`.
    package func replay(
        webhook: Webhook,
        after cursor: CommitCursor
    ) async throws(EventLogError) -> Bool {
        try await reading("replay the webhook \(webhook.name)") { session in
            try await session.atomically { session in
                let known = try session.query(
                    "SELECT 1 FROM operation.webhook WHERE name = $1 FOR UPDATE",
                    [.text(webhook.name)]
                )
                guard !known.isEmpty else { return false }
                try session.place(webhook.consumer, at: cursor)
                // What is read again is not also sent from here.
                try session.query(
                    """
                    DELETE FROM operation.delivery d WHERE webhook = $1 AND lane IS NOT NULL
                        AND commit_no > coalesce((SELECT m.number FROM unnest($2::int[], $3::bigint[])
                            AS m (lane, number) WHERE m.lane = d.lane), 0)
                    """,
                    [
                        .text(webhook.name), .int4Array(cursor.marks.map { Int32($0.lane) }),
                        .int8Array(
                            cursor.marks.map { $0.taken == nil ? $0.commit : $0.commit - 1 }
                        ),
                    ]
                )
                return true
            }
        }
    }

    /// Sends again what was given up.
    ///
    /// - Returns: How many messages.
    /// - Throws: `permissionDenied`, `databaseUnavailable`.
    package func replayGivenUp(of webhook: Webhook) async throws(EventLogError) -> Int {
        try await reading("send again what was given up for \(webhook.name)") { session in
            try await session.atomically { session in
                // The process that delivers must begin again with these, because they are older.
                try session.query(
                    "UPDATE operation.consumer SET holder = $2 WHERE name = $1",
                    [.text(webhook.consumer.name), .text(webhook.consumer.holder)]
                )
                return try session.query(
                    """
                    UPDATE operation.delivery SET next_attempt_at = clock_timestamp(), attempts = 0,
                        first_sent_at = clock_timestamp()
                    WHERE webhook = $1 AND next_attempt_at IS NULL RETURNING 1
                    """,
                    [.text(webhook.name)]
                ).count
            }
        }
    }

    /// Whether this process still delivers for a webhook as it was, and which alerts it should send.
    ///
    /// - Parameters:
    ///   - webhook: The webhook as it was read.
    ///   - consumer: Its consumer, with the holder of this process.
    /// - Returns: The alerts that wait; nil if the webhook was changed, or another process took over.
    /// - Throws: `databaseUnavailable`.
    package func waitingAlerts(
        of webhook: Webhook,
        as consumer: Consumer
    ) async throws(EventLogError) -> [PendingMessage]? {
        try await reading("look at the webhook \(webhook.name)") { session in
            let rows = try await session.query(
                """
                SELECT \(Webhook.columns) FROM operation.webhook WHERE name = $1 AND EXISTS (
                    SELECT FROM operation.consumer WHERE name = $2 AND holder = $3)
                """,
                [.text(webhook.name), .text(consumer.name), .text(consumer.holder)]
            ).map { try Webhook(in: $0) }
            guard rows == [webhook] else { return nil }
            return try await session.query(
                """
                SELECT \(PendingMessage.columns) FROM operation.delivery
                WHERE webhook = $1 AND next_attempt_at IS NOT NULL AND lane IS NULL
                ORDER BY first_sent_at, message_id
                """,
                [.text(webhook.name)]
            ).map { try PendingMessage(in: $0) }
        }
    }
}

private let keepDeliveries = """
    INSERT INTO operation.delivery AS d (webhook, message_id, lane, commit_no, environment,
        original_transaction_id, ordinal, first_sent_at, attempts, next_attempt_at, failure)
    SELECT $1, k.message_id, k.lane, k.commit_no, k.environment, k.original_transaction_id,
        k.ordinal, timestamptz 'epoch' + k.first_ms * interval '1 millisecond', k.attempts,
        timestamptz 'epoch' + k.next_ms * interval '1 millisecond', k.failure
    FROM unnest($2::text[], $3::int[], $4::bigint[], $5::text[], $6::text[], $7::int[],
        $8::bigint[], $9::int[], $10::bigint[], $11::text[]) AS k (message_id, lane, commit_no,
        environment, original_transaction_id, ordinal, first_ms, attempts, next_ms, failure)
    ON CONFLICT ON CONSTRAINT delivery_pkey DO UPDATE SET first_sent_at = excluded.first_sent_at,
        attempts = excluded.attempts,
        next_attempt_at = excluded.next_attempt_at, failure = excluded.failure
    """

extension [PendingMessage] {
    fileprivate func parameters(of webhook: String) -> [PostgresValue] {
        [
            .text(webhook), .textArray(map(\.messageId)),
            .int4Array(map { $0.effect.map { Int32($0.lane) } }),
            .int8Array(map { $0.effect?.commit }),
            .textArray(map { $0.effect?.stream.environment.word }),
            .textArray(map { $0.effect?.stream.originalTransactionId }),
            .int4Array(map { $0.effect.map { Int32($0.ordinal) } }),
            .int8Array(map(\.firstSentAt.milliseconds)),
            .int4Array(map { Int32(clamping: $0.attempts) }),
            .int8Array(map { $0.nextAttemptAt?.milliseconds }),
            .textArray(map(\.failure)),
        ]
    }
}
