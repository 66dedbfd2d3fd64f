package import Events
internal import Postgres

/// An address to which effects are sent, and which of them.
package struct Webhook: Hashable, Sendable {
    /// Its name: letters, digits, `-` and `.`.
    package let name: String
    /// The address, as text.
    package let url: String
    /// What the bodies look like.
    package let format: Format
    /// The words of the effects that it receives; empty for all.
    package let effects: [String]
    /// The environments whose effects it receives, as Apple's words; empty for all.
    package let environments: [String]
    /// The apps whose effects it receives; empty for all.
    package let bundleIds: [String]
    /// Whether it also receives alerts.
    package let hearsAlerts: Bool
    /// Whether it may be at a private address, and without TLS.
    package let allowsPrivate: Bool
    /// The secrets that sign, newest first.
    package let secrets: [String]
    /// Until when the secrets after the first one also sign; nil if there are none.
    package let olderSignUntil: Instant?
    /// When it was added, on the server's clock.
    package let createdAt: Instant
    /// Since when nothing is sent; nil if it is active.
    package let pausedAt: Instant?
    /// Why nothing is sent; nil if it is active.
    package let pauseReason: String?

    /// What the bodies look like.
    package enum Format: String, CaseIterable, Codable, Sendable {
        /// The documents of `subledger effects --json`.
        case subledger
        /// The events of RevenueCat's webhooks.
        case revenuecat
    }

    /// A new webhook.
    package init(
        name: String,
        url: String,
        format: Format = .subledger,
        effects: [String] = [],
        environments: [String] = [],
        bundleIds: [String] = [],
        hearsAlerts: Bool = false,
        allowsPrivate: Bool = false,
        secrets: [String],
        olderSignUntil: Instant? = nil
    ) {
        (self.name, self.url, self.format) = (name, url, format)
        (self.effects, self.environments, self.bundleIds) = (effects, environments, bundleIds)
        (self.hearsAlerts, self.allowsPrivate) = (hearsAlerts, allowsPrivate)
        (self.secrets, self.olderSignUntil) = (secrets, olderSignUntil)
        (createdAt, pausedAt, pauseReason) = (.epoch, nil, nil)
    }

    /// The consumer of effects that keeps its place.
    package var consumer: Consumer { Consumer(Webhook.consumerPrefix + name, of: .effects) }

    /// What the names of the consumers of webhooks begin with.
    package static let consumerPrefix = "webhook/"

    static let columns = """
        name, url, format, effects, environments, bundle_ids, hears_alerts, allows_private, secrets,
        older_sign_until, created_at, paused_at, pause_reason
        """

    init(in row: PostgresRow) throws {
        func texts(_ column: Int) throws -> [String] {
            try row.textArray(column)?.compactMap(\.self) ?? []
        }
        name = try row.text(0)
        url = try row.text(1)
        format = Format(rawValue: try row.text(2)) ?? .subledger
        effects = try texts(3)
        environments = try texts(4)
        bundleIds = try texts(5)
        hearsAlerts = try row.bool(6)
        allowsPrivate = try row.bool(7)
        secrets = try texts(8)
        olderSignUntil = try row.timestamptzIfPresent(9).map(Instant.init(microseconds:))
        createdAt = Instant(microseconds: try row.timestamptz(10))
        pausedAt = try row.timestamptzIfPresent(11).map(Instant.init(microseconds:))
        pauseReason = try row.textIfPresent(12)
    }
}

extension EventLog {
    /// All webhooks, by name.
    ///
    /// - Throws: `permissionDenied` unless the login is a member of `ledger_writer`,
    ///   `databaseUnavailable`.
    package func webhooks() async throws(EventLogError) -> [Webhook] {
        try await reading("list the webhooks") { session in
            try await session.query(
                "SELECT \(Webhook.columns) FROM operation.webhook ORDER BY name"
            ).map { try Webhook(in: $0) }
        }
    }

