import EventLog
import Events
import Postgres
import Projections
import Projector
import TestSupport
import Testing

/// The lint finds nothing in our schemas, and every planted breach in a bad one.
@Suite(.enabled { await TestServer.isAvailable })
struct SchemaLintTests {
    @Test(arguments: Variant.all)
    func `log and projections keep every rule of a distributed schema`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            _ = try await log.append(verified(TestFacts.transaction()))
            let rebuilt = try await Projector(log: log, settings: settings).rebuild()
            #expect(rebuilt.count == allProjections.count)
            let (findings, tables) = try await Inspector.inspect(settings) { inspector in
                let tables = try await inspector.number(
                    """
                    SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
                    WHERE relkind IN ('r', 'p') AND nspname ~ '^projection_[0-9]+$'
                    """
                )
                return (try await SchemaLint.findings(inspector), tables)
            }
            #expect(findings.isEmpty)
            #expect(tables == Int64(allProjections.count), "the projections were checked")
        }
    }

    @Test(arguments: SchemaLint.Rule.allCases)
    func `a planted breach of each rule is found`(rule: SchemaLint.Rule) async throws {
        let planted = try #require(Self.plants[rule], "no breach is planted")
        try await Variant.plain.withDatabase { settings in
            let findings = try await Inspector.inspect(settings) { inspector in
                try await inspector.session.execute("SET search_path = ledger; \(planted.sql)")
                // A title names the schema only where the schema is not in the search path.
                try await inspector.session.execute("SET search_path = pg_catalog")
                return try await SchemaLint.findings(inspector)
            }
            let found = findings.filter { $0.rule == rule }.map(\.object)
            #expect(found == [planted.object], "\(findings)")
        }
    }

    private static let plants: [SchemaLint.Rule: (sql: String, object: String)] = [
        .laneColumn: (
            "CREATE TABLE bad (lane smallint NOT NULL, PRIMARY KEY (lane))", "ledger.bad"
        ),
        .laneInKeys: (
            "CREATE UNIQUE INDEX bad ON ledger.event (fact_key) INCLUDE (lane)", "ledger.bad"
        ),
        .primaryKey: ("CREATE TABLE bad (lane int NOT NULL)", "ledger.bad"),
        .noSequences: (
            "CREATE SEQUENCE public.n; CREATE TABLE bad (lane int NOT NULL, "
                + "n bigint DEFAULT nextval('public.n'), PRIMARY KEY (lane))", "ledger.bad.n"
        ),
        .noServerTypes: (
            "ALTER TABLE commit ADD COLUMN seen xid8[]", "ledger.commit.seen"
        ),
        .noUnlogged: ("ALTER TABLE evidence SET UNLOGGED", "ledger.evidence"),
        .noMaterializedViews: (
            "CREATE MATERIALIZED VIEW bad AS SELECT lane FROM ledger.lane", "ledger.bad"
        ),
        .noRules: (
            "CREATE RULE bad AS ON INSERT TO event DO ALSO NOTIFY x", "ledger.event bad"
        ),
        .noTriggers: (
            "CREATE TRIGGER bad AFTER INSERT ON event EXECUTE FUNCTION refuse_change()",
            "ledger.event bad"
        ),
        .laneInForeignKeys: (
            "CREATE TABLE bad (lane int NOT NULL REFERENCES ledger.lane, n int NOT NULL "
                + "CONSTRAINT bad_n REFERENCES ledger.migration, PRIMARY KEY (lane, n))",
            "ledger.bad bad_n"
        ),
        .laneIsPure: (
            "ALTER TABLE event DROP CONSTRAINT event_lane_is_of_stream", "ledger.event"
        ),
        .noInheritance: (
            "CREATE TABLE bad (PRIMARY KEY (lane)) INHERITS (ledger.lane)", "ledger.bad"
        ),
        .noLocalFunctions: (
            "CREATE FUNCTION bad() RETURNS bigint LANGUAGE sql AS 'SELECT txid_current()'",
            "ledger.bad()"
        ),
    ]

    /// On partitioned tables, PostgreSQL itself refuses what the lint searches for.
    @Test func `on partitioned tables the database refuses a key without the lane`() async throws {
        try await Variant.divided.withDatabase { settings in
            let error = await #expect(throws: PostgresError.self) {
                try await Inspector.inspect(settings) { inspector in
                    try await inspector.session.execute(
                        "CREATE UNIQUE INDEX bad ON ledger.event (fact_key)"
                    )
                }
            }
            #expect(error?.sqlState == "0A000")
        }
    }

    @Test(arguments: [1, 2, 4, 256, 1024], [0, 4])
    func `lane_of in SQL gives the same lane as Swift`(count: Int, partitions: Int) async throws {
        let lanes = try #require(LaneCount(count))
        let seed = UInt64(count)
        var random = TestSupport.SeededGenerator(seed: seed)
        let alphabet = ["0", "7", "a", "\\", "\\x41", "'", "é", "e\u{301}", "🧾", " ", "\n", "%"]
        var ids = ["", "0", "2000000847061981", "\\", "\\\\", "\\001", "é", "e\u{301}"]
        for _ in 0..<400 {
            ids.append(String(UInt64.random(in: 0...999_999_999_999_999, using: &random)))
            ids.append(
                (0..<Int.random(in: 0...9, using: &random)).map { _ in
                    alphabet[Int.random(in: alphabet.indices, using: &random)]
                }.joined()
            )
        }
        let expected = ids.map { Int32(lanes.lane(of: $0)) }
        try await TestServer.shared.withDatabase { settings in
            let layout = Migrator.Layout(lanes: lanes, partitions: partitions)
            _ = try await Migrator.migrate(settings, layout)
            let answers = try await Inspector.inspect(settings) { inspector in
                let rows = try await inspector.session.query(
                    """
                    SELECT ledger.lane_of(i.id) FROM unnest($1::text[])
                        WITH ORDINALITY AS i (id, number) ORDER BY number
                    """,
                    [.textArray(ids)]
                )
                return try rows.map { try $0.int4(0) }
            }
            #expect(answers == expected, "seed \(seed)")
            #expect(Set(answers).count == min(count, Set(expected).count))
        }
    }
}
