import EventLog
import Events
import Postgres
import Projections
import Projector
import Subledger
import TestSupport
import Testing

/// A fold whose new version has other columns: its view has to be created again.
@Suite(.enabled { await TestServer.isAvailable })
struct ChangedViewTests {
    @Test func `grants on a view survive a change of its columns`() async throws {
        try await Self.withShape { ledger, settings in
            let session = try await PostgresSession.connect(settings)
            try await session.execute(
                """
                GRANT SELECT ON projection.shape TO pg_monitor WITH GRANT OPTION;
                GRANT SELECT ON projection.shape TO PUBLIC;
                GRANT SELECT (environment, first) ON projection.shape TO pg_read_all_stats;
                COMMENT ON VIEW projection.shape IS 'For the controllers.'
                """
            )
            _ = try await Self.projector(ledger, settings, .second).rebuild()
            let kept = try await session.query(
                """
                SELECT has_table_privilege('pg_monitor', v, 'SELECT WITH GRANT OPTION'),
                    has_column_privilege('pg_read_all_stats', v, 'environment', 'SELECT'),
                    EXISTS (SELECT FROM aclexplode((SELECT relacl FROM pg_class WHERE oid = v))
                        WHERE grantee = 0 AND privilege_type = 'SELECT'),
                    EXISTS (SELECT FROM pg_attribute, aclexplode(attacl) WHERE attrelid = v
                        AND attname = 'environment'),
                    obj_description(v, 'pg_class') IS NOT DISTINCT FROM 'For the controllers.',
                    has_table_privilege('ledger_reader', v, 'SELECT')
                FROM (SELECT 'projection.shape'::regclass AS v) AS view
                """
            ).single()
            for column in 0..<6 { #expect(try kept.bool(column), "column \(column)") }
            await session.close()
        }
    }

    @Test func `column comments and options of a view survive every rebuild`() async throws {
        try await Self.withShape { ledger, settings in
            let session = try await PostgresSession.connect(settings)
            try await session.execute(
                """
                COMMENT ON COLUMN projection.shape.environment IS 'Where it''s sold.';
                COMMENT ON COLUMN projection.shape.first IS 'Gone soon.';
                ALTER VIEW projection.shape SET (security_barrier = on, security_invoker = true)
                """
            )
            // Replaced in place with one more column, and created again.
            for shape in [Shape.first, .longer, .second] {
                _ = try await Self.projector(ledger, settings, shape).rebuild()
                let kept = try await session.query(
                    """
                    SELECT col_description(c.oid, a.attnum),
                        array_to_string(c.reloptions, ' ')
                    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
                    WHERE c.oid = 'projection.shape'::regclass AND a.attname = 'environment'
                    """
                ).single()
                #expect(try kept.textIfPresent(0) == "Where it's sold.", "\(shape)")
                let options = try kept.textIfPresent(1)
                #expect(options == "security_barrier=on security_invoker=true", "\(shape)")
            }
            await session.close()
        }
    }

    @Test(arguments: [
        (
            """
            CREATE FUNCTION public.ignored() RETURNS trigger LANGUAGE plpgsql
                AS 'BEGIN RETURN NULL; END';
            CREATE TRIGGER wishes INSTEAD OF INSERT ON projection.shape
                FOR EACH ROW EXECUTE FUNCTION public.ignored()
            """, "DROP TRIGGER wishes ON projection.shape"
        ),
        (
            "CREATE RULE wishes AS ON UPDATE TO projection.shape DO INSTEAD NOTHING",
            "DROP RULE wishes ON projection.shape"
        ),
    ])
    func `additions to a view that would be lost are named before the work and at the promotion`(
        made: String,
        dropped: String
    ) async throws {
        try await Self.withShape { ledger, settings in
            let session = try await PostgresSession.connect(settings)
            try await session.execute(made)
            // A view that is only replaced keeps them.
            _ = try await Self.projector(ledger, settings, .longer).rebuild()
            let projector = Self.projector(ledger, settings, .second)
            let early = await #expect(throws: ProjectorError.self) {
                _ = try await projector.compare(then: .wait)
            }
            #expect(early?.code == .viewsInUse)
            #expect(
                early?.message.contains("wishes on view projection.shape") == true,
                "\(early as Any)"
            )
            #expect(try await buildSchemas(settings).count == 1)
            try await session.execute(dropped)
            _ = try await projector.compare(then: .wait)
            try await session.execute(
                made.replacing("CREATE FUNCTION", with: "CREATE OR REPLACE FUNCTION")
            )
            let late = await #expect(throws: ProjectorError.self) {
                _ = try await projector.promote()
            }
            #expect(
                late?.message.contains("wishes on view projection.shape") == true,
                "\(late as Any)"
            )
            try await session.execute(dropped)
            _ = try await projector.promote()
            await session.close()
        }
    }

    @Test func `additions to a view during a rebuild are named at its end`() async throws {
        try await Self.withShape { ledger, settings in
            let session = try await PostgresSession.connect(settings)
            let asked = Counter()
            // Checked when the work begins, and again when it is done.
            let projector = Projector(
                log: ledger.log,
                settings: settings,
                projections: [Shape.second]
            ) {
                asked.increment()
                if asked.value == 2 {
                    try await session.execute(
                        "CREATE RULE late AS ON UPDATE TO projection.shape DO INSTEAD NOTHING"
                    )
                }
                return FoldContext()
            }
            let error = await #expect(throws: ProjectorError.self) {
                _ = try await projector.rebuild()
            }
            #expect(error?.code == .viewsInUse && asked.value >= 2)
            #expect(
                error?.message.contains("late on view projection.shape") == true,
                "\(error as Any)"
            )
            #expect(try await session.query("SELECT first FROM projection.shape").count > 0)
            await session.close()
        }
    }

    @Test func `a view on a changed view is named before the work begins, not after it`()
        async throws
    {
        try await Self.withShape { ledger, settings in
            let session = try await PostgresSession.connect(settings)
            try await session.execute(
                "CREATE VIEW public.monthly AS SELECT count(*) FROM projection.shape"
            )
            let projector = Self.projector(ledger, settings, .second)
            let folded = Counter()
            var options = Projector.RebuildOptions()
            options.progress = { _ in folded.increment() }
            for compares in [false, true] {
                let error = await #expect(throws: ProjectorError.self) {
                    if compares {
                        _ = try await projector.compare(then: .wait, options)
                    } else {
                        _ = try await projector.rebuild(nil, options)
                    }
                }
                #expect(error?.code == .viewsInUse)
                let message = error?.message ?? ""
                #expect(
                    message.contains("public.monthly") && message.contains("shape"),
                    "\(message)"
                )
            }
            #expect(folded.value == 0)
            #expect(try await buildSchemas(settings).count == 1)
            // Views that are not promoted block nothing.
            _ = try await projector.compare(then: .drop)
            // Neither does a column that is added at the end.
            _ = try await Self.projector(ledger, settings, .longer).rebuild()
            #expect(try await session.query("SELECT * FROM public.monthly").count == 1)
            await session.close()
        }
    }

    @Test func `a view created on waiting tables is named by their promotion`() async throws {
        try await Self.withShape { ledger, settings in
            let projector = Self.projector(ledger, settings, .second)
            _ = try await projector.compare(then: .wait)
            let session = try await PostgresSession.connect(settings)
            try await session.execute(
                """
                CREATE FUNCTION public.all_of_it() RETURNS SETOF projection.shape
                LANGUAGE sql AS 'SELECT * FROM projection.shape'
                """
            )
            let error = await #expect(throws: ProjectorError.self) {
                _ = try await projector.promote()
            }
            #expect(error?.code == .viewsInUse)
            #expect(error?.message.contains("public.all_of_it") == true)
            try await session.execute("DROP FUNCTION public.all_of_it")
            await session.close()
            #expect(try await projector.promote().tables.contains { $0.name == "shape" })
        }
    }

    private static func withShape(
        _ body: (Ledger, ConnectionSettings) async throws -> Void
    ) async throws {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let ledger = try await FilledLedger.open(settings)
            _ = try await projector(ledger, settings, .first).rebuild()
            try await body(ledger, settings)
            await ledger.log.close()
        }
    }

    private static func projector(
        _ ledger: Ledger,
        _ settings: ConnectionSettings,
        _ shape: Shape
    ) -> Projector {
        Projector(log: ledger.log, settings: settings, projections: [shape])
    }
}

/// A projection whose versions have different columns.
private struct Shape: Projection {
    let name = "shape"
    let version: Int
    let columns: [String]
    var tableSQL: String {
        switch columns.count {
        case 1: table("\(columns[0]) bigint")
        default: table("\(columns[0]) bigint", "\(columns[1]) bigint")
        }
    }

    static let first = Shape(version: 1, columns: ["first"])
    static let longer = Shape(version: 2, columns: ["first", "more"])
    static let second = Shape(version: 3, columns: ["second"])

    func rows(of timeline: Timeline, in context: FoldContext) -> [ProjectionRow] {
        let position = Position(lane: .only, offset: 1)
        return [ProjectionRow(values: columns.map { _ in .integer(1) }, positions: [position])]
    }
}
