public import Events
internal import LedgerSchema
public import Postgres

/// Brings a database's schema to this program's version; forward only.
public enum Migrator {
    /// One migration and whether the database has it.
    public struct Step: Hashable, Sendable {
        /// From 1.
        public let version: Int
        /// The name of its file, without the ending.
        public let name: String
        /// Whether the database has it.
        public let isApplied: Bool
    }

    /// How the tables of a new ledger are laid out.
    public struct Layout: Hashable, Sendable {
        /// Lanes of a new ledger; an existing one keeps its own.
        public var lanes: LaneCount?
        /// Hash partitions by lane of every table that has a lane; 0 for plain tables.
        ///
        /// It is the same schema, on which PostgreSQL itself refuses a key without lane.
        public var partitions: Int

        /// A layout; one lane and plain tables unless asked otherwise.
        public init(lanes: LaneCount? = nil, partitions: Int = 0) {
            self.lanes = lanes
            self.partitions = partitions
        }
    }

    /// The newest version this program knows.
    public static var newestVersion: Int { Schema.migrations.count }

    /// Applies what is missing, in one transaction; returns what was applied.
    ///
    /// - Parameters:
    ///   - settings: A database whose user may create roles and schemas, or owns the ledger.
    ///   - layout: Used for a new ledger. Asking an existing one for other lanes is an error.
    ///   - isDryRun: Do all of it and roll back.
    /// - Returns: The migrations that were missing.
    /// - Throws: `notUTF8`, `schemaTooNew`, `migrationEdited`, `laneCountFixed`, `permissionDenied` ….
    public static func migrate(
        _ settings: ConnectionSettings,
        _ layout: Layout = Layout(),
        isDryRun: Bool = false
    ) async throws(EventLogError) -> [Step] {
        do {
            let session = try await PostgresSession.connect(settings)
            do {
                let applied = try await apply(layout, isDryRun: isDryRun, in: session)
                await session.close()
                return applied
            } catch {
                await session.close()
                throw error
            }
        } catch {
            throw EventLog.error(error, doing: "migrate")
        }
    }

    /// All migrations this program knows, with what the database has.
    public static func status(
        _ settings: ConnectionSettings
    ) async throws(EventLogError) -> [Step] {
        do {
            let session = try await PostgresSession.connect(settings)
            do {
                let applied = try await session.atomically(.readOnlySnapshot) { session -> Int in
                    guard try isThere("ledger.migration", in: session) else { return 0 }
                    return try checkedVersion(of: session)
                }
                await session.close()
                return Schema.migrations.map {
                    Step(version: $0.version, name: $0.name, isApplied: $0.version <= applied)
                }
            } catch {
                await session.close()
                throw error
            }
        } catch {
            throw EventLog.error(error, doing: "read the state of the schema")
        }
    }

    /// The identity of a ledger whose schema is exactly this program's.
    ///
    /// Reads only, so that a standby can be asked.
    static func identity(of session: PostgresSession) async throws -> LedgerIdentity {
        try await session.atomically(.readOnlySnapshot) { session -> LedgerIdentity in
            guard try isThere("ledger.migration", in: session),
                try isThere("ledger.ledger_config", in: session)
            else {
                throw EventLogError(
                    .notMigrated,
                    "this database has no ledger; run `subledger migrate`"
                )
            }
            let version = try checkedVersion(of: session)
            guard version == newestVersion else {
                throw EventLogError(
                    .schemaTooOld,
                    "the schema has version \(version), this program needs \(newestVersion); "
                        + "run `subledger migrate`"
                )
            }
            return try readIdentity(session)
        }
    }
}

extension Migrator {

    private static func apply(
        _ layout: Layout,
        isDryRun: Bool,
        in session: PostgresSession
    ) async throws -> [Step] {
        do {
            return try await session.atomically { session -> [Step] in
                try requireUTF8(session)
                // One migrator of a database at a time; the number spells "Subled".
                try session.execute("SELECT pg_advisory_xact_lock(x'5375626c6564'::bigint)")
                try session.execute(Schema.bootstrap)
                let applied = try checkedVersion(of: session)
                let lanes = try laneCount(layout, isNew: applied == 0, in: session)
                let pending = Schema.migrations.filter { $0.version > applied }
                let partitions =
                    applied == 0 ? layout.partitions : try partitionCount(session)
                for function in Schema.functionsBefore {
                    try session.execute(function.replacing("{{lanes}}", with: "\(lanes.value)"))
                }
                for migration in pending {
                    try apply(migration, lanes: lanes, partitions: partitions, in: session)
                }
                for function in Schema.functionsAfter { try session.execute(function) }
                try session.execute("SELECT ledger.guard_append_only()")
                for migration in pending { try session.execute(migration.check) }
                let steps = pending.map {
                    Step(version: $0.version, name: $0.name, isApplied: true)
                }
                if isDryRun { throw DryRun(steps: steps) }
                return steps
            }
        } catch let dryRun as DryRun {
            return dryRun.steps
        }
    }

