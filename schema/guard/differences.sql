-- How the roles, owners, privileges, keys, triggers and storage options of a ledger differ from what
-- they must be, and what else decides which rows a statement sees or writes (row security, policies,
-- rules, inheritance), with the statement that mends each difference (NULL: bootstrap.sql does, or the
-- migrating role may not). It only reads catalogs, of which every role may, and takes no lock that
-- anyone waits for. The migrator runs it first, executes the statements, and runs it again after its
-- migrations for what these have made.
--
-- Reads no table and calls no function of anyone's: what another role has put there would run with
-- the rights of whoever migrates.
WITH
-- What ledger_writer inserts into. The rest of schema ledger is written by migrations only.
appended (relname) AS (VALUES
    ('ledger.event'), ('ledger.confirmation'), ('ledger.evidence'), ('ledger.root_certificate'),
    ('ledger.evidence_segment'), ('ledger.commit'), ('ledger.rejection'),
    ('ledger.rejection_taken'), ('ledger.ingestion'), ('ledger.catalog'), ('ledger.checkpoint'),
    ('operation.alert'), ('operation.apple_order'), ('operation.audit'), ('operation.consumer'),
    ('operation.consumption'), ('operation.currency_rate'), ('operation.delivery'),
    ('operation.lookup_key'), ('operation.proceeds_rate'), ('operation.relay'),
    ('operation.webhook')),
-- All further privileges on tables and columns. SELECT … FOR UPDATE of a lane asks for UPDATE; the
-- trigger refuses the use of it.
further (relname, attname, grantee, privilege) AS (VALUES
    ('ledger.lane', 'lane', 'ledger_writer', 'UPDATE'),
    ('operation.lease', '', 'ledger_projector', 'INSERT'),
    ('operation.lease', '', 'ledger_projector', 'UPDATE'),
    ('operation.lease', '', 'ledger_projector', 'DELETE'),
    ('operation.newest_signature', '', 'ledger_projector', 'INSERT'),
    ('operation.newest_signature', '', 'ledger_projector', 'UPDATE'),
    ('operation.newest_signature', '', 'ledger_projector', 'DELETE'),
    ('operation.apple_order', '', 'ledger_eraser', 'DELETE'),
    ('operation.lookup_key', '', 'ledger_eraser', 'DELETE'),
    ('operation.lookup_lane', '', 'ledger_writer', 'UPDATE'),
    ('operation.alert', '', 'ledger_writer', 'UPDATE'),
    ('operation.consumer', '', 'ledger_writer', 'UPDATE'),
    ('operation.consumer', '', 'ledger_writer', 'DELETE'),
    ('operation.consumption', '', 'ledger_writer', 'UPDATE'),
    ('operation.consumption', '', 'ledger_eraser', 'DELETE'),
    ('operation.delivery', '', 'ledger_writer', 'UPDATE'),
    ('operation.delivery', '', 'ledger_writer', 'DELETE'),
    ('operation.relay', '', 'ledger_writer', 'UPDATE'),
    ('operation.relay', '', 'ledger_writer', 'DELETE'),
    ('operation.webhook', '', 'ledger_writer', 'UPDATE'),
    ('operation.webhook', '', 'ledger_writer', 'DELETE'),
    ('operation.token', 'last_used_at', 'ledger_writer', 'UPDATE'),
    ('operation.poll', '', 'ledger_writer', 'INSERT'),
    ('operation.poll', '', 'ledger_writer', 'UPDATE'),
    ('operation.backfill', '', 'ledger_writer', 'INSERT'),
    ('operation.backfill', '', 'ledger_writer', 'UPDATE')),
our (grantee, oid) AS (
    SELECT name, to_regrole(name)::oid
    FROM unnest(ARRAY['ledger_owner', 'ledger_writer', 'ledger_reader', 'ledger_projector',
        'ledger_eraser', 'ledger_analyst']) name),
-- What the live views show, whatever its schema says of itself.
shown (oid) AS (
    SELECT DISTINCT d.refobjid FROM pg_class v JOIN pg_rewrite w ON w.ev_class = v.oid
    JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
        AND d.refclassid = 'pg_class'::regclass
    WHERE v.relnamespace = to_regnamespace('projection')::oid AND v.relkind = 'v'),
