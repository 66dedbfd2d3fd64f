import EventLog
import Events
import Postgres
import Projections
import Projector
import Subledger
import TestSupport
import Testing

/// One vocabulary for all tables and views that people read: a name has one meaning.
@Suite(.enabled { await TestServer.isAvailable })
struct VocabularyTests {
    @Test func `tables and views keep every rule of the vocabulary`() async throws {
        try await VocabularyTests.withTables { session in
            let findings = try await VocabularyTests.findings(session)
            #expect(findings.isEmpty, "\(findings.sorted())")
            let views = try await session.query(
                "SELECT count(*) FROM pg_views WHERE schemaname = 'analytics'"
            )
            #expect(try views.single().int8(0) >= 10, "the views for analysts were checked")
        }
    }

    @Test(arguments: [
        ("CREATE VIEW analytics.v AS SELECT 1::bigint AS lane", "two types: lane"),
        (
            "COMMENT ON COLUMN analytics.transactions.lane IS 'Another word.'",
            "two comments: lane"
        ),
        ("CREATE VIEW analytics.v AS SELECT 1 AS nameless", "no comment: analytics.v.nameless"),
        ("CREATE VIEW analytics.v AS SELECT 1 AS lane", "no comment: analytics.v"),
        (
            "COMMENT ON COLUMN projection.movements.movement IS NULL",
            "no comment: projection.movements.movement"
        ),
        ("CREATE VIEW analytics.v AS SELECT 1::bigint AS as_of_ms", "not a key: as_of_ms"),
        ("CREATE VIEW analytics.v AS SELECT 1.5::float8 AS rate", "a float: analytics.v.rate"),
        (
            "CREATE VIEW analytics.v AS SELECT ARRAY[1.5]::real[] AS rates",
            "a float: analytics.v.rates"
        ),
        (
            "CREATE VIEW analytics.v AS SELECT 1 AS price_milliunits",
            "not bigint: analytics.v.price_milliunits"
        ),
        ("CREATE VIEW analytics.v AS SELECT 1 AS is_cancelled", "cancel: analytics.v.is_cancelled"),
    ])
    func `a planted breach is found`(sql: String, finding: String) async throws {
        try await VocabularyTests.withTables { session in
            try await session.execute(sql)
            let findings = try await VocabularyTests.findings(session)
            #expect(findings.contains(finding), "\(findings.sorted())")
        }
    }

    @Test func `every word of the vocabulary is the name of a column`() async throws {
        try await VocabularyTests.withTables { session in
            let known = try await session.query(
                "SELECT DISTINCT name FROM (\(VocabularyTests.columns)) c"
            ).map { try $0.text(0) }
            #expect(ColumnVocabulary.names.filter { !known.contains($0) } == [])
        }
    }

    private static func withTables(
        _ body: (PostgresSession) async throws -> Void
    ) async throws {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let ledger = try await FilledLedger.open(settings)
            _ = try await Projector(log: ledger.log, settings: settings).rebuild(
                allProjections + projectionsOnRequest
            )
            let session = try await PostgresSession.connect(settings)
            try await body(session)
            await session.close()
            await ledger.log.close()
        }
    }

    private static func findings(_ session: PostgresSession) async throws -> Set<String> {
        Set(try await session.query(rules).map { try $0.text(0) })
    }

    // Live views and pages, the tables behind them, and the views for analysts.
    private static let columns = """
        SELECT n.nspname || '.' || c.relname AS relation, c.oid, a.attname::text AS name,
            format_type(a.atttypid, a.atttypmod) AS type,
            CASE WHEN t.typcategory = 'A' THEN e.typname ELSE t.typname END AS element,
            col_description(c.oid, a.attnum) AS comment
        FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_type e ON e.oid = t.typelem
        WHERE n.nspname ~ '^(analytics|projection(_[0-9]+)?)$' AND c.relkind IN ('r', 'v')
        """

    private static let rules = """
        WITH c AS (\(columns))
        SELECT 'two types: ' || name FROM c GROUP BY name HAVING count(DISTINCT type) > 1
        UNION ALL
        SELECT 'two comments: ' || name FROM c GROUP BY name HAVING count(DISTINCT comment) > 1
        UNION ALL
        SELECT 'no comment: ' || relation || '.' || name FROM c WHERE comment IS NULL
        UNION ALL
        SELECT DISTINCT 'no comment: ' || relation FROM c
        WHERE obj_description(oid, 'pg_class') IS NULL
        UNION ALL
        SELECT 'not a key: ' || name FROM c
        WHERE name LIKE '%\\_ms' AND name NOT IN
            ('purchase_date_ms', 'expires_date_ms', 'added_to_purchase_date_ms')
        UNION ALL
        SELECT 'a float: ' || relation || '.' || name FROM c WHERE element IN ('float4', 'float8')
        UNION ALL
        SELECT 'not bigint: ' || relation || '.' || name FROM c
        WHERE name LIKE '%\\_milliunits' AND type <> 'bigint'
        UNION ALL
        SELECT 'cancel: ' || relation || '.' || name FROM c WHERE name ~ 'cancel'
        """
}
