internal import Events

/// The SQL that creates a ledger, in the order in which it is applied.
///
/// Contains no logic: the migrator in `EventLog` reads it. A migration that has shipped is never
/// edited (its checksum is kept in `ledger.migration`); a function that differs is replaced whole.
package enum Schema {
    /// One numbered, forward-only step.
    package struct Migration: Sendable {
        /// From 1, without gaps.
        package let version: Int
        /// File name without its ending.
        package let name: String
        /// The step.
        package let sql: String
        /// Assertions that hold after it.
        package let check: String
        /// Indexes on large tables, built after the step, while appends continue.
        package let indexes: [Index]
        /// The table of schema `operation` that is all it creates or changes, with its schema; nil
        /// for others.
        ///
        /// Unlike the log it may be lost, and is created again, by all migrations that name it.
        package let workingTable: String?

        /// A step.
        ///
        /// A step that creates small or new tables also creates their indexes in its SQL.
        package init(
            version: Int,
            name: String,
            sql: String,
            check: String,
            indexes: [Index] = [],
            workingTable: String? = nil
        ) {
            self.version = version
            self.name = name
            self.sql = sql
            self.check = check
            self.indexes = indexes
            self.workingTable = workingTable
        }
    }

    /// An index on a table of schema `ledger`, built with `CREATE INDEX CONCURRENTLY`.
    ///
    /// `CREATE INDEX` in a migration blocks all appends while it reads the table. PostgreSQL cannot
    /// build an index concurrently on a partitioned table, so there it does block them.
    package struct Index: Sendable {
        /// Its name, unique in the schema; without quotes in SQL.
        package let name: String
        /// The table's name, without the schema.
        package let table: String
        /// What follows the table's name in `CREATE INDEX`: columns in parentheses, `WHERE` ….
        package let definition: String

        /// An index.
        package init(name: String, table: String, definition: String) {
            self.name = name
            self.table = table
            self.definition = definition
        }
    }

    /// Schemas, roles and the list of migrations; applied before all other changes.
    package static let bootstrap = text("bootstrap.sql")

    /// Finds what differs from the roles, owners, privileges, triggers and storage options that a
    /// ledger must have.
    ///
    /// It only reads. Each row contains what differs and the statement that repairs it, or NULL if
    /// ``bootstrap`` does.
    package static let differences = text("differences.sql")

    /// Finds how the columns and CHECK constraints of tables differ from those of ``snapshot``; with
    /// the same columns as ``differences``.
    package static let definitions = text("definitions.sql")

    /// The result of all migrations, as pg_dump prints it.
    package static let snapshot = text("snapshot.sql")

    /// Functions that tables refer to; applied before the migrations.
    package static let functionsBefore = [
        text("lane-of.sql"), text("is-erasing.sql"),
        text("refuse-change.sql"),
        text("refuse-unless-blanked.sql"),
        text("text-without-nul.sql"), text("json-or-text.sql"),
        text("content-fields.sql"), text("content-text.sql"),
        text("refuse-orphan.sql"), text("refuse-unproven.sql"),
        text("is-other-clock.sql"), text("refuse-unchained.sql"),
        text("refuse-other-clock.sql"),
        text("refuse-unaccounted.sql"),
    ]

    /// Functions that refer to tables; applied after the migrations.
    package static let functionsAfter = [
        text("repetitions.sql"), text("erase.sql"),
        text("forget-rejections.sql"),
        text("forget-audits.sql"),
    ]

    /// The migrations, oldest first.
    package static let migrations = [
        Migration(
            version: 1,
            name: "v001-ledger",
            sql: text("v001-ledger.sql"),
            check: text("check-v001-ledger.sql")
        ),
        Migration(
            version: 2,
            name: "v002-checkpoint",
            sql: text("v002-checkpoint.sql"),
            check: text("check-v002-checkpoint.sql")
        ),
        Migration(
            version: 3,
            name: "v003-erasure",
            sql: text("v003-erasure.sql"),
            check: text("check-v003-erasure.sql"),
            // Erasures are few, and every append checks whether its subscriptions were erased.
            indexes: [
                Index(
                    name: "event_erasure",
                    table: "event",
                    definition: "(lane, original_transaction_id, environment) "
                        + "WHERE kind = 'erasure'"
                )
            ]
        ),
        Migration(
            version: 4,
            name: "v004-continuation",
            sql: text("v004-continuation.sql"),
            check: text("check-v004-continuation.sql"),
            // The condition tests form and byte first: only signed transactions have the field, few
            // have the byte, and reading fields takes longer.
            indexes: [
                Index(
                    name: "event_continuation",
                    table: "event",
                    definition: "((ledger.content_text(content, 24) COLLATE \"C\")) "
                        + "WHERE substr(content, 2, 1) = '\\x01'::bytea "
                        + "AND position('\\x18'::bytea IN content) > 0 "
                        + "AND ledger.content_text(content, 24) IS NOT NULL"
                )
            ]
        ),
        Migration(
            version: 5,
            name: "v005-rejection",
            sql: text("v005-rejection.sql"),
            check: text("check-v005-rejection.sql"),
            indexes: [
                Index(
                    name: "rejection_in_order",
                    table: "rejection",
                    definition: "(run_started_at, input_no)"
                )
            ]
        ),
        Migration(
            version: 6,
            name: "v006-rejection-arrival",
            sql: text("v006-rejection-arrival.sql"),
            check: text("check-v006-rejection-arrival.sql")
        ),
        Migration(
            version: 7,
            name: "v007-currency-rate",
            sql: text("v007-currency-rate.sql"),
            check: text("check-v007-currency-rate.sql"),
            workingTable: "operation.currency_rate"
        ),
        Migration(
            version: 8,
            name: "v008-newest-signature",
            sql: text("v008-newest-signature.sql"),
            check: text("check-v008-newest-signature.sql"),
            workingTable: "operation.newest_signature"
        ),
        Migration(
            version: 9,
            name: "v009-lookup-key",
            sql: text("v009-lookup-key.sql"),
            check: text("check-v009-lookup-key.sql"),
            workingTable: "operation.lookup_key"
        ),
        Migration(
            version: 10,
            name: "v010-lookup-lane",
            sql: text("v010-lookup-lane.sql"),
            check: text("check-v010-lookup-lane.sql"),
            workingTable: "operation.lookup_lane"
        ),
        Migration(
            version: 11,
            name: "v011-repair",
            sql: text("v011-repair.sql"),
            check: text("check-v011-repair.sql")
        ),
        Migration(
            version: 12,
            name: "v012-rejection-standing",
            sql: text("v012-rejection-standing.sql"),
            check: text("check-v012-rejection-standing.sql")
        ),
        Migration(
            version: 13,
            name: "v013-token-limit",
            sql: text("v013-token-limit.sql"),
            check: text("check-v013-token-limit.sql")
        ),
        Migration(
            version: 14,
            name: "v014-audit",
            sql: text("v014-audit.sql"),
            check: text("check-v014-audit.sql"),
            workingTable: "operation.audit"
        ),
        Migration(
            version: 15,
            name: "v015-evidence-file",
            sql: text("v015-evidence-file.sql"),
            check: text("check-v015-evidence-file.sql")
        ),
        Migration(
            version: 16,
            name: "v016-apple-order",
            sql: text("v016-apple-order.sql"),
            check: text("check-v016-apple-order.sql"),
            workingTable: "operation.apple_order"
        ),
        Migration(
            version: 17,
            name: "v017-bounded-values",
            sql: text("v017-bounded-values.sql"),
            check: text("check-v017-bounded-values.sql")
        ),
        Migration(
            version: 18,
            name: "v018-proceeds-rate",
            sql: text("v018-proceeds-rate.sql"),
            check: text("check-v018-proceeds-rate.sql"),
            workingTable: "operation.proceeds_rate"
        ),
        Migration(
            version: 19,
            name: "v019-consumer",
            sql: text("v019-consumer.sql"),
            check: text("check-v019-consumer.sql"),
            workingTable: "operation.consumer"
        ),
        Migration(
            version: 20,
            name: "v020-webhook",
            sql: text("v020-webhook.sql"),
            check: text("check-v020-webhook.sql"),
            workingTable: "operation.webhook"
        ),
        Migration(
            version: 21,
            name: "v021-delivery",
            sql: text("v021-delivery.sql"),
            check: text("check-v021-delivery.sql"),
            workingTable: "operation.delivery"
        ),
        Migration(
            version: 22,
            name: "v022-relay",
            sql: text("v022-relay.sql"),
            check: text("check-v022-relay.sql"),
            workingTable: "operation.relay"
        ),
        Migration(
            version: 23,
            name: "v023-alert",
            sql: text("v023-alert.sql"),
            check: text("check-v023-alert.sql"),
            workingTable: "operation.alert"
        ),
        Migration(
            version: 24,
            name: "v024-consumer-stream",
            sql: text("v024-consumer-stream.sql"),
            check: text("check-v024-consumer-stream.sql"),
            workingTable: "operation.consumer"
        ),
        Migration(
            version: 25,
            name: "v025-consumption",
            sql: text("v025-consumption.sql"),
            check: text("check-v025-consumption.sql"),
            workingTable: "operation.consumption"
        ),
    ]

    private static func text(_ name: String) -> String {
        String(decoding: embeddedFile(name), as: UTF8.self)
    }
}
