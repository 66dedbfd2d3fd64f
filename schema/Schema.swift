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
        /// The table of schema `operation` that is all it creates, with its schema; nil for others.
        ///
        /// Unlike the log it may be lost, and is created again.
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
    package static let bootstrap = text(PackageResources.bootstrap_sql)

    /// Finds what differs from the roles, owners, privileges, triggers and storage options that a
    /// ledger must have.
    ///
    /// It only reads. Each row contains what differs and the statement that repairs it, or NULL if
    /// ``bootstrap`` does.
    package static let differences = text(PackageResources.differences_sql)

    /// Finds how the columns and CHECK constraints of tables differ from those of ``snapshot``; with
    /// the same columns as ``differences``.
    package static let definitions = text(PackageResources.definitions_sql)

    /// The result of all migrations, as pg_dump prints it.
    package static let snapshot = text(PackageResources.snapshot_sql)

    /// Functions that tables refer to; applied before the migrations.
    package static let functionsBefore = [
        text(PackageResources.lane_of_sql), text(PackageResources.is_erasing_sql),
        text(PackageResources.refuse_change_sql),
        text(PackageResources.refuse_unless_blanked_sql),
        text(PackageResources.text_without_nul_sql), text(PackageResources.json_or_text_sql),
        text(PackageResources.content_fields_sql), text(PackageResources.content_text_sql),
        text(PackageResources.refuse_orphan_sql), text(PackageResources.refuse_unproven_sql),
        text(PackageResources.is_other_clock_sql), text(PackageResources.refuse_unchained_sql),
        text(PackageResources.refuse_other_clock_sql),
        text(PackageResources.refuse_unaccounted_sql),
    ]

    /// Functions that refer to tables; applied after the migrations.
    package static let functionsAfter = [
        text(PackageResources.repetitions_sql), text(PackageResources.erase_sql),
        text(PackageResources.forget_rejections_sql),
        text(PackageResources.forget_audits_sql),
    ]

    /// The migrations, oldest first.
    package static let migrations = [
        Migration(
            version: 1,
            name: "v001-ledger",
            sql: text(PackageResources.v001_ledger_sql),
            check: text(PackageResources.check_v001_ledger_sql)
        ),
        Migration(
            version: 2,
            name: "v002-checkpoint",
            sql: text(PackageResources.v002_checkpoint_sql),
            check: text(PackageResources.check_v002_checkpoint_sql)
        ),
        Migration(
            version: 3,
            name: "v003-erasure",
            sql: text(PackageResources.v003_erasure_sql),
            check: text(PackageResources.check_v003_erasure_sql),
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
            sql: text(PackageResources.v004_continuation_sql),
            check: text(PackageResources.check_v004_continuation_sql),
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
            sql: text(PackageResources.v005_rejection_sql),
            check: text(PackageResources.check_v005_rejection_sql),
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
            sql: text(PackageResources.v006_rejection_arrival_sql),
            check: text(PackageResources.check_v006_rejection_arrival_sql)
        ),
        Migration(
            version: 7,
            name: "v007-currency-rate",
            sql: text(PackageResources.v007_currency_rate_sql),
            check: text(PackageResources.check_v007_currency_rate_sql),
            workingTable: "operation.currency_rate"
        ),
        Migration(
            version: 8,
            name: "v008-newest-signature",
            sql: text(PackageResources.v008_newest_signature_sql),
            check: text(PackageResources.check_v008_newest_signature_sql),
            workingTable: "operation.newest_signature"
        ),
        Migration(
            version: 9,
            name: "v009-lookup-key",
            sql: text(PackageResources.v009_lookup_key_sql),
            check: text(PackageResources.check_v009_lookup_key_sql),
            workingTable: "operation.lookup_key"
        ),
        Migration(
            version: 10,
            name: "v010-lookup-lane",
            sql: text(PackageResources.v010_lookup_lane_sql),
            check: text(PackageResources.check_v010_lookup_lane_sql),
            workingTable: "operation.lookup_lane"
        ),
        Migration(
            version: 11,
            name: "v011-repair",
            sql: text(PackageResources.v011_repair_sql),
            check: text(PackageResources.check_v011_repair_sql)
        ),
        Migration(
            version: 12,
            name: "v012-rejection-standing",
            sql: text(PackageResources.v012_rejection_standing_sql),
            check: text(PackageResources.check_v012_rejection_standing_sql)
        ),
        Migration(
            version: 13,
            name: "v013-token-limit",
            sql: text(PackageResources.v013_token_limit_sql),
            check: text(PackageResources.check_v013_token_limit_sql)
        ),
        Migration(
            version: 14,
            name: "v014-audit",
            sql: text(PackageResources.v014_audit_sql),
            check: text(PackageResources.check_v014_audit_sql),
            workingTable: "operation.audit"
        ),
        Migration(
            version: 15,
            name: "v015-evidence-file",
            sql: text(PackageResources.v015_evidence_file_sql),
            check: text(PackageResources.check_v015_evidence_file_sql)
        ),
        Migration(
            version: 16,
            name: "v016-apple-order",
            sql: text(PackageResources.v016_apple_order_sql),
            check: text(PackageResources.check_v016_apple_order_sql),
            workingTable: "operation.apple_order"
        ),
        Migration(
            version: 17,
            name: "v017-bounded-values",
            sql: text(PackageResources.v017_bounded_values_sql),
            check: text(PackageResources.check_v017_bounded_values_sql)
        ),
        Migration(
            version: 18,
            name: "v018-proceeds-rate",
            sql: text(PackageResources.v018_proceeds_rate_sql),
            check: text(PackageResources.check_v018_proceeds_rate_sql),
            workingTable: "operation.proceeds_rate"
        ),
        Migration(
            version: 19,
            name: "v019-consumer",
            sql: text(PackageResources.v019_consumer_sql),
            check: text(PackageResources.check_v019_consumer_sql),
            workingTable: "operation.consumer"
        ),
    ]

    private static func text(_ bytes: [UInt8]) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}
