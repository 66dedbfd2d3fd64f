import Postgres

/// The rules that every table of the log and of the projections must keep, so that the ledger can
/// be distributed by lane one day (Scaling out: lanes).
struct SchemaLint: Sendable {
    /// A breach of a rule, with the rule's name.
    struct Finding: Hashable, Sendable, CustomStringConvertible {
        let rule: Rule
        let object: String

        var description: String { "\(rule.rawValue): \(object)" }
    }

    enum Rule: String, CaseIterable, Sendable {
        case laneColumn = "lane int NOT NULL, a plain column"
        case laneInKeys = "lane in every primary, unique and exclusion key"
        case primaryKey = "a primary key"
        case noSequences = "no sequence, identity or serial"
        case noServerTypes = "no xid, pg_lsn, tid or snapshot in data"
        case noUnlogged = "no unlogged or temporary table"
        case noMaterializedViews = "no materialized view"
        case noRules = "no rule"
        case noTriggers = "no trigger but the refusing ones"
        case laneInForeignKeys = "lane in every foreign key, on both sides"
        case laneIsPure = "CHECK lane = lane_of beside original_transaction_id"
        case noInheritance = "no inheritance but partitions by hash of lane"
        case noLocalFunctions = "no function that one node answers alone"
    }

    /// Tables without a lane, each with its reason.
    static let exempt = [
        // One row, the same on every node: a reference table.
        "ledger.ledger_config",
        // The dictionaries for deflated payloads: written by migrations, the same for all lanes.
        "ledger.evidence_dictionary",
        // The state of the schema, not of the log.
        "ledger.migration",
        // A few rows that belong to no subscription: a reference table.
        "operation.token",
        // Who asked about whom: belongs to requests, and is read and written in one place.
        "operation.audit",
        // At most two rows for each environment: a reference table.
        "operation.backfill",
        // A few rows that name places in all lanes: a reference table.
        "operation.consumer",
        // A few rows each that belong to the ledger as a whole.
        "operation.webhook", "operation.alert",
        // Few rows, read and written in one place: what was not delivered, of all lanes.
        "operation.delivery", "operation.relay",
        // Rates belong to no subscription: reference tables.
        "operation.currency_rate", "operation.proceeds_rate",
    ]

    /// All breaches in the schemas of the log, the programs and the projections.
    static func findings(_ inspector: Inspector) async throws -> Set<Finding> {
        var findings: Set<Finding> = []
        for rule in Rule.allCases {
            for object in try await inspector.texts(prelude + sql(of: rule)) {
                findings.insert(Finding(rule: rule, object: object))
            }
        }
        return findings
    }

    private static let prelude = """
        WITH place AS (
            SELECT oid FROM pg_namespace WHERE nspname ~ '^(ledger|operation|projection(_[0-9]+)?)$'
        ), relation AS (
            SELECT c.*, c.oid AS id, c.oid::regclass::text AS title,
                (SELECT attnum FROM pg_attribute a WHERE a.attrelid = c.oid
                    AND a.attname = 'lane' AND NOT attisdropped) AS lane
            FROM pg_class c WHERE c.relnamespace IN (SELECT oid FROM place)
        ), data AS (
            SELECT * FROM relation WHERE relkind IN ('r', 'p')
        ), laned AS (
            SELECT * FROM data WHERE title <> ALL ('{\(exempt.joined(separator: ","))}')
        )

        """

