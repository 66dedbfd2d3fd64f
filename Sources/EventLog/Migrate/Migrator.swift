package import Events
package import LedgerSchema
package import Postgres

/// Brings a database's schema to this program's version; forward only.
package enum Migrator {
    /// One migration and whether the database has it.
    package struct Step: Hashable, Sendable {
        /// From 1.
        package let version: Int
        /// The name of its file, without the suffix.
        package let name: String
        /// Whether the database has it.
        package let isApplied: Bool
    }

    /// How the tables of a new ledger are laid out.
    package struct Layout: Hashable, Sendable {
        /// Lanes of a new ledger; an existing one keeps its own.
        package var lanes: LaneCount?
        /// Hash partitions by lane of every table that has a lane; 0 for plain tables.
        ///
        /// With partitions, PostgreSQL itself refuses a key without the lane.
        package var partitions: Int
        /// Whether the tables are distributed by lane over the servers of a Citus cluster.
        ///
        /// A ledger that exists is moved with its rows. One that is distributed stays so.
        package var isDistributed: Bool

        /// A layout; the default is one lane and plain tables.
        package init(lanes: LaneCount? = nil, partitions: Int = 0, isDistributed: Bool = false) {
            self.lanes = lanes
            self.partitions = partitions
            self.isDistributed = isDistributed
        }
    }

    /// The newest version this program knows.
    package static var newestVersion: Int { Schema.migrations.count }

    /// What ``migrate(_:_:isDryRun:lockTimeoutSeconds:notice:)`` has changed.
    package struct Changes: Sendable {
        /// The migrations that were missing.
        package var applied: [Step] = []
        /// Roles, owners, privileges, triggers and functions of an existing ledger that differed
        /// from the required state, as text.
        package var mended: [String] = []
        /// Indexes of large tables that were missing, or left invalid by an interrupted run.
        package var indexed: [String] = []
        /// What was distributed over the servers of a Citus cluster, as text.
        package var distributed: [String] = []

        /// Whether there was nothing to do.
        package var isEmpty: Bool {
            applied.isEmpty && mended.isEmpty && indexed.isEmpty && distributed.isEmpty
        }
    }

    /// The default time to wait for a lock on a table, in seconds: appends wait behind it for as
    /// long.
    package static let lockTimeoutSecondsDefault = 2

    /// Brings the schema to this version, and roles, owners, privileges and triggers to the
    /// required state.
    ///
    /// Compares first, and changes only what differs, in one transaction: if nothing differs, it
    /// takes no lock that others wait for. Indexes of large tables are built after that
    /// transaction; the next run completes an interrupted one.
    ///
    /// - Parameters:
    ///   - settings: A database whose user may create roles and schemas, or owns the ledger.
    ///   - layout: Used for a new ledger. Asking an existing one for another number of lanes is an
    ///     error.
    ///   - isDryRun: Do all of it and roll back.
    ///   - lockTimeoutSeconds: How long to wait for a lock on a table that others use.
    ///   - notice: Receives sentences for the operator, before what they announce.
    /// - Returns: What was changed.
    /// - Throws: `notUTF8`, `schemaTooNew`, `migrationEdited`, `laneCountFixed`,
    ///   `notDistributable`, `permissionDenied`, `tableInUse` ….
    package static func migrate(
        _ settings: ConnectionSettings,
        _ layout: Layout = Layout(),
        isDryRun: Bool = false,
        lockTimeoutSeconds: Int = lockTimeoutSecondsDefault,
        notice: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws(EventLogError) -> Changes {
        let run = MigrationRun(
            migrations: Schema.migrations,
            layout: layout,
            isDryRun: isDryRun,
            lockTimeoutSeconds: lockTimeoutSeconds,
            notice: notice
        )
        return try await migrate(settings, run)
    }

    /// The same, up to the newest of other migrations, which begin with those of this program.
    package static func migrate(
        _ settings: ConnectionSettings,
        to migrations: [Schema.Migration],
        notice: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws(EventLogError) -> Changes {
        let run = MigrationRun(
            migrations: migrations,
            layout: Layout(),
            isDryRun: false,
            lockTimeoutSeconds: lockTimeoutSecondsDefault,
            notice: notice
        )
        return try await migrate(settings, run)
    }

    private static func migrate(
        _ settings: ConnectionSettings,
        _ run: MigrationRun
    ) async throws(EventLogError) -> Changes {
        do {
            return try await PostgresSession.using(settings) { try await run.run(in: $0) }
        } catch {
            throw EventLog.error(error, doing: "migrate")
        }
    }

    /// All migrations this program knows, with whether the database has each.
    package static func status(
        _ settings: ConnectionSettings
    ) async throws(EventLogError) -> [Step] {
        do {
            let applied = try await PostgresSession.using(settings) { session in
                try await session.atomically(.readOnlySnapshot) { session in
                    try session.execute("SET LOCAL lock_timeout = '\(lockTimeoutSecondsDefault)s'")
                    return try AppliedSchema.version(of: session, among: Schema.migrations)
                }
            }
            return Schema.migrations.map {
                Step(version: $0.version, name: $0.name, isApplied: $0.version <= applied)
            }
        } catch {
            throw EventLog.error(error, doing: "read the state of the schema")
        }
    }

    /// The identity of a ledger whose schema is exactly this program's.
    ///
    /// Only reads, so it also works on a standby.
    static func identity(of session: PostgresSession) async throws -> LedgerIdentity {
        try await session.atomically(.readOnlySnapshot) { session -> LedgerIdentity in
            guard try AppliedSchema.isThere("ledger.migration", in: session),
                try AppliedSchema.isThere("ledger.ledger_config", in: session)
            else {
                throw EventLogError(
                    .notMigrated,
                    "this database has no ledger; run `subledger migrate`"
                )
            }
            let version = try AppliedSchema.version(of: session, among: Schema.migrations)
            guard version == newestVersion else {
                throw EventLogError(
                    .schemaTooOld,
                    "the schema has version \(version), but this program needs \(newestVersion); "
                        + "run `subledger migrate`"
                )
            }
            return try AppliedSchema.identity(session)
        }
    }
}
