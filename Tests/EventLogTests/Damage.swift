import Testing

/// What an owner or a superuser has changed, and what `migrate` repairs.
struct Damage: Sendable, CustomTestStringConvertible {
    let sql: String
    let mended: [String]
    var variant = Variant.plain

    var testDescription: String { sql }

    static let all = [
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
            sql: "DROP TABLE operation.proceeds_rate",
            mended: ["table operation.proceeds_rate"]
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
            sql: "DROP TABLE operation.consumer",
            mended: ["table operation.consumer"]
        ),
        Damage(
            sql: "DROP TABLE operation.consumption",
            mended: ["table operation.consumption"]
        ),
        Damage(
            sql: "GRANT DELETE ON operation.consumption TO ledger_writer",
            mended: ["privileges on operation.consumption"]
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
        Damage(
            sql: """
                CREATE TRIGGER append_only_further BEFORE INSERT ON ledger.rejection
                FOR EACH ROW EXECUTE FUNCTION ledger.refuse_other_clock()
                """,
            mended: ["trigger append_only_further of ledger.rejection"]
        ),
        Damage(
            sql: """
                CREATE TRIGGER append_only_row BEFORE INSERT ON ledger.rejection
                FOR EACH ROW EXECUTE FUNCTION ledger.refuse_other_clock()
                """,
            mended: ["trigger append_only_row of ledger.rejection"]
        ),
        Damage(
            sql: "ALTER TABLE ledger.rejection SET UNLOGGED",
            mended: ["ledger.rejection is not logged"]
        ),
        Damage(
            sql: "CREATE UNIQUE INDEX further ON ledger.event (product_id, as_of_ms)",
            mended: ["unique index further of ledger.event"]
        ),
        Damage(
            sql: "ALTER TABLE ledger.evidence ADD CONSTRAINT further UNIQUE (lane, byte_count)",
            mended: ["unique index further of ledger.evidence"]
        ),
    ]
}