-- Schemas of rebuilds say so in their comments; there can be others of such names.
space AS (
    SELECT n.oid, n.nspname, n.nspacl, pg_get_userbyid(n.nspowner) AS owner,
        n.nspname IN ('ledger', 'operation') AS is_log,
        CASE WHEN n.nspname IN ('ledger', 'operation') THEN 'ledger_owner'
            ELSE 'ledger_projector' END AS wanted_owner
    FROM pg_namespace n
    WHERE n.nspname IN ('ledger', 'operation', 'projection')
        OR starts_with(obj_description(n.oid, 'pg_namespace'), 'Tables of one rebuild')
        OR n.nspname = 'analytics'
            AND starts_with(obj_description(n.oid, 'pg_namespace'), 'Views for analysts')
        OR n.nspowner = to_regrole('ledger_projector')::oid
            AND n.oid IN (SELECT c.relnamespace FROM shown s JOIN pg_class c USING (oid))),
-- A partition keeps the rules of its parent. In schemas of rebuilds only their own tables are looked
-- at, which are known by the name of their primary key.
relation AS (
    SELECT c.oid, c.relkind, c.relacl, c.reloptions, s.nspname, s.is_log, s.wanted_owner,
        pg_get_userbyid(c.relowner) AS owner, format('%I.%I', s.nspname, c.relname) AS name,
        coalesce((SELECT p.relname FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhparent
            WHERE i.inhrelid = c.oid), c.relname)::text AS rule
    FROM space s JOIN pg_class c ON c.relnamespace = s.oid
    WHERE c.relkind IN ('r', 'p', 'v', 'm') AND (
        s.nspname IN ('ledger', 'operation', 'projection', 'analytics')
        OR c.oid IN (SELECT oid FROM shown)
        OR EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'p'
            AND k.conname = c.relname || '_key'))),
guarded AS (
    SELECT *, CASE WHEN rule IN ('rejection', 'rejection_taken', 'repair') THEN 'UPDATE'
        ELSE 'UPDATE OR DELETE OR TRUNCATE' END AS events
    FROM relation
    WHERE relkind IN ('r', 'p') AND (nspname = 'ledger'
        OR name IN ('operation.currency_rate', 'operation.proceeds_rate'))),
-- Privileges of PUBLIC and of our roles; those of others are the owner's business. An empty attname
-- is the whole table.
granted AS (
    SELECT r.oid, '' AS attname, coalesce(o.grantee, 'PUBLIC') AS grantee,
        a.privilege_type || CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END AS privilege
    FROM relation r, aclexplode(r.relacl) a LEFT JOIN our o ON o.oid = a.grantee
    WHERE r.is_log AND (a.grantee = 0 OR o.oid IS NOT NULL AND o.grantee <> r.owner)
    UNION ALL
    SELECT r.oid, t.attname, coalesce(o.grantee, 'PUBLIC'),
        a.privilege_type || CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END
    FROM relation r JOIN pg_attribute t ON t.attrelid = r.oid AND NOT t.attisdropped,
        aclexplode(t.attacl) a LEFT JOIN our o ON o.oid = a.grantee
    WHERE r.is_log AND (a.grantee = 0 OR o.oid IS NOT NULL AND o.grantee <> r.owner)),
wanted AS (
    SELECT r.oid, '' AS attname, g.grantee, 'SELECT' AS privilege
    FROM relation r, (VALUES ('ledger_writer'), ('ledger_reader')) g (grantee)
    -- Whoever only reads the ledger does not get the secrets that sign for it.
    WHERE r.is_log AND (r.name <> 'operation.webhook' OR g.grantee = 'ledger_writer')
    UNION ALL
    SELECT r.oid, '', 'ledger_writer', 'INSERT'
    FROM relation r JOIN appended a ON r.name = a.relname
    UNION ALL
    SELECT r.oid, f.attname, f.grantee, f.privilege
    FROM relation r JOIN further f ON r.name = f.relname),
