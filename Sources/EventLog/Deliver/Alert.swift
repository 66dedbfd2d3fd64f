package import Events
internal import Foundation
internal import Postgres

/// Something that an operator should look at: from when it began until it is over.
package struct Alert: Hashable, Sendable {
    /// Its id, as text of a UUID.
    package let id: String
    /// What it is.
    package let kind: Kind
    /// What it is about: an environment, a table, a webhook; empty for the whole ledger.
    package let subject: String
    /// What was found.
    package let message: String
    /// When it began, on the server's clock.
    package let raisedAt: Instant
    /// When it was over; nil while it lasts.
    package let resolvedAt: Instant?

    /// What it is; the raw value is the word in documents.
    package enum Kind: String, CaseIterable, Codable, Sendable {
        /// Far more refunds in a day than before.
        case refundsBurst = "refunds-burst"
        /// No notification arrived for a day.
        case notificationsSilent = "notifications-silent"
        /// Apple states something else than the ledger computes.
        case drift
        /// Apple refuses to answer.
        case appleRefused = "apple-refused"
        /// Tables of projections lag behind the log.
        case followerBehind = "follower-behind"
        /// The clocks of this machine and the database server differ.
        case clockSkew = "clock-skew"
        /// A webhook was paused, because its receiver accepted nothing.
        case webhookPaused = "webhook-paused"
    }

    /// The prefix of the ids of its messages.
    fileprivate static let messagePrefix = "alert:"

    fileprivate static let columns =
        "alert_id::text, kind, subject, message, raised_at, resolved_at"

    // An older program may not know the kind.
    fileprivate init?(in row: PostgresRow) throws {
        guard let kind = Kind(rawValue: try row.text(1)) else { return nil }
        id = try row.text(0)
        self.kind = kind
        subject = try row.text(2)
        message = try row.text(3)
        raisedAt = Instant(microseconds: try row.timestamptz(4))
        resolvedAt = try row.timestamptzIfPresent(5).map(Instant.init(microseconds:))
    }
}

extension EventLog {
    /// Raises an alert, unless it lasts already, and hands it to the webhooks that want alerts.
    ///
    /// - Parameters:
    ///   - kind: What it is.
    ///   - subject: What it is about.
    ///   - message: What was found.
    /// - Returns: Whether it is new.
    /// - Throws: `permissionDenied`, `databaseUnavailable`.
    package func raise(
        _ kind: Alert.Kind,
        about subject: String,
        _ message: String
    ) async throws(EventLogError) -> Bool {
        let id = UUID().uuidString.lowercased()
        return try await reading("raise the alert \(kind.rawValue)") { session in
            try await session.atomically { session in
                // Of several services that find the same, one raises it.
                try session.query(
                    "SELECT pg_advisory_xact_lock($1)",
                    [.int8(Int64(bitPattern: Digest.of(Array("subledger/alert".utf8)).head))]
                )
                let raised = try session.query(
                    """
                    INSERT INTO operation.alert (alert_id, kind, subject, message, raised_at)
                    SELECT $1::text::uuid, $2, $3, $4, clock_timestamp() WHERE NOT EXISTS (
                        SELECT FROM operation.alert
                        WHERE kind = $2 AND subject = $3 AND resolved_at IS NULL)
                    RETURNING 1
                    """,
                    [.text(id), .text(kind.rawValue), .text(subject), .text(message)]
                )
                guard !raised.isEmpty else { return false }
                try session.query(
                    """
                    INSERT INTO operation.delivery (webhook, message_id, first_sent_at, attempts,
                        next_attempt_at, failure)
                    SELECT name, $1, now(), 0, now(), '' FROM operation.webhook WHERE hears_alerts
                    """,
                    [.text(Alert.messagePrefix + id)]
                )
                return true
            }
        }
    }

    /// Notes that an alert is over; nothing if it does not last.
    ///
    /// - Throws: `permissionDenied`, `databaseUnavailable`.
    package func resolve(
        _ kind: Alert.Kind,
        about subject: String
    ) async throws(EventLogError) {
        try await reading("end the alert \(kind.rawValue)") { session in
            _ = try await session.query(
                """
                UPDATE operation.alert SET resolved_at = clock_timestamp()
                WHERE kind = $1 AND subject = $2 AND resolved_at IS NULL
                """,
                [.text(kind.rawValue), .text(subject)]
            )
        }
    }

    /// The alerts, newest first.
    ///
    /// - Parameters:
    ///   - isOpen: Whether to leave out those that are over.
    ///   - limit: The most.
    /// - Returns: The alerts.
    /// - Throws: `databaseUnavailable`.
    package func alerts(isOpen: Bool, limit: Int) async throws(EventLogError) -> [Alert] {
        try await reading("list the alerts") { session in
            try await session.query(
                """
                SELECT \(Alert.columns) FROM operation.alert
                WHERE NOT $1 OR resolved_at IS NULL ORDER BY raised_at DESC, alert_id LIMIT $2
                """,
                [.bool(isOpen), .int8(Int64(limit))]
            ).compactMap { try Alert(in: $0) }
        }
    }

    /// The alert that a message is about; nil if there is none.
    ///
    /// - Throws: `databaseUnavailable`.
    package func alert(ofMessage messageId: String) async throws(EventLogError) -> Alert? {
        try await reading("read an alert") { session in
            try await session.query(
                """
                SELECT \(Alert.columns) FROM operation.alert WHERE $1 = $2 || alert_id::text
                """,
                [.text(messageId), .text(Alert.messagePrefix)]
            ).compactMap { try Alert(in: $0) }.first
        }
    }

    /// How many purchases were refunded in the last day, and on average in a day of the four weeks
    /// before; nil if the table of refunds was not built.
    ///
    /// - Throws: `databaseUnavailable`.
    package func refundsOfLastDay() async throws(EventLogError) -> (today: Int64, usual: Double)? {
        try await reading("count the refunds of the last day") { session in
            let isBuilt = try await session.query(
                "SELECT to_regclass('projection.refunds') IS NOT NULL"
            ).single().bool(0)
            guard isBuilt else { return nil }
            let row = try await session.query(
                """
                SELECT count(*) FILTER (WHERE announced_at >= now() - interval '1 day'), count(*)
                FROM projection.refunds
                WHERE environment = 'Production' AND refund_state = 'refunded'
                    AND announced_at >= now() - interval '29 days' AND announced_at <= now()
                """
            ).single()
            let (today, all) = (try row.int8(0), try row.int8(1))
            return (today, Double(all - today) / 28)
        }
    }
}
