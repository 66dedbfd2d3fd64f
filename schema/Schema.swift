/// The SQL that makes a ledger, in the order in which it is applied.
///
/// No logic: the migrator in `EventLog` reads it. A migration that has shipped is never edited (its
/// checksum is kept in `ledger.migration`); functions are re-applied whole after every migration.
public enum Schema {
    /// One numbered, forward-only step.
    public struct Migration: Sendable {
        /// From 1, without holes.
        public let version: Int
        /// File name without its ending.
        public let name: String
        /// The step.
        public let sql: String
        /// Assertions that hold after it.
        public let check: String
    }

    /// Schema, roles and the list of migrations; applied before everything else.
    public static let bootstrap = text(PackageResources.bootstrap_sql)

    /// Functions that tables refer to; applied before the migrations.
    public static let functionsBefore = [
        text(PackageResources.lane_of_sql), text(PackageResources.refuse_change_sql),
        text(PackageResources.content_fields_sql),
    ]

    /// Functions that refer to tables; applied after the migrations.
    public static let functionsAfter = [text(PackageResources.guard_append_only_sql)]

    /// The migrations, oldest first.
    public static let migrations = [
        Migration(
            version: 1,
            name: "v001-event-log",
            sql: text(PackageResources.v001_event_log_sql),
            check: text(PackageResources.check_v001_event_log_sql)
        ),
        Migration(
            version: 2,
            name: "v002-rejection",
            sql: text(PackageResources.v002_rejection_sql),
            check: text(PackageResources.check_v002_rejection_sql)
        ),
        Migration(
            version: 3,
            name: "v003-ingestion",
            sql: text(PackageResources.v003_ingestion_sql),
            check: text(PackageResources.check_v003_ingestion_sql)
        ),
        Migration(
            version: 4,
            name: "v004-catalogue",
            sql: text(PackageResources.v004_catalogue_sql),
            check: text(PackageResources.check_v004_catalogue_sql)
        ),
        Migration(
            version: 5,
            name: "v005-customer-link",
            sql: text(PackageResources.v005_customer_link_sql),
            check: text(PackageResources.check_v005_customer_link_sql)
        ),
    ]

    private static func text(_ bytes: [UInt8]) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}