-- Without its key a table accepts a second event at an offset, or a second head of a lane.
key (relname, name, definition) AS (VALUES
    ('ledger.catalog', 'catalog_pkey', 'PRIMARY KEY (lane, version)'),
    ('ledger.checkpoint', 'checkpoint_pkey', 'PRIMARY KEY (lane, digest)'),
    ('ledger.commit', 'commit_pkey', 'PRIMARY KEY (lane, commit_no)'),
    ('ledger.confirmation', 'confirmation_pkey',
        'PRIMARY KEY (lane, environment, original_transaction_id, as_of_ms, commit_no)'),
    ('ledger.event', 'event_fact_unique', 'UNIQUE (lane, original_transaction_id, fact_key)'),
    ('ledger.event', 'event_pkey', 'PRIMARY KEY (lane, lane_offset)'),
    ('ledger.evidence', 'evidence_pkey', 'PRIMARY KEY (lane, evidence_no)'),
    ('ledger.evidence_dictionary', 'evidence_dictionary_pkey', 'PRIMARY KEY (version)'),
    ('ledger.evidence_file', 'evidence_file_pkey', 'PRIMARY KEY (lane, first_evidence_no)'),
    ('ledger.evidence_segment', 'evidence_segment_pkey', 'PRIMARY KEY (lane, segment_key)'),
    ('ledger.ingestion', 'ingestion_pkey', 'PRIMARY KEY (lane, run_id, source)'),
    ('ledger.lane', 'lane_pkey', 'PRIMARY KEY (lane)'),
    ('ledger.ledger_config', 'ledger_config_pkey', 'PRIMARY KEY (singleton)'),
    ('ledger.migration', 'migration_pkey', 'PRIMARY KEY (version)'),
    ('ledger.rejection', 'rejection_pkey', 'PRIMARY KEY (lane, payload_digest, reason)'),
    ('ledger.rejection_taken', 'rejection_taken_pkey', 'PRIMARY KEY (lane, payload_digest)'),
    ('ledger.repair', 'repair_pkey', 'PRIMARY KEY (lane, repair_id)'),
    ('ledger.root_certificate', 'root_certificate_pkey', 'PRIMARY KEY (lane, root_key)'),
    ('operation.alert', 'alert_pkey', 'PRIMARY KEY (alert_id)'),
    ('operation.apple_order', 'apple_order_pkey',
        'PRIMARY KEY (lane, environment, original_transaction_id, order_id)'),
    ('operation.audit', 'audit_pkey', 'PRIMARY KEY (asked_at, request_id)'),
    ('operation.backfill', 'backfill_pkey', 'PRIMARY KEY (environment, is_complete)'),
    ('operation.consumer', 'consumer_pkey', 'PRIMARY KEY (name)'),
    ('operation.consumption', 'consumption_pkey', 'PRIMARY KEY (lane, lane_offset)'),
    ('operation.currency_rate', 'currency_rate_pkey',
        'PRIMARY KEY (base_currency, currency, day, revision)'),
    ('operation.delivery', 'delivery_pkey', 'PRIMARY KEY (webhook, message_id)'),
    ('operation.lease', 'lease_pkey', 'PRIMARY KEY (lane, folds)'),
    ('operation.lookup_key', 'lookup_key_pkey', 'PRIMARY KEY (key, lane)'),
    ('operation.lookup_lane', 'lookup_lane_pkey', 'PRIMARY KEY (lane)'),
    ('operation.newest_signature', 'newest_signature_pkey', 'PRIMARY KEY (lane, environment)'),
    ('operation.poll', 'poll_pkey', 'PRIMARY KEY (lane, environment, original_transaction_id)'),
    ('operation.proceeds_rate', 'proceeds_rate_pkey', 'PRIMARY KEY (storefront, day, revision)'),
    ('operation.relay', 'relay_pkey', 'PRIMARY KEY (relay_id)'),
    ('operation.token', 'token_pkey', 'PRIMARY KEY (name)'),
    ('operation.webhook', 'webhook_pkey', 'PRIMARY KEY (name)')),