    private static func sql(of rule: Rule) -> String {
        switch rule {
        case .laneColumn:
            """
            SELECT title FROM laned WHERE NOT EXISTS (
                SELECT FROM pg_attribute a WHERE a.attrelid = laned.id AND a.attnum = laned.lane
                    AND a.atttypid = 'int4'::regtype AND a.attnotnull AND a.attgenerated = '')
            """
        case .laneInKeys:
            """
            SELECT i.indexrelid::regclass::text FROM laned JOIN pg_index i ON i.indrelid = laned.id
            WHERE (i.indisunique OR i.indisexclusion)
                AND (laned.lane IS NULL OR laned.lane <> ALL (i.indkey[0:i.indnkeyatts - 1]))
            """
        case .primaryKey:
            """
            SELECT title FROM data WHERE NOT EXISTS (
                SELECT FROM pg_constraint k WHERE k.conrelid = data.id AND k.contype = 'p')
            """
        case .noSequences:
            """
            SELECT title FROM relation WHERE relkind = 'S'
            UNION ALL SELECT title || '.' || a.attname FROM data
            JOIN pg_attribute a ON a.attrelid = data.id
            LEFT JOIN pg_attrdef d ON d.adrelid = data.id AND d.adnum = a.attnum
            WHERE a.attidentity <> '' OR pg_get_expr(d.adbin, d.adrelid) ~ 'nextval'
            """
        case .noServerTypes:
            """
            SELECT title || '.' || a.attname FROM data
            JOIN pg_attribute a ON a.attrelid = data.id AND a.attnum > 0 AND NOT a.attisdropped
            LEFT JOIN pg_type t ON t.oid = a.atttypid
            WHERE ARRAY[a.atttypid, t.typelem] && ARRAY['xid', 'xid8', 'cid', 'tid', 'pg_lsn',
                'pg_snapshot', 'txid_snapshot', 'oid']::regtype[]::oid[]
            """
        case .noUnlogged:
            "SELECT title FROM relation WHERE relpersistence <> 'p' AND relkind IN ('r', 'p', 'S')"
        case .noMaterializedViews:
            "SELECT title FROM relation WHERE relkind = 'm'"
        case .noRules:
            """
            SELECT title || ' ' || r.rulename FROM data JOIN pg_rewrite r ON r.ev_class = data.id
            """
        case .noTriggers:
            """
            SELECT title || ' ' || t.tgname FROM relation JOIN pg_trigger t ON t.tgrelid = id
            WHERE NOT t.tgisinternal AND ((t.tgname, t.tgfoid) NOT IN (
                    ('append_only_statement', 'ledger.refuse_change'::regproc),
                    ('append_only_insert', 'ledger.refuse_change'::regproc),
                    ('append_only_row', 'ledger.refuse_unless_blanked'::regproc),
                    ('append_only_proof', 'ledger.refuse_unproven'::regproc),
                    ('append_only_chain', 'ledger.refuse_unchained'::regproc),
                    ('append_only_commit', 'ledger.refuse_unaccounted'::regproc),
                    ('append_only_clock', 'ledger.refuse_other_clock'::regproc))
                OR title NOT LIKE 'ledger.%' AND title NOT LIKE 'operation.%rate')
            """
        case .laneInForeignKeys, .laneIsPure, .noInheritance, .noLocalFunctions:
            sqlOfRelations(rule)
        }
    }

    private static func sqlOfRelations(_ rule: Rule) -> String {
        switch rule {
        case .laneInForeignKeys:
            """
            SELECT title || ' ' || k.conname FROM data JOIN pg_constraint k ON k.conrelid = id
            WHERE k.contype = 'f' AND NOT EXISTS (
                SELECT FROM unnest(k.conkey, k.confkey) AS pair (here, there)
                JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = pair.there
                WHERE pair.here = data.lane AND a.attname = 'lane')
            """
        case .laneIsPure:
            // A fold copies the lane from the log, where it is checked.
            """
            SELECT title FROM laned WHERE title LIKE 'ledger.%' AND EXISTS (
                SELECT FROM pg_attribute a WHERE a.attrelid = id
                    AND a.attname = 'original_transaction_id')
            AND NOT EXISTS (
                SELECT FROM pg_constraint k WHERE k.conrelid = id AND k.contype = 'c'
                    AND k.convalidated AND pg_get_constraintdef(k.oid)
                        = 'CHECK ((lane = ledger.lane_of(original_transaction_id)))')
            """
        case .noInheritance:
            """
            SELECT title FROM data JOIN pg_inherits h ON h.inhrelid = id
            LEFT JOIN pg_partitioned_table p ON p.partrelid = h.inhparent
            WHERE p.partstrat IS DISTINCT FROM 'h'
                OR pg_get_partkeydef(h.inhparent) <> 'HASH (lane)'
            """
        default:
            """
            SELECT p.oid::regprocedure::text FROM pg_proc p
            WHERE p.pronamespace IN (SELECT oid FROM place)
                -- An erasure and the rows that it blanks are of one lane: of one node. So are a
                -- commit and its repetitions.
                AND p.oid NOT IN ('ledger.is_erasing'::regproc,
                    'ledger.refuse_change'::regproc, 'ledger.refuse_unless_blanked'::regproc,
                    'ledger.refuse_unaccounted'::regproc) AND p.prosrc ~*
                    '(advisory|txid_|pg_current|pg_notify|\\mnotify\\M|nextval|\\mctid\\M)'
            """
        }
    }
}
