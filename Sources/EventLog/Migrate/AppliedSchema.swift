internal import Events
internal import LedgerSchema
internal import Postgres

/// Reads what a database records about its ledger.
enum AppliedSchema {
    /// The number of migrations that were applied, after comparing each with ours; 0 if the
    /// database has no ledger.
    static func version(
        of session: isolated PostgresSession,
        among migrations: [Schema.Migration]
    ) throws -> Int {
        guard try isThere("ledger.migration", in: session) else { return 0 }
        let rows = try session.query(
            "SELECT version, name, checksum FROM ledger.migration ORDER BY version",
            []
        )

        for row in 0..<rows.count {
            let (version, name) = (Int(try rows[row].int4(0)), try rows[row].text(1))
            guard version <= migrations.count else {
                throw EventLogError(
                    .schemaTooNew,
                    "the database has migration \(version) (\(name)), but this program knows only "
                        + "migrations up to \(migrations.count); use a newer subledger"
                )
            }
            guard version == row + 1 else {
                throw EventLogError(
                    .migrationEdited,
                    "ledger.migration must contain the versions 1, 2, 3 …, each once; its row "
                        + "\(row + 1) is version \(version) (\(name)). Restore the table from a backup"
                )
            }
            let ours = migrations[row]
            guard name == ours.name, try rows[row].text(2) == checksum(of: ours) else {
                throw EventLogError(
                    .migrationEdited,
                    "migration \(version) of the database (\(name)) is not the \(ours.name) that "
                        + "this program knows; a migration is never edited once applied. Use the "
                        + "subledger that created this ledger"
                )
            }
        }
        return rows.count
    }

    /// The checksum that reveals an edited migration.
    static func checksum(of migration: Schema.Migration) -> String {
        Digest.of(Array((migration.sql + migration.check).utf8)).hex
    }

    /// The unchangeable properties of the ledger.
    static func identity(
        _ session: isolated PostgresSession
    ) throws -> LedgerIdentity {
        let rows = try session.query(
            """
            SELECT decode(replace(ledger_id::text, '-', ''), 'hex'), lanes, format_version
            FROM ledger.ledger_config
            """,
            []
        )
        guard rows.count == 1, let lanes = LaneCount(Int(try rows[0].int4(1))),
            case let format = Int(try rows[0].int4(2)), format == LedgerIdentity.format
        else {
            throw EventLogError(
                .malformedLog,
                "ledger.ledger_config must contain exactly one row, of format "
                    + "\(LedgerIdentity.format); use the subledger that created this ledger, or "
                    + "restore the row from a backup"
            )
        }
        return LedgerIdentity(
            ledgerId: try rows[0].bytea(0),
            lanes: lanes,
            formatVersion: format
        )
    }

    /// Whether a table with that name exists.
    static func isThere(
        _ table: String,
        in session: isolated PostgresSession
    ) throws -> Bool {
        let rows = try session.query("SELECT to_regclass($1) IS NOT NULL", [.text(table)])
        return try rows[0].bool(0)
    }

    /// The applied migrations whose working table was lost: only the schema `ledger` was restored,
    /// or a table was dropped.
    static func lost(
        among migrations: [Schema.Migration],
        in session: isolated PostgresSession
    ) throws -> [Schema.Migration] {
        guard try isThere("ledger.migration", in: session) else { return [] }
        let applied = try session.query("SELECT version FROM ledger.migration").map {
            Int(try $0.int4(0))
        }
        return try migrations.filter { migration in
            guard applied.contains(migration.version), let table = migration.workingTable else {
                return false
            }
            return try !isThere(table, in: session)
        }
    }

    /// The number of partitions of the tables; 0 for plain tables.
    static func partitionCount(_ session: isolated PostgresSession) throws -> Int {
        let rows = try session.query(
            "SELECT count(*) FROM pg_inherits WHERE inhparent = 'ledger.event'::regclass",
            []
        )
        return Int(try rows[0].int8(0))
    }
}
