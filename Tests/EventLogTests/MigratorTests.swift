import EventLog
import Events
import Postgres
import Synchronization
import TestSupport
import Testing

/// Bringing a database to this program's schema, or refusing to.
@Suite(.enabled { await TestServer.isAvailable })
struct MigratorTests {
    @Test(arguments: Variant.all)
    func `a fresh database is migrated once and then left alone`(variant: Variant) async throws {
        try await TestServer.shared.withDatabase { settings in
            let before = try await Migrator.status(settings)
            #expect(before.map(\.isApplied) == [Bool](repeating: false, count: before.count))
            #expect(before.count == Migrator.newestVersion)
            let applied = try await Migrator.migrate(settings, variant.layout).applied
            #expect(applied.map(\.version) == Array(1...Migrator.newestVersion))
            let identity = try await identity(settings)
            #expect(identity.lanes == variant.lanes)
            let catalog = try await Self.catalog(settings)

            // For an existing ledger the layout may be left out.
            let again = try await Migrator.migrate(settings)
            #expect(again.isEmpty)
            let same = try await Migrator.migrate(settings, variant.layout)
            #expect(same.isEmpty)
            let (identityAfter, catalogAfter) = (
                try await self.identity(settings), try await Self.catalog(settings)
            )
            #expect(identityAfter == identity)
            #expect(catalogAfter == catalog)
            let after = try await Migrator.status(settings)
            #expect(after == applied)
        }
    }

