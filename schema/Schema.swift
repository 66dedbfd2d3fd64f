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
        text(PackageResources.refuse_unless_blanked_sql),
        text(PackageResources.text_without_nul_sql), text(PackageResources.json_or_text_sql),
        text(PackageResources.content_fields_sql),
        text(PackageResources.refuse_orphan_sql),
    ]

    /// Functions that refer to tables; applied after the migrations.
    public static let functionsAfter = [
        text(PackageResources.repetitions_sql), text(PackageResources.erase_sql),
        text(PackageResources.guard_append_only_sql),
    ]

    /// The migrations, oldest first.
    public static let migrations = [
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
            check: text(PackageResources.check_v003_erasure_sql)
        ),
    ]

    private static func text(_ bytes: [UInt8]) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}
