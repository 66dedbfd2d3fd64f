internal import Events
internal import LedgerSchema
internal import Postgres

/// One run of the migrator.
struct MigrationRun: Sendable {
    let migrations: [Schema.Migration]
    let layout: Migrator.Layout
    let isDryRun: Bool
    let lockTimeoutSeconds: Int
    let notice: @Sendable (String) -> Void

    /// Compares, and changes what differs.
    func run(in session: PostgresSession) async throws -> Migrator.Changes {
        try await takeTurn(session)
        // For every statement of the session: what a migration reads can be locked as well as what it
        // changes.
        try await session.execute("SET lock_timeout = '\(lockTimeoutSeconds)s'")
        do {
            var changes = try await change(session)
            changes.distributed = try await distribute(session)
            let building = IndexBuilding(
                migrations: migrations,
                lockTimeoutSeconds: lockTimeoutSeconds,
                notice: notice
            )
            changes.indexed += try await building.run(isDryRun: isDryRun, in: session)
            return changes
        } catch let error as PostgresError where error.sqlState == "55P03" {
            throw try await LockHolders.refusal(after: lockTimeoutSeconds, in: session)
        }
    }

    // One migrator per database at a time, until its session ends. It polls for the lock, because
    // waiting for it would hold a transaction open, which a concurrent index build waits for.
    private func takeTurn(_ session: PostgresSession) async throws {
        var isNotified = false
        while !(try await session.query(MigrationRun.tryLock).single().bool(0)) {
            if !isNotified {
                notice("another `migrate` of this database is running; waiting for it")
            }
            isNotified = true
            try await Task.sleep(for: MigrationRun.turnPause)
        }
    }

    /// The number spells "Subled".
    private static let tryLock = "SELECT pg_try_advisory_lock(x'5375626c6564'::bigint)"

    private static let turnPause = Duration.milliseconds(100)

    // Each step stands alone: the next run continues where this one was interrupted.
    private func distribute(_ session: PostgresSession) async throws -> [String] {
        let steps: [@Sendable (Distribution, isolated PostgresSession) throws -> Void] = [
            { try $0.distributeLanes(in: $1) }, { try $0.split(in: $1) },
            { try $0.distributeTables(in: $1) },
        ]
        var missing: [String] = []
        for (index, step) in steps.enumerated() {
            let found = try await session.atomically { session -> [String] in
                try session.execute(MigrationRun.settings)
                guard let distribution = try distribution(in: session) else { return [] }
                if !isDryRun, !distribution.missing.isEmpty { try step(distribution, session) }
                return distribution.missing
            }
            if index == 0 { missing = found }
        }
        if !isDryRun { try await listIds(session) }
        let unguarded = try await session.atomically { session in
            try Distribution.unguardedShards(in: session)
        }
        for shard in unguarded {
            notice(
                "not repaired: \(shard) differ from those of the table; compare them in \\d of both, "
                    + "and create or enable the missing ones on the shard"
            )
        }
        return missing
    }

    // Again for lanes where an append did not announce its commit yet.
    private func listIds(_ session: PostgresSession) async throws {
        for _ in 0..<MigrationRun.listingsMax {
            let found = try await session.atomically {
                session -> (LaneDirectory.Unlisted, LedgerIdentity)? in
                try session.execute(MigrationRun.settings)
                guard let distribution = try distribution(in: session) else {
                    if try AppliedSchema.isThere("operation.lookup_lane", in: session) {
                        try LaneDirectory.close(in: session)
                    }
                    return nil
                }
                if !distribution.unlistedLanes.lanes.isEmpty {
                    try LaneDirectory.open(distribution.lanes, in: session)
                }
                return (distribution.unlistedLanes, try AppliedSchema.identity(session))
            }
            guard let (unlisted, identity) = found else { return }
            if !unlisted.unconfirmed.isEmpty {
                try await LaneDirectory.confirm(unlisted.unconfirmed, in: session)
            }
            guard !unlisted.lanes.isEmpty else { return }
            for lane in unlisted.lanes {
                try await LaneDirectory.fill(lane, of: identity, in: session)
            }
        }
    }

    private static let listingsMax = 3

    // In a dry run, a new ledger does not exist.
    private func distribution(in session: isolated PostgresSession) throws -> Distribution? {
        guard try AppliedSchema.isThere("ledger.ledger_config", in: session) else { return nil }
        let identity = try AppliedSchema.identity(session)
        return try Distribution(isAsked: layout.isDistributed, identity, in: session)
    }

    // An operator's own, or what someone has put where names of the log are looked up: dropping it
    // is the operator's decision.
    private func reportFurther(
        than ours: [FunctionSource],
        in session: isolated PostgresSession
    ) throws {
        for name in try FunctionSource.further(than: ours, in: session) {
            notice("not repaired: further function \(name); DROP it, or move it to another schema")
        }
    }

