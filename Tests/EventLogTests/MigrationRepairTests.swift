import EventLog
import LedgerSchema
import Postgres
import TestSupport
import Testing

/// What `migrate` does to a ledger that has all migrations: nothing, or it repairs only what
/// differs.
@Suite(.enabled { await TestServer.isAvailable })
struct MigrationRepairTests {
    @Test(arguments: Damage.all)
    func `only differences are repaired`(damage: Damage) async throws {
        try await damage.variant.withDatabase { settings in
            let before = try await Self.catalog(settings)
            try await Inspector.inspect(settings) { inspector in
                try await inspector.session.execute(damage.sql)
            }
            #expect(try await Self.catalog(settings) != before)
            let trial = try await Migrator.migrate(settings, isDryRun: true)
            #expect(trial.mended == damage.mended)
            let changes = try await Migrator.migrate(settings)
            #expect(changes.mended == damage.mended)
            #expect(changes.applied.isEmpty && changes.indexed.isEmpty)
            #expect(try await Migrator.migrate(settings).isEmpty)
            #expect(try await Self.catalog(settings) == before)
        }
    }

    @Test func `every key of a table of the log is among those that migrate compares`()
        async throws
    {
        try await Variant.plain.withDatabase { settings in
            try await Inspector.inspect(settings) { inspector in
                let keys = try await inspector.texts(
                    """
                    SELECT format('(''%s.%s'', ''%s''', n.nspname, c.relname, k.conname)
                    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
                    JOIN pg_namespace n ON n.oid = c.relnamespace
                    WHERE n.nspname IN ('ledger', 'operation') AND k.contype IN ('p', 'u')
                    """
                )
                #expect(keys.count > 20)
                for key in keys { #expect(Schema.differences.contains(key), "\(key)") }
            }
        }
    }

    @Test(arguments: Variant.extremes)
    func `with nothing to do migrate takes no lock that blocks readers or appends`(
        variant: Variant
    ) async throws {
        try await variant.withDatabase { settings in
            try await Inspector.inspect(settings) { inspector in
                let tables = try await inspector.texts(
                    """
                    SELECT c.oid::regclass::text FROM pg_class c
                    WHERE c.relkind IN ('r', 'p') AND c.relnamespace IN (
                        'ledger'::regnamespace, 'operation'::regnamespace)
                    """
                )
                // Others may also read all tables: the server reads their constraints under that
                // lock. With the catalogs locked, no DDL succeeds.
                try await inspector.session.execute(
                    """
                    BEGIN;
                    LOCK TABLE \(tables.joined(separator: ", ")) IN EXCLUSIVE MODE;
                    LOCK TABLE pg_class, pg_proc, pg_trigger, pg_namespace IN SHARE MODE
                    """
                )
                // Fails after a limit instead of waiting forever.
                var impatient = settings
                impatient.connectionString +=
                    settings.connectionString.contains("://")
                    ? "&options=-c%20statement_timeout%3D20s"
                    : " options='-c statement_timeout=20s'"
                let changes = try await Migrator.migrate(impatient)
                #expect(changes.isEmpty)
                try await inspector.session.execute("ROLLBACK")
            }
        }
    }

    @Test func `a table in use is left alone, and the error names who uses it`() async throws {
        try await Variant.plain.withDatabase { settings in
            var reading = settings
            reading.applicationName = "monthly report"
            try await Inspector.inspect(reading) { inspector in
                try await inspector.session.execute(
                    "ALTER TABLE ledger.event OWNER TO CURRENT_USER; "
                        + "ALTER TABLE ledger.commit OWNER TO CURRENT_USER"
                )
                let before = try await Self.catalog(settings)
                try await inspector.session.execute("BEGIN; SELECT count(*) FROM ledger.event")
                let error = await #expect(throws: EventLogError.self) {
                    _ = try await Migrator.migrate(settings, lockTimeoutSeconds: 1)
                }
                #expect(error?.code == .tableInUse)
                for words in [
                    "within 1 s", "monthly report", "AccessShareLock on ledger.event", "nothing",
                    "process \(try await inspector.number("SELECT pg_backend_pid()"))",
                    "subledger migrate", "--lock-timeout",
                ] {
                    #expect(error?.message.contains(words) == true, "\(words): \(error as Any)")
                }
                #expect(try await Self.catalog(settings) == before)
                try await inspector.session.execute("ROLLBACK")
                let changes = try await Migrator.migrate(settings, lockTimeoutSeconds: 1)
                #expect(changes.mended == ["owner of ledger.commit", "owner of ledger.event"])
            }
        }
    }

    /// Everything that `migrate` repairs, by name and definition.
    private static func catalog(_ settings: ConnectionSettings) async throws -> [String] {
        try await Inspector.inspect(settings) { inspector in
            try await inspector.texts(
                """
                SELECT concat_ws(' ', c.oid::regclass, c.relowner::regrole, c.relpersistence,
                    c.reloptions::text, (
                    SELECT string_agg(a::text, ',' ORDER BY a::text)
                    FROM unnest(coalesce(c.relacl, acldefault('r', c.relowner))) a), (
                    SELECT string_agg(t.attname || t.attacl::text, ',')
                    FROM pg_attribute t WHERE t.attrelid = c.oid AND t.attacl <> '{}'))
                FROM pg_class c WHERE c.relnamespace IN (
                    to_regnamespace('ledger')::oid, to_regnamespace('operation')::oid)
                UNION ALL SELECT concat_ws(' ', nspname, nspowner::regrole, (
                    SELECT string_agg(a::text, ',' ORDER BY a::text) FROM unnest(nspacl) a))
                FROM pg_namespace WHERE nspname IN ('ledger', 'operation')
                UNION ALL SELECT concat_ws(' ', pg_get_functiondef(oid), proowner::regrole,
                    obj_description(oid, 'pg_proc'))
                FROM pg_proc WHERE pronamespace = 'ledger'::regnamespace
                UNION ALL SELECT concat_ws(' ', tgrelid::regclass, pg_get_triggerdef(oid), tgenabled)
                FROM pg_trigger WHERE NOT tgisinternal
                UNION ALL SELECT concat_ws(' ', c.conrelid::regclass, c.conname,
                    pg_get_constraintdef(c.oid), i.indisunique, i.indisvalid)
                FROM pg_constraint c JOIN pg_index i ON i.indexrelid = c.conindid
                UNION ALL SELECT concat_ws(' ', oid::regclass, relrowsecurity, relforcerowsecurity)
                FROM pg_class WHERE relrowsecurity OR relforcerowsecurity
                UNION ALL SELECT polname FROM pg_policy
                UNION ALL SELECT conname FROM pg_constraint WHERE contype = 'c'
                    AND connamespace IN ('ledger'::regnamespace, 'operation'::regnamespace)
                UNION ALL SELECT tablename || ' ' || rulename FROM pg_rules
                WHERE schemaname = 'ledger'
                UNION ALL SELECT inhrelid::regclass || ' of ' || inhparent::regclass
                FROM pg_inherits
                ORDER BY 1
                """
            )
        }
    }
}
