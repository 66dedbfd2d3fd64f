package import Events
internal import Foundation
internal import Postgres

/// A notification that is still to be forwarded.
package struct Relay: Sendable {
    /// Its id, as text of a UUID.
    package let id: String
    /// What Apple sent, byte for byte.
    package let body: [UInt8]
    /// How often it was sent.
    package let attempts: Int
}

extension EventLog {
    /// Stores a notification that is to be forwarded; returns when it is durable.
    ///
    /// - Parameters:
    ///   - body: What Apple sent.
    ///   - targets: The URLs to which it is sent.
    ///   - stream: The subscription that it is about; nil for none.
    /// - Throws: `permissionDenied`, `databaseUnavailable`.
    package func relay(
        _ body: [UInt8],
        to targets: [String],
        about stream: StreamID?
    ) async throws(EventLogError) {
        try await writing(
            "keep a notification that is to be forwarded",
            """
            INSERT INTO operation.relay (relay_id, target, body, environment,
                original_transaction_id, received_at, attempts, next_attempt_at, failure)
            SELECT id::uuid, target, $3, $4, $5, now(), 0, now(), ''
            FROM unnest($1::text[], $2::text[]) AS r (id, target)
            """,
            [
                .textArray(targets.map { _ in UUID().uuidString }), .textArray(targets),
                .bytea(body), .text(stream?.environment.word),
                .text(stream?.originalTransactionId),
            ]
        )
    }

    /// Takes notifications that are due, so that no other process sends them for twenty seconds.
    ///
    /// - Parameters:
    ///   - target: The URL to which they are sent.
    ///   - limit: The most.
    /// - Returns: The notifications, those that wait longest first.
    /// - Throws: `permissionDenied`, `databaseUnavailable`.
    package func takeRelays(
        to target: String,
        limit: Int
    ) async throws(EventLogError) -> [Relay] {
        try await reading("read what is to be forwarded") { session in
            try await session.query(
                """
                UPDATE operation.relay r SET next_attempt_at = clock_timestamp() + interval '20 seconds'
                FROM (SELECT relay_id FROM operation.relay
                    WHERE target = $1 AND next_attempt_at <= clock_timestamp()
                    ORDER BY next_attempt_at LIMIT $2 FOR UPDATE SKIP LOCKED) due
                WHERE r.relay_id = due.relay_id
                RETURNING r.relay_id::text, r.body, r.attempts
                """,
                [.text(target), .int8(Int64(limit))]
            ).map { row in
                Relay(
                    id: try row.text(0),
                    body: try row.bytea(1),
                    attempts: Int(try row.int4(2))
                )
            }
        }
    }

    /// Removes notifications that were forwarded, and lets others that failed before be sent again
    /// at once.
    ///
    /// - Throws: `permissionDenied`, `databaseUnavailable`.
    package func forwarded(
        _ ids: [String],
        to target: String,
        isBack: Bool
    ) async throws(EventLogError) {
        try await reading("remove what was forwarded") { session in
            _ = try await session.query(
                "DELETE FROM operation.relay WHERE relay_id = ANY($1::text[]::uuid[])",
                [.textArray(ids)]
            )
            guard isBack else { return }
            _ = try await session.query(
                """
                UPDATE operation.relay SET next_attempt_at = clock_timestamp()
                WHERE target = $1 AND attempts > 0
                    AND next_attempt_at > clock_timestamp() + interval '20 seconds'
                """,
                [.text(target)]
            )
        }
    }

    /// Notes that an attempt to forward a notification failed.
    ///
    /// - Parameters:
    ///   - relay: The notification.
    ///   - failure: What happened.
    ///   - next: When it is sent again; nil if it is given up.
    /// - Throws: `permissionDenied`, `databaseUnavailable`.
    package func failed(
        _ relay: Relay,
        _ failure: String,
        next: Instant?
    ) async throws(EventLogError) {
        try await reading("keep a notification that is to be forwarded") { session in
            _ = try await session.query(
                """
                UPDATE operation.relay SET attempts = $2, failure = $3,
                    next_attempt_at = timestamptz 'epoch' + $4 * interval '1 millisecond'
                WHERE relay_id = $1::text::uuid
                """,
                [
                    .text(relay.id), .int4(Int32(clamping: relay.attempts + 1)), .text(failure),
                    .int8(next?.milliseconds),
                ]
            )
        }
    }

    /// How many notifications wait to be forwarded, and how many were given up, by target.
    ///
    /// - Throws: `databaseUnavailable`.
    package func relayCounts() async throws(EventLogError) -> [RelayCount] {
        try await reading("count what is to be forwarded") { session in
            try await session.query(
                """
                SELECT target, count(next_attempt_at), count(*) - count(next_attempt_at),
                    min(received_at)
                FROM operation.relay GROUP BY target ORDER BY target
                """
            ).map { row in
                RelayCount(
                    target: try row.text(0),
                    waiting: try row.int8(1),
                    givenUp: try row.int8(2),
                    oldest: Instant(microseconds: try row.timestamptz(3))
                )
            }
        }
    }

    /// Removes what is to be forwarded about a subscription, and what names it if all of it is
    /// erased; in the transaction of an erasure.
    static func forgetDeliveries(
        about target: ErasureTarget,
        in session: isolated PostgresSession
    ) throws {
        let key: [PostgresValue] = [
            .text(target.stream.environment.word), .text(target.stream.originalTransactionId),
        ]
        try session.query(
            """
            DELETE FROM operation.relay
            WHERE environment = $1 AND original_transaction_id = $2
            """,
            key
        )
        guard target.scope == .subscription else { return }
        try session.query(
            """
            DELETE FROM operation.delivery
            WHERE environment = $1 AND original_transaction_id = $2
            """,
            key
        )
    }
}

/// What waits to be forwarded to one target.
package struct RelayCount: Hashable, Sendable {
    /// The URL.
    package let target: String
    /// Notifications that are sent again.
    package let waiting: Int64
    /// Notifications that were given up.
    package let givenUp: Int64
    /// When the oldest of them arrived.
    package let oldest: Instant
}