    /// Stores a new webhook, and the place in the log where it begins.
    ///
    /// - Returns: Whether it was stored; false if there is one of that name.
    /// - Throws: `permissionDenied`, `databaseUnavailable`.
    package func add(
        _ webhook: Webhook,
        startingAt cursor: CommitCursor
    ) async throws(EventLogError) -> Bool {
        try await reading("add the webhook \(webhook.name)") { session in
            try await session.atomically { session in
                let added = try session.query(
                    """
                    INSERT INTO operation.webhook (name, url, format, effects, environments,
                        bundle_ids, hears_alerts, allows_private, secrets, created_at)
                    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, now())
                    ON CONFLICT DO NOTHING RETURNING 1
                    """,
                    [
                        .text(webhook.name), .text(webhook.url), .text(webhook.format.rawValue),
                        .textArray(webhook.effects), .textArray(webhook.environments),
                        .textArray(webhook.bundleIds), .bool(webhook.hearsAlerts),
                        .bool(webhook.allowsPrivate), .textArray(webhook.secrets),
                    ]
                )
                guard !added.isEmpty else { return false }
                try session.place(webhook.consumer, at: cursor)
                return true
            }
        }
    }

    /// Removes a webhook, its place, and what it has not received.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: `permissionDenied`, `databaseUnavailable`.
    package func removeWebhook(named name: String) async throws(EventLogError) -> Bool {
        try await reading("remove the webhook \(name)") { session in
            try await session.atomically { session in
                let removed = try session.query(
                    "DELETE FROM operation.webhook WHERE name = $1 RETURNING 1",
                    [.text(name)]
                )
                try session.query(
                    "DELETE FROM operation.delivery WHERE webhook = $1",
                    [.text(name)]
                )
                try session.query(
                    "DELETE FROM operation.consumer WHERE name = $1",
                    [.text(Webhook.consumerPrefix + name)]
                )
                return !removed.isEmpty
            }
        }
    }

    /// Gives a webhook a new secret; the one before also signs for a time.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - secret: The new secret.
    ///   - milliseconds: For how long the secret before also signs.
    /// - Returns: Whether there is such a webhook.
    /// - Throws: `permissionDenied`, `databaseUnavailable`.
    package func rotate(
        webhook name: String,
        to secret: String,
        olderFor milliseconds: Int64
    ) async throws(EventLogError) -> Bool {
        try await reading("give the webhook \(name) a new secret") { session in
            let changed = try await session.query(
                """
                UPDATE operation.webhook SET secrets = ARRAY[$2::text, secrets[1]],
                    older_sign_until = clock_timestamp() + $3 * interval '1 millisecond'
                WHERE name = $1 RETURNING 1
                """,
                [.text(name), .text(secret), .int8(milliseconds)]
            )
            return !changed.isEmpty
        }
    }

    /// Pauses a webhook, or lets it continue where it stopped.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - reason: Why nothing is sent; nil to continue.
    /// - Returns: Whether there is such a webhook.
    /// - Throws: `permissionDenied`, `databaseUnavailable`.
    package func pause(
        webhook name: String,
        because reason: String?
    ) async throws(EventLogError) -> Bool {
        try await reading("pause the webhook \(name)") { session in
            let changed = try await session.query(
                """
                UPDATE operation.webhook SET pause_reason = $2,
                    paused_at = CASE WHEN $2 IS NOT NULL
                        THEN coalesce(paused_at, clock_timestamp()) END
                WHERE name = $1 RETURNING 1
                """,
                [.text(name), .text(reason)]
            )
            return !changed.isEmpty
        }
    }
}

extension PostgresSession {
    // Whoever reads under the name notices that the place was moved, and reads it again.
    func place(_ consumer: Consumer, at cursor: CommitCursor) throws {
        try query(
            """
            INSERT INTO operation.consumer (name, cursor, holder, acknowledged_at)
            VALUES ($1, $2, $3, now())
            ON CONFLICT ON CONSTRAINT consumer_pkey DO UPDATE
                SET cursor = excluded.cursor, holder = excluded.holder
            """,
            [.text(consumer.name), .text(cursor.description), .text(consumer.holder)]
        )
    }
}