    @Test func `a dry run reports what it would do and changes nothing`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let steps = try await Migrator.migrate(settings, isDryRun: true).applied
            #expect(steps.map(\.version) == Array(1...Migrator.newestVersion))
            let left = try await Inspector.inspect(settings) { inspector in
                try await inspector.number(
                    "SELECT count(*) FROM pg_namespace WHERE nspname IN ('ledger', 'operation')"
                )
            }
            #expect(left == 0)
            await expect(.notMigrated) { _ = try await EventLog.open(settings, .test()) }
        }
    }

    @Test func `concurrent migrators create one ledger`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let applied = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<3 {
                    group.addTask { try await Migrator.migrate(settings).applied.count }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(applied.sorted() == [0, 0, Migrator.newestVersion])
            let log = try await EventLog.open(settings, .test())
            _ = try await log.append(verified(TestFacts.transaction()))
            try await expectSound(log, settings)
            await log.close()
        }
    }

    @Test func `a database without a ledger gets its own error`() async throws {
        try await TestServer.shared.withDatabase { settings in
            await expect(.notMigrated) { _ = try await EventLog.open(settings, .test()) }
        }
    }

    @Test func `every operation refuses a newer schema`() async throws {
        try await Variant.plain.withDatabase { settings in
            try await change(
                settings,
                "INSERT INTO ledger.migration (version, name, checksum) VALUES (99, 'v099', 'x')"
            )
            await expect(.schemaTooNew) { _ = try await Migrator.migrate(settings) }
            await expect(.schemaTooNew) { _ = try await Migrator.status(settings) }
            await expect(.schemaTooNew) { _ = try await EventLog.open(settings, .test()) }
        }
    }

    @Test func `an older schema is refused until it is migrated`() async throws {
        try await Variant.plain.withDatabase { settings in
            try await change(settings, "DELETE FROM ledger.migration")
            await expect(.schemaTooOld) { _ = try await EventLog.open(settings, .test()) }
        }
    }

    @Test func `a migration that is recorded twice is named`() async throws {
        try await Variant.plain.withDatabase { settings in
            try await change(
                settings,
                """
                ALTER TABLE ledger.migration DROP CONSTRAINT migration_pkey;
                INSERT INTO ledger.migration SELECT * FROM ledger.migration
                ORDER BY version DESC LIMIT 1
                """
            )
            await expect(.migrationEdited) { _ = try await Migrator.migrate(settings) }
            await expect(.migrationEdited) { _ = try await EventLog.open(settings, .test()) }
        }
    }

    @Test(arguments: ["checksum = 'x'", "name = 'v001-other'", "version = 0", "version = -7"])
    func `a migration that was edited after it was applied is refused`(
        change: String
    ) async throws {
        try await Variant.plain.withDatabase { settings in
            try await self.change(
                settings,
                "UPDATE ledger.migration SET \(change) WHERE version = 1"
            )
            await expect(.migrationEdited) { _ = try await Migrator.migrate(settings) }
            await expect(.migrationEdited) { _ = try await Migrator.status(settings) }
            await expect(.migrationEdited) { _ = try await EventLog.open(settings, .test()) }
        }
    }

    @Test(arguments: Variant.all)
    func `the number of lanes can never change`(variant: Variant) async throws {
        try await variant.withDatabase { settings in
            let others = [1, 2, 4, 1024].compactMap { LaneCount($0) }
            for other in others where other != variant.lanes {
                await expect(.laneCountFixed) {
                    _ = try await Migrator.migrate(settings, Migrator.Layout(lanes: other))
                }
            }
            let identity = try await identity(settings)
            #expect(identity.lanes == variant.lanes)
        }
    }

    @Test func `a migration that does not set the number of lanes announces the default`()
        async throws
    {
        try await TestServer.shared.withDatabase { settings in
            let said = Mutex<[String]>([])
            let notice = { @Sendable (text: String) in said.withLock { $0.append(text) } }
            // A busy machine may also report that it waits for the previous migration.
            let ofLanes = { said.withLock { $0.filter { $0.contains("--lanes") } } }
            _ = try await Migrator.migrate(settings, isDryRun: true, notice: notice)
            let first = ofLanes()
            #expect(first.count == 1)
            #expect(first[0].contains("1 lane"), "\(first)")
            _ = try await Migrator.migrate(settings, .init(lanes: .one), notice: notice)
            _ = try await Migrator.migrate(settings, notice: notice)
            #expect(ofLanes().count == 1)
        }
    }

    @Test func `a login that may not create a schema gets a permission error`() async throws {
        try await TestServer.shared.withDatabase { settings in
            var poor = settings
            poor.role = "pg_monitor"
            await expect(.permissionDenied) { _ = try await Migrator.migrate(poor) }
        }
    }

    @Test func `a database of another encoding is refused with its own error`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            let name = try await session.query("SELECT current_database() || '_latin1'")[0].text(0)
            try await session.execute(
                """
                CREATE DATABASE \(name) TEMPLATE template0 ENCODING 'LATIN1'
                    LC_COLLATE 'C' LC_CTYPE 'C'
                """
            )
            var latin = settings
            latin.database = name
            await expect(.notUTF8) { _ = try await Migrator.migrate(latin) }
            try await session.execute("DROP DATABASE \(name) WITH (FORCE)")
            await session.close()
        }
    }

    private func identity(_ settings: ConnectionSettings) async throws -> LedgerIdentity {
        let log = try await EventLog.open(settings, .test())
        let identity = log.identity
        await log.close()
        return identity
    }

    private func change(_ settings: ConnectionSettings, _ sql: String) async throws {
        try await Inspector.inspect(settings) { inspector in
            try await inspector.session.execute("\(Tampering.begin) \(sql)")
        }
    }

    /// Everything in the schema, by name and definition.
    private static func catalog(_ settings: ConnectionSettings) async throws -> [String] {
        try await Inspector.inspect(settings) { inspector in
            try await inspector.texts(
                """
                SELECT relname || ' ' || relkind::text || ' ' || coalesce(relacl::text, '')
                FROM pg_class WHERE relnamespace = 'ledger'::regnamespace
                UNION ALL SELECT proname || prosrc FROM pg_proc
                WHERE pronamespace = 'ledger'::regnamespace
                UNION ALL SELECT tgname || tgrelid::regclass FROM pg_trigger ORDER BY 1
                """
            )
        }
    }
}

/// Expects that an operation on the log fails with this code.
func expect(
    _ code: EventLogError.Code,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async {
    let error = await #expect(throws: EventLogError.self, sourceLocation: sourceLocation) {
        try await body()
    }
    #expect(error?.code == code, "\(String(describing: error))", sourceLocation: sourceLocation)
}
