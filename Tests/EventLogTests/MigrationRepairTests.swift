import EventLog
import LedgerSchema
import Postgres
import TestSupport
import Testing

/// What `migrate` does to a ledger that has all migrations: nothing, or it repairs only what
/// differs.
@Suite(.enabled { await TestServer.isAvailable })
struct MigrationRepairTests {
    /// What an owner or a superuser has changed, and what `migrate` repairs.
    struct Damage: Sendable, CustomTestStringConvertible {
        let sql: String
        let mended: [String]
        var variant = Variant.plain

        var testDescription: String { sql }
    }

    private static let damages = [
        Damage(
            sql: "DROP TRIGGER append_only_statement ON ledger.event",
            mended: ["trigger of ledger.event"]
        ),
        Damage(
            sql: "ALTER TABLE ledger.commit DISABLE TRIGGER ALL",
            mended: ["chain trigger of ledger.commit", "trigger of ledger.commit"]
        ),
        Damage(
            sql: "ALTER TABLE ledger.evidence ENABLE TRIGGER append_only_statement",
            mended: ["trigger of ledger.evidence"]
        ),
        Damage(
            sql: """
                CREATE OR REPLACE TRIGGER append_only_statement BEFORE TRUNCATE ON ledger.event
                EXECUTE FUNCTION ledger.refuse_change()
                """,
            mended: ["trigger of ledger.event"]
        ),
        Damage(
            sql: "DROP TRIGGER append_only_insert ON ledger.evidence",
            mended: ["insert trigger of ledger.evidence"]
        ),
        Damage(
            sql: """
                CREATE OR REPLACE TRIGGER append_only_insert AFTER INSERT ON ledger.event
                FOR EACH ROW WHEN (false) EXECUTE FUNCTION ledger.refuse_change();
                ALTER TABLE ledger.event ENABLE ALWAYS TRIGGER append_only_insert
                """,
            mended: ["insert trigger of ledger.event"]
        ),
        Damage(
            sql: "DROP TRIGGER append_only_proof ON ledger.event",
            mended: ["proof trigger of ledger.event"]
        ),
        Damage(
            sql: """
                CREATE OR REPLACE TRIGGER append_only_proof AFTER INSERT ON ledger.evidence
                FOR EACH ROW WHEN (false) EXECUTE FUNCTION ledger.refuse_unproven('evidence');
                ALTER TABLE ledger.evidence ENABLE ALWAYS TRIGGER append_only_proof
                """,
            mended: ["proof trigger of ledger.evidence"]
        ),
        Damage(
            sql: """
                CREATE OR REPLACE TRIGGER append_only_proof AFTER INSERT ON ledger.event
                FOR EACH ROW WHEN (NEW.kind = 'erasure')
                EXECUTE FUNCTION ledger.refuse_unproven('evidence');
                ALTER TABLE ledger.event ENABLE ALWAYS TRIGGER append_only_proof
                """,
            mended: ["proof trigger of ledger.event"]
        ),
        Damage(
            sql: "ALTER TABLE ledger.commit ENABLE TRIGGER append_only_chain",
            mended: ["chain trigger of ledger.commit"]
        ),
        Damage(
            sql: "DROP TRIGGER append_only_clock ON operation.currency_rate",
            mended: ["clock trigger of operation.currency_rate"]
        ),
        Damage(
            sql: "ALTER TABLE ledger.event_p2 DISABLE TRIGGER append_only_statement",
            mended: ["trigger of ledger.event_p2"],
            variant: Variant.localExtremes[1]
        ),
        Damage(
            sql: "ALTER TABLE ledger.event_p2 OWNER TO CURRENT_USER",
            mended: ["owner of ledger.event_p2"],
            variant: Variant.localExtremes[1]
        ),
        Damage(
            sql: "ALTER TABLE ledger.event OWNER TO CURRENT_USER",
            mended: ["owner of ledger.event"]
        ),
        Damage(
            sql: "ALTER SCHEMA ledger OWNER TO CURRENT_USER",
            mended: ["owner of schema ledger"]
        ),
        Damage(
            sql: "ALTER FUNCTION ledger.lane_of(text) OWNER TO CURRENT_USER",
            mended: ["owner of function ledger.lane_of(text)"]
        ),
        Damage(
            sql: "GRANT UPDATE ON ledger.event TO PUBLIC",
            mended: ["privileges on ledger.event"]
        ),
        Damage(
            sql: "GRANT DELETE ON ledger.commit TO ledger_writer WITH GRANT OPTION",
            mended: ["privileges on ledger.commit"]
        ),
        Damage(
            sql: "GRANT UPDATE (content) ON ledger.event TO ledger_projector",
            mended: ["privileges on ledger.event"]
        ),
        Damage(
            sql: "REVOKE UPDATE (lane) ON ledger.lane FROM ledger_writer",
            mended: ["privileges on ledger.lane"]
        ),
        Damage(
            sql: "REVOKE INSERT ON ledger.event FROM ledger_writer",
            mended: ["privileges on ledger.event"]
        ),
        Damage(
            sql: "GRANT CREATE ON SCHEMA ledger TO ledger_projector",
            mended: ["privileges on schema ledger"]
        ),
        Damage(
            sql: "REVOKE USAGE ON SCHEMA operation FROM ledger_reader",
            mended: ["privileges on schema operation"]
        ),
        Damage(sql: "DROP TABLE operation.lease", mended: ["table operation.lease"]),
        Damage(
            sql: "DROP TABLE operation.currency_rate",
            mended: ["table operation.currency_rate"]
        ),
        Damage(
            sql: "DROP TABLE operation.newest_signature",
            mended: ["table operation.newest_signature"]
        ),
        Damage(
            sql: "DROP TABLE operation.lookup_key",
            mended: ["table operation.lookup_key"]
        ),
        Damage(
            sql: "DROP TABLE operation.lookup_lane",
            mended: ["table operation.lookup_lane"]
        ),
        Damage(
            sql: "GRANT DELETE ON operation.lookup_key TO ledger_writer",
            mended: ["privileges on operation.lookup_key"]
        ),
        Damage(
            sql: "DROP TABLE operation.apple_order",
            mended: ["table operation.apple_order"]
        ),
        Damage(
            sql: "GRANT DELETE ON operation.apple_order TO ledger_writer",
            mended: ["privileges on operation.apple_order"]
        ),
        Damage(sql: "DROP TABLE operation.poll", mended: ["table operation.poll"]),
        Damage(sql: "DROP TABLE operation.backfill", mended: ["table operation.backfill"]),
        Damage(
            sql: "REVOKE UPDATE ON operation.poll FROM ledger_writer",
            mended: ["privileges on operation.poll"]
        ),
        Damage(
            sql: "DROP FUNCTION ledger.repetitions(ledger.confirmation)",
            mended: ["function ledger.repetitions"]
        ),
        Damage(
            sql: """
                CREATE OR REPLACE FUNCTION ledger.refuse_change() RETURNS trigger
                LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'
                """,
            mended: ["function ledger.refuse_change"]
        ),
        Damage(
            sql: "ALTER FUNCTION ledger.refuse_change() SET session_replication_role = replica",
            mended: ["function ledger.refuse_change"]
        ),
        Damage(
            sql: "ALTER FUNCTION ledger.lane_of(text) VOLATILE SECURITY DEFINER",
            mended: ["function ledger.lane_of"]
        ),
        Damage(
            sql: "COMMENT ON FUNCTION ledger.lane_of(text) IS NULL",
            mended: ["function ledger.lane_of"]
        ),
        Damage(
            sql: "ALTER TABLE ledger.event DROP CONSTRAINT event_pkey",
            mended: ["key event_pkey of ledger.event"]
        ),
        Damage(
            sql: """
                ALTER TABLE ledger.commit DROP CONSTRAINT commit_pkey;
                CREATE INDEX commit_pkey ON ledger.commit (lane, commit_no)
                """,
            mended: ["key commit_pkey of ledger.commit"]
        ),
        Damage(
            sql: """
                UPDATE pg_index SET indisunique = false
                WHERE indexrelid = 'ledger.event_fact_unique'::regclass
                """,
            mended: ["key event_fact_unique of ledger.event"]
        ),
        Damage(
            sql: """
                UPDATE pg_index SET indisvalid = false
                WHERE indexrelid = 'operation.token_pkey'::regclass
                """,
            mended: ["key token_pkey of operation.token"]
        ),
        Damage(
            sql: "ALTER TABLE ledger.event ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY",
            mended: ["row security of ledger.event"]
        ),
        Damage(
            sql: "CREATE POLICY hidden ON ledger.event USING (false)",
            mended: ["policy hidden of ledger.event"]
        ),
        Damage(
            sql: "CREATE RULE lost AS ON INSERT TO ledger.event DO INSTEAD NOTHING",
            mended: ["rule lost of ledger.event"]
        ),
        Damage(
            sql: """
                CREATE TABLE public.further () INHERITS (ledger.event)
                """,
            mended: ["inheritance of public.further from ledger.event"]
        ),
        Damage(
            sql: """
                CREATE FUNCTION public.drop_row() RETURNS trigger LANGUAGE plpgsql
                AS 'BEGIN RETURN NULL; END';
                CREATE TRIGGER dropped BEFORE INSERT ON ledger.event
                FOR EACH ROW EXECUTE FUNCTION public.drop_row()
                """,
            mended: ["trigger dropped of ledger.event"]
        ),
        Damage(
            sql: "ALTER TABLE ledger.commit ADD CONSTRAINT further CHECK (commit_no <> 7)",
            mended: ["constraint further of ledger.commit"]
        ),
        Damage(
            sql: "DROP TRIGGER append_only_commit ON ledger.confirmation",
            mended: ["commit trigger of ledger.confirmation"]
        ),
        Damage(
            sql: "ALTER TABLE ledger.event RESET (autovacuum_freeze_min_age)",
            mended: ["storage options of ledger.event"]
        ),
    ]

    @Test(arguments: damages)
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
                SELECT concat_ws(' ', c.oid::regclass, c.relowner::regrole, c.reloptions::text, (
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