difference (stage, what, statement) AS (
    SELECT 0, 'role ' || grantee, NULL FROM our WHERE oid IS NULL
    UNION ALL
    SELECT 0, format('membership of %s in %s', m.member, m.role), NULL
    FROM (VALUES ('ledger_projector', 'ledger_reader'), ('ledger_eraser', 'ledger_writer'))
        m (member, role)
    WHERE NOT coalesce(
        pg_has_role(to_regrole(m.member)::oid, to_regrole(m.role)::oid, 'USAGE'), false)
    UNION ALL
    SELECT 0, 'schema ' || name, NULL FROM unnest('{ledger,operation}'::text[]) name
    WHERE NOT EXISTS (SELECT FROM space WHERE nspname = name)
    UNION ALL
    SELECT 0, 'table ' || name, NULL
    FROM unnest('{ledger.migration,operation.lease,operation.token,operation.poll,operation.backfill}'::text[])
        wanted (name)
    WHERE NOT EXISTS (SELECT FROM relation r WHERE r.name = wanted.name)
    UNION ALL
    SELECT 1, 'owner of schema ' || nspname,
        format('ALTER SCHEMA %I OWNER TO %I', nspname, wanted_owner)
    FROM space WHERE owner <> wanted_owner
    UNION ALL
    SELECT 2, 'owner of ' || name, format('ALTER TABLE %s OWNER TO %I', name, wanted_owner)
    FROM relation WHERE owner <> wanted_owner
    UNION ALL
    SELECT 2, 'owner of function ' || p.oid::regprocedure,
        format('ALTER ROUTINE %s OWNER TO %I', p.oid::regprocedure, s.wanted_owner)
    FROM space s JOIN pg_proc p ON p.pronamespace = s.oid
    WHERE (s.is_log OR s.nspname = 'analytics')
        AND pg_get_userbyid(p.proowner) <> s.wanted_owner
    UNION ALL
    SELECT 3, 'privileges on schema ' || s.nspname, format(
        'REVOKE ALL ON SCHEMA %1$I FROM PUBLIC, ledger_writer, ledger_reader, ledger_projector, '
        'ledger_eraser, ledger_analyst; GRANT USAGE ON SCHEMA %1$I TO ledger_writer, ledger_reader, '
        'ledger_projector', s.nspname)
    FROM space s
    -- ledger_projector has it as a member of ledger_reader, too; but Citus makes those roles on a new
    -- server that are named here.
    WHERE s.is_log AND ARRAY[
        'ledger_projector USAGE', 'ledger_reader USAGE', 'ledger_writer USAGE'] <> ARRAY(
        SELECT (coalesce(o.grantee, 'PUBLIC') || ' ' || a.privilege_type
            || CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END) COLLATE "C"
        FROM aclexplode(s.nspacl) a LEFT JOIN our o ON o.oid = a.grantee
        WHERE a.grantee = 0 OR o.oid IS NOT NULL AND o.grantee <> s.owner ORDER BY 1)
    UNION ALL
    SELECT 3, 'privileges on schema ' || s.nspname,
        format('GRANT USAGE ON SCHEMA %I TO ledger_writer, ledger_reader', s.nspname)
    FROM space s
    WHERE NOT s.is_log AND NOT coalesce(
        has_schema_privilege(to_regrole('ledger_writer')::oid, s.oid, 'USAGE')
        AND has_schema_privilege(to_regrole('ledger_reader')::oid, s.oid, 'USAGE'), false)
    UNION ALL
    SELECT 4, 'privileges on ' || r.name, format(
        'REVOKE ALL ON %s FROM PUBLIC, ledger_writer, ledger_reader, ledger_projector, '
        'ledger_eraser, ledger_analyst; ', r.name)
        || (SELECT string_agg(format('GRANT %s%s ON %s TO %I', w.privilege,
            CASE w.attname WHEN '' THEN '' ELSE format(' (%I)', w.attname) END,
            r.name, w.grantee), '; ')
            FROM wanted w WHERE w.oid = r.oid)
    FROM relation r
    WHERE r.is_log AND (
        EXISTS (SELECT attname, grantee, privilege FROM wanted w WHERE w.oid = r.oid
            EXCEPT SELECT attname, grantee, privilege FROM granted g WHERE g.oid = r.oid)
        OR EXISTS (SELECT attname, grantee, privilege FROM granted g WHERE g.oid = r.oid
            EXCEPT SELECT attname, grantee, privilege FROM wanted w WHERE w.oid = r.oid))
    UNION ALL
    -- Others may have been granted more on what people read.
    SELECT 4, 'privileges on ' || r.name,
        format('GRANT SELECT ON %s TO ledger_writer, ledger_reader', r.name)
    FROM relation r
    WHERE NOT r.is_log AND NOT coalesce(
        has_table_privilege(to_regrole('ledger_writer')::oid, r.oid, 'SELECT')
        AND has_table_privilege(to_regrole('ledger_reader')::oid, r.oid, 'SELECT'), false)
    UNION ALL
    -- On each partition too, where a TRUNCATE could otherwise pass the parent's trigger by. Rejections
    -- and rows that a repair removed are not part of the log: their owner may delete them, because an
    -- attacker can send any amount, and they may identify a person.
    -- ALWAYS, because session_replication_role = replica passes ordinary triggers by.
    SELECT 5, 'trigger of ' || name, format(
        'CREATE OR REPLACE TRIGGER append_only_statement BEFORE %1$s ON %2$s '
        'FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change(); '
        'ALTER TABLE %2$s ENABLE ALWAYS TRIGGER append_only_statement', events, name)
    FROM guarded g
    -- tgtype: 2 before, 8 delete, 16 update, 32 truncate.
    WHERE NOT EXISTS (
        SELECT FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
        WHERE t.tgrelid = g.oid AND t.tgname = 'append_only_statement' AND t.tgenabled = 'A'
            AND t.tgtype = CASE g.events WHEN 'UPDATE' THEN 18 ELSE 58 END
            AND t.tgqual IS NULL AND t.tgattr::text = '' AND p.proname = 'refuse_change'
            AND p.pronamespace = to_regnamespace('ledger')::oid)
    UNION ALL
    -- What an erasure changes is judged row by row; a partition has the trigger of its parent.
    SELECT 5, 'row trigger of ' || name, format(
        'CREATE OR REPLACE TRIGGER append_only_row BEFORE UPDATE ON %1$s '
        'FOR EACH ROW EXECUTE FUNCTION ledger.refuse_unless_blanked(%2$L); '
        'ALTER TABLE %1$s ENABLE ALWAYS TRIGGER append_only_row', name, rule)
    FROM guarded g
    WHERE rule IN ('event', 'confirmation', 'evidence')
        AND name = format('ledger.%I', rule)
        -- tgtype: 1 row, 2 before, 16 update.
        AND NOT EXISTS (
            SELECT FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
            WHERE t.tgrelid = g.oid AND t.tgname = 'append_only_row' AND t.tgenabled = 'A'
                AND t.tgtype = 19 AND t.tgqual IS NULL AND t.tgattr::text = ''
                AND t.tgargs = convert_to(g.rule, 'UTF8') || '\x00'
                AND p.proname = 'refuse_unless_blanked'
                AND p.pronamespace = to_regnamespace('ledger')::oid)
    UNION ALL
    -- No row is blank from the beginning.
    SELECT 5, 'insert trigger of ' || name, format(
        'CREATE OR REPLACE TRIGGER append_only_insert AFTER INSERT ON %1$s '
        'FOR EACH ROW WHEN (%2$s) EXECUTE FUNCTION ledger.refuse_change(); '
        'ALTER TABLE %1$s ENABLE ALWAYS TRIGGER append_only_insert', name,
        CASE rule WHEN 'evidence' THEN 'NEW.digest IS NULL'
            ELSE 'octet_length(NEW.salt) <> 16' END)
    FROM guarded g
    WHERE rule IN ('event', 'confirmation', 'evidence')
        AND name = format('ledger.%I', rule)
        -- tgtype: 1 row, 4 insert.
        AND NOT EXISTS (
            SELECT FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
            WHERE t.tgrelid = g.oid AND t.tgname = 'append_only_insert' AND t.tgenabled = 'A'
                AND t.tgtype = 5 AND p.proname = 'refuse_change'
                AND p.pronamespace = to_regnamespace('ledger')::oid
                AND strpos(lower(pg_get_triggerdef(t.oid)), CASE g.rule
                    WHEN 'evidence' THEN 'when ((new.digest is null))'
                    ELSE 'when ((octet_length(new.salt) <> 16))' END) > 0)
    UNION ALL
    -- What proves nothing, what does not continue its lane and what is dated by another clock is
    -- refused from roles that only insert.
    SELECT 5, format('%s trigger of %s', w.noun, g.name), format(
        'CREATE OR REPLACE TRIGGER append_only_%1$s %2$s INSERT ON %3$s FOR EACH ROW %4$s'
        'EXECUTE FUNCTION ledger.%5$s(%6$s); '
        'ALTER TABLE %3$s ENABLE ALWAYS TRIGGER append_only_%1$s', w.noun,
        CASE w.type WHEN 5 THEN 'AFTER' ELSE 'BEFORE' END, g.name,
        CASE w.condition WHEN '' THEN '' ELSE format('WHEN (%s) ', w.condition) END, w.function,
        CASE w.type WHEN 5 THEN quote_literal(g.rule) ELSE '' END)
    FROM guarded g
    -- tgtype: 1 row, 2 before, 4 insert. A trigger after, because COPY inserts rows one at a time
    -- where there is one before.
    JOIN (VALUES
        ('ledger.event', 'proof', 5, 'NEW.kind = ''erasure''', 'when ((new.kind = ''erasure''::text))',
            'refuse_unproven'),
        ('ledger.evidence', 'proof', 5, 'NEW.body IS NULL', 'when ((new.body is null))',
            'refuse_unproven'),
        ('ledger.commit', 'chain', 7, '', '', 'refuse_unchained'),
        ('ledger.confirmation', 'commit', 5, '', '', 'refuse_unaccounted'),
        ('operation.currency_rate', 'clock', 7, '', '', 'refuse_other_clock'),
        ('operation.proceeds_rate', 'clock', 7, '', '', 'refuse_other_clock'))
        w (relname, noun, type, condition, shown, function) ON g.name = w.relname
    WHERE NOT EXISTS (
        SELECT FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
        WHERE t.tgrelid = g.oid AND t.tgname = 'append_only_' || w.noun AND t.tgenabled = 'A'
            AND t.tgtype = w.type AND (t.tgqual IS NULL) = (w.shown = '') AND t.tgattr::text = ''
            AND p.proname = w.function AND p.pronamespace = to_regnamespace('ledger')::oid
            AND strpos(lower(pg_get_triggerdef(t.oid)), w.shown) > 0
            AND t.tgargs = CASE w.type WHEN 5 THEN convert_to(g.rule, 'UTF8') || '\x00'
                ELSE '' END)
    UNION ALL
    -- Rows are written once, so what autovacuum has to do is to freeze them soon and keep the
    -- statistics fresh; a partitioned table has no storage of its own.
    SELECT 6, 'storage options of ' || name, format(
        'ALTER TABLE %s SET (autovacuum_freeze_min_age = 0, '
        'autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05)',
        name)
    FROM guarded
    WHERE relkind = 'r' AND NOT coalesce(reloptions @> '{autovacuum_freeze_min_age=0}', false)
    UNION ALL
    -- An index of the same name that is not unique, or not valid, keeps nothing.
    SELECT 7, format('key %s of %s', k.name, r.name), format(
        'ALTER TABLE %1$s DROP CONSTRAINT IF EXISTS %2$I; DROP INDEX IF EXISTS %3$I.%2$I; '
        'ALTER TABLE %1$s ADD CONSTRAINT %2$I %4$s', r.name, k.name, r.nspname, k.definition)
    FROM relation r JOIN key k ON k.relname = r.name
    WHERE NOT EXISTS (
        SELECT FROM pg_constraint c JOIN pg_index i ON i.indexrelid = c.conindid
        WHERE c.conrelid = r.oid AND c.conname = k.name AND NOT c.condeferrable
            AND i.indisunique AND i.indisvalid AND i.indisready
            AND pg_get_constraintdef(c.oid) = k.definition)
    UNION ALL
    -- What follows decides which rows a statement sees or writes. A view could show each role others.
    SELECT 7, format('%s is not a table', r.name), NULL
    FROM relation r
    WHERE r.relkind NOT IN ('r', 'p') AND (r.name IN (
            'projection.ledger_projection', 'projection.refused_stream')
        OR r.nspname NOT IN ('ledger', 'operation', 'projection', 'analytics'))
    UNION ALL
    SELECT 7, 'row security of ' || r.name, format(
        'ALTER TABLE %1$s DISABLE ROW LEVEL SECURITY; '
        'ALTER TABLE %1$s NO FORCE ROW LEVEL SECURITY', r.name)
    FROM relation r JOIN pg_class c ON c.oid = r.oid
    WHERE c.relrowsecurity OR c.relforcerowsecurity
    UNION ALL
    SELECT 7, format('policy %I of %s', p.polname, r.name),
        format('DROP POLICY %I ON %s', p.polname, r.name)
    FROM relation r JOIN pg_policy p ON p.polrelid = r.oid
    UNION ALL
    SELECT 7, format('rule %I of %s', w.rulename, r.name),
        format('DROP RULE %I ON %s', w.rulename, r.name)
    FROM relation r JOIN pg_rewrite w ON w.ev_class = r.oid
    WHERE r.relkind IN ('r', 'p') AND w.rulename <> '_RETURN'
    UNION ALL
    SELECT 7, format('inheritance of %s from %s', i.inhrelid::regclass, r.name),
        CASE WHEN pg_has_role(c.relowner, 'USAGE')
            THEN format('ALTER TABLE %s NO INHERIT %s', i.inhrelid::regclass, r.name) END
    FROM relation r JOIN pg_inherits i ON i.inhparent = r.oid JOIN pg_class c ON c.oid = i.inhrelid
    WHERE r.relkind = 'r'
    UNION ALL
    -- The functions of ours are compared with their files.
    SELECT 7, format('trigger %I of %s', t.tgname, r.name),
        format('DROP TRIGGER %I ON %s', t.tgname, r.name)
    FROM relation r JOIN pg_trigger t ON t.tgrelid = r.oid JOIN pg_proc p ON p.oid = t.tgfoid
    WHERE (r.is_log OR r.relkind IN ('r', 'p')) AND NOT t.tgisinternal AND t.tgparentid = 0
        AND NOT (p.pronamespace = to_regnamespace('ledger')::oid AND (
            t.tgname = 'append_only_statement' AND r.oid IN (SELECT oid FROM guarded)
            OR (r.name, t.tgname::text) IN (VALUES
                ('ledger.event', 'append_only_row'), ('ledger.event', 'append_only_insert'),
                ('ledger.event', 'append_only_proof'),
                ('ledger.confirmation', 'append_only_row'),
                ('ledger.confirmation', 'append_only_insert'),
                ('ledger.confirmation', 'append_only_commit'),
                ('ledger.evidence', 'append_only_row'), ('ledger.evidence', 'append_only_insert'),
                ('ledger.evidence', 'append_only_proof'), ('ledger.commit', 'append_only_chain'),
                ('operation.currency_rate', 'append_only_clock'),
                ('operation.proceeds_rate', 'append_only_clock'))))
    UNION ALL
    -- A crash empties a table that is not logged, and no standby has it.
    SELECT 7, format('%s is not logged', r.name), format('ALTER TABLE %s SET LOGGED', r.name)
    FROM relation r JOIN pg_class c ON c.oid = r.oid
    WHERE r.is_log AND r.relkind = 'r' AND c.relpersistence <> 'p'
    UNION ALL
    -- A further unique index refuses facts that differ.
    SELECT 7, format('unique index %I of %s', x.relname, r.name),
        CASE WHEN EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = x.oid AND c.conrelid = r.oid)
            THEN format('ALTER TABLE %s DROP CONSTRAINT %I', r.name, x.relname)
            ELSE format('DROP INDEX %I.%I', r.nspname, x.relname) END
    FROM relation r JOIN pg_index i ON i.indrelid = r.oid JOIN pg_class x ON x.oid = i.indexrelid
    WHERE r.is_log AND i.indisunique
        AND NOT EXISTS (SELECT FROM key k WHERE k.relname = r.name AND k.name = x.relname)
        AND NOT EXISTS (SELECT FROM pg_inherits h WHERE h.inhrelid = x.oid))
SELECT what, statement FROM difference ORDER BY stage, what COLLATE "C"