    private static func requireUTF8(_ session: isolated PostgresSession) throws {
        let encoding = try session.query("SHOW server_encoding")[0].text(0)
        guard encoding == "UTF8" else {
            throw EventLogError(
                .notUTF8,
                "this database has the encoding \(encoding), and a ledger needs UTF8, in which "
                    + "Apple writes; make another: CREATE DATABASE … TEMPLATE template0 ENCODING "
                    + "'UTF8'"
            )
        }
    }

    /// Rolls a dry run back.
    private struct DryRun: Error {
        let steps: [Step]
    }

    private static func apply(
        _ migration: Schema.Migration,
        lanes: LaneCount,
        partitions: Int,
        in session: isolated PostgresSession
    ) throws {
        let byLane = partitions > 0 ? "PARTITION BY HASH (lane)" : ""
        try session.execute(migration.sql.replacing("/* by lane */", with: byLane))
        if partitions > 0 { try session.execute(partitionSQL(count: partitions)) }
        if migration.version == 1 {
            _ = try session.query(
                """
                INSERT INTO ledger.ledger_config (ledger_id, lanes, format_version, created_at)
                VALUES (gen_random_uuid(), $1, $2, date_trunc('milliseconds', now()))
                """,
                [.int4(Int32(lanes.value)), .int4(Int32(LedgerIdentity.format))]
            )
            try session.execute(
                "INSERT INTO ledger.lane SELECT generate_series(0, \(lanes.value - 1))"
            )
        }
        _ = try session.query(
            "INSERT INTO ledger.migration (version, name, checksum) VALUES ($1, $2, $3)",
            [
                .int4(Int32(migration.version)), .text(migration.name),
                .text(checksum(of: migration)),
            ]
        )
    }

    // Partitions carry the constraints and indexes of their parent; storage is their own.
    private static func partitionSQL(count: Int) -> String {
        """
        DO $$
        DECLARE
            parent pg_class;
        BEGIN
            FOR parent IN SELECT * FROM pg_class c
                WHERE c.relnamespace = 'ledger'::regnamespace AND c.relkind = 'p'
                    AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhparent = c.oid)
            LOOP
                FOR remainder IN 0..\(count - 1) LOOP
                    EXECUTE format(
                        'CREATE TABLE ledger.%I PARTITION OF ledger.%I '
                        'FOR VALUES WITH (MODULUS \(count), REMAINDER %s)',
                        parent.relname || '_p' || remainder, parent.relname, remainder);
                END LOOP;
            END LOOP;
        END
        $$
        """
    }

    private static func partitionCount(_ session: isolated PostgresSession) throws -> Int {
        let rows = try session.query(
            "SELECT count(*) FROM pg_inherits WHERE inhparent = 'ledger.event'::regclass",
            []
        )
        return Int(try rows[0].int8(0))
    }

    private static func laneCount(
        _ layout: Layout,
        isNew: Bool,
        in session: isolated PostgresSession
    ) throws -> LaneCount {
        if isNew { return layout.lanes ?? .one }
        let lanes = try readIdentity(session).lanes
        guard let wanted = layout.lanes, wanted != lanes else { return lanes }
        throw EventLogError(
            .laneCountFixed,
            "this ledger has \(lanes.value) lane\(lanes.value == 1 ? "" : "s"), and "
                + "\(wanted.value) were asked for; the number "
                + "is fixed for ever, because positions are. Make a new ledger and ingest into it"
        )
    }

    private static func readIdentity(
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
                "ledger.ledger_config must hold one row of format \(LedgerIdentity.format)"
            )
        }
        return LedgerIdentity(
            ledgerId: try rows[0].bytea(0),
            lanes: lanes,
            formatVersion: format
        )
    }

    private static func isThere(
        _ table: String,
        in session: isolated PostgresSession
    ) throws -> Bool {
        let rows = try session.query("SELECT to_regclass($1) IS NOT NULL", [.text(table)])
        return try rows[0].bool(0)
    }

    /// The number of migrations that were applied, after comparing each with ours.
    private static func checkedVersion(of session: isolated PostgresSession) throws -> Int {
        let rows = try session.query(
            "SELECT version, name, checksum FROM ledger.migration ORDER BY version",
            []
        )
        for row in 0..<rows.count {
            let (version, name) = (Int(try rows[row].int4(0)), try rows[row].text(1))
            guard version <= newestVersion else {
                throw EventLogError(
                    .schemaTooNew,
                    "the database has migration \(version) (\(name)), this program knows up to "
                        + "\(newestVersion); use a newer subledger"
                )
            }
            let ours = Schema.migrations[row]
            guard version == ours.version, name == ours.name,
                try rows[row].text(2) == checksum(of: ours)
            else {
                throw EventLogError(
                    .migrationEdited,
                    "migration \(version) of the database (\(name)) is not the \(ours.name) that "
                        + "this program knows; a migration is never edited once applied. Use the "
                        + "subledger that made this ledger"
                )
            }
        }
        return rows.count
    }

    private static func checksum(of migration: Schema.Migration) -> String {
        Digest.of(Array((migration.sql + migration.check).utf8)).hex
    }
}