    private func change(_ session: PostgresSession) async throws -> Migrator.Changes {
        do {
            return try await session.atomically { session in
                try session.execute(MigrationRun.settings)
                try requireUTF8(session)
                let applied = try AppliedSchema.version(of: session, among: migrations)
                if layout.isDistributed {
                    try Distribution.requireCluster(layout, in: session)
                }
                let lanes = try laneCount(isNew: applied == 0, in: session)
                let pending = migrations.filter { $0.version > applied }
                let found = try SchemaDifference.all(
                    withDefinitions: pending.isEmpty,
                    in: session
                )
                let functions = try FunctionSource.before(lanes: lanes) + FunctionSource.after
                let replaced = try functions.filter { try !$0.isThere(in: session) }
                try reportFurther(than: functions, in: session)
                let lost = try AppliedSchema.lost(among: migrations, in: session)

                var changes = Migrator.Changes()
                guard !(found.isEmpty && replaced.isEmpty && pending.isEmpty && lost.isEmpty)
                else { return changes }
                if applied > 0 {
                    changes.mended =
                        found.map(\.what) + replaced.map { "function \($0.name)" }
                        + Set(lost.compactMap(\.workingTable)).sorted().map { "table \($0)" }
                }
                try apply(pending, lost, onto: applied, lanes, in: session)
                changes.applied = pending.map {
                    Migrator.Step(version: $0.version, name: $0.name, isApplied: true)
                }
                if isDryRun { throw DryRun(changes: changes) }
                return changes
            }
        } catch let dryRun as DryRun {
            return dryRun.changes
        }
    }

    // Names are compared as text. On Citus, the guards of the log must reach the shards; and
    // roles, tables and triggers that a transaction creates are visible to only one connection on
    // each server.
    static let settings = """
        SET LOCAL quote_all_identifiers = off;
        SET LOCAL client_min_messages = warning;
        SET LOCAL citus.enable_unsafe_triggers = on;
        SET LOCAL citus.multi_shard_modify_mode = 'sequential'
        """

    /// Rolls a dry run back.
    private struct DryRun: Error {
        let changes: Migrator.Changes
    }

    private func requireUTF8(_ session: isolated PostgresSession) throws {
        let encoding = try session.query("SHOW server_encoding")[0].text(0)
        guard encoding == "UTF8" else {
            throw EventLogError(
                .notUTF8,
                "this database has the encoding \(encoding), but a ledger needs UTF8, the encoding "
                    + "of Apple's payloads. Create another database: CREATE DATABASE … TEMPLATE "
                    + "template0 ENCODING 'UTF8'"
            )
        }
    }

    private func laneCount(
        isNew: Bool,
        in session: isolated PostgresSession
    ) throws -> LaneCount {
        if isNew { return layout.lanes ?? .one }
        let lanes = try AppliedSchema.identity(session).lanes
        guard let wanted = layout.lanes, wanted != lanes else { return lanes }
        throw EventLogError(
            .laneCountFixed,
            "this ledger has \(lanes.value) lane\(lanes.value == 1 ? "" : "s"), but "
                + "\(wanted.value) were requested. The number can never be changed, because "
                + "positions depend on it. For another number, create a new ledger and ingest "
                + "into it"
        )
    }

    private func apply(
        _ pending: [Schema.Migration],
        _ lost: [Schema.Migration],
        onto version: Int,
        _ lanes: LaneCount,
        in session: isolated PostgresSession
    ) throws {
        if version == 0, layout.lanes == nil { notice(MigrationRun.oneLane) }
        // Roles belong to the cluster: the first migrations of two databases may wait for each
        // other, and block nothing else. The statements after it wait for tables that others use.
        try session.execute("SET LOCAL lock_timeout = 0")
        try session.execute(Schema.bootstrap)
        try session.execute("SET LOCAL lock_timeout = '\(lockTimeoutSeconds)s'")
        let partitions =
            version == 0 ? layout.partitions : try AppliedSchema.partitionCount(session)

        for function in try FunctionSource.before(lanes: lanes) {
            try function.replace(in: session)
        }
        for migration in lost { try session.execute(migration.sql) }
        if lost.contains(where: { $0.workingTable == "operation.lookup_key" }) {
            try session.execute("UPDATE operation.lookup_lane SET is_complete = false")
        }
        for migration in pending {
            try apply(migration, onto: version, lanes, partitions, in: session)
        }
        for function in try FunctionSource.after { try function.replace(in: session) }

        // Tests migrate to other versions.
        let isNewest = migrations.count == Schema.migrations.count
        for difference in try SchemaDifference.all(withDefinitions: isNewest, in: session) {
            // Citus refuses several changes in one message, but not in one block.
            if let statements = difference.statements {
                try session.execute("DO $repair$ BEGIN \(statements); END $repair$")
            }
        }
        for difference in try SchemaDifference.all(withDefinitions: isNewest, in: session) {
            notice(
                "not repaired: \(difference.what); run `migrate` as a superuser, or as the role that "
                    + "made it"
            )
        }
        for migration in lost + pending { try session.execute(migration.check) }
    }

    private static let oneLane = """
        creating a new ledger with 1 lane. The number of lanes can never be changed: one lane is \
        right for one PostgreSQL server; `--lanes 256` creates a ledger that can later be spread \
        over several servers
        """

    private func apply(
        _ migration: Schema.Migration,
        onto version: Int,
        _ lanes: LaneCount,
        _ partitions: Int,
        in session: isolated PostgresSession
    ) throws {
        let byLane = partitions > 0 ? "PARTITION BY HASH (lane)" : ""
        try session.execute(migration.sql.replacing("/* by lane */", with: byLane))
        if partitions > 0 { try session.execute(MigrationRun.partitionSQL(count: partitions)) }
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
        // Nothing appends to a ledger that is being created.
        if version == 0 {
            for index in migration.indexes { try session.execute(index.statement()) }
        }

        _ = try session.query(
            "INSERT INTO ledger.migration (version, name, checksum) VALUES ($1, $2, $3)",
            [
                .int4(Int32(migration.version)), .text(migration.name),
                .text(AppliedSchema.checksum(of: migration)),
            ]
        )
    }

    // Partitions inherit the constraints and indexes of their parent, but not its storage options.
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
}
