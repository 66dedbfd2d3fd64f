import AppStoreSimulator
import EventLog
import Events
import Postgres
import Projections
import Projector
import Subledger
import TestSupport
import Testing

/// How the views for analysts are created, and stay correct whatever happens to the live tables.
@Suite(.enabled { await TestServer.isAvailable })
struct AnalyticsSchemaTests {
    @Test func `a view exists only if all its projections were built`() async throws {
        try await AnalyticsSchemaTests.withLedger { ledger, settings in
            let projector = Projector(log: ledger.log, settings: settings)
            _ = try await projector.rebuild(
                try projector.projections(named: ["transactions", "customers"])
            )
            let some = try await AnalyticsSchemaTests.views(settings)
            #expect(some.contains("transactions") && some.contains("customer_value"))
            #expect(!some.contains("movements") && !some.contains("subscriptions"))
            #expect(!some.contains("daily_snapshot"))
            _ = try await projector.rebuild()
            let all = try await AnalyticsSchemaTests.views(settings)
            #expect(all.isSuperset(of: some) && all.contains("daily_snapshot"))
            let function = try await AnalyticsSchemaTests.session(settings) { session in
                try await session.query(
                    "SELECT to_regprocedure('analytics.retention_at(timestamptz)') IS NOT NULL"
                ).single().bool(0)
            }
            #expect(function)
        }
    }

    @Test func `our views do not block a live view with other columns, and grants stay`()
        async throws
    {
        try await AnalyticsSchemaTests.withLedger { ledger, settings in
            _ = try await Projector(log: ledger.log, settings: settings).rebuild()
            try await AnalyticsSchemaTests.session(settings) { session in
                try await session.execute(
                    """
                    GRANT SELECT ON analytics.transactions TO pg_monitor WITH GRANT OPTION;
                    GRANT SELECT ON analytics.customers TO PUBLIC
                    """
                )
            }
            let before = try await AnalyticsSchemaTests.views(settings)
            let other = Projector(
                log: ledger.log,
                settings: settings,
                projections: allProjections.map { $0.name == "transactions" ? Moved($0) : $0 }
            )
            // A column with another type makes the view be created again.
            _ = try await other.rebuild()
            #expect(try await AnalyticsSchemaTests.views(settings) == before)
            try await AnalyticsSchemaTests.session(settings) { session in
                let kept = try await session.query(
                    """
                    SELECT has_table_privilege('pg_monitor', 'analytics.transactions',
                            'SELECT WITH GRANT OPTION'),
                        EXISTS (SELECT FROM aclexplode((SELECT relacl FROM pg_class
                            WHERE oid = 'analytics.customers'::regclass)) WHERE grantee = 0),
                        has_table_privilege('ledger_reader', 'analytics.daily_snapshot', 'SELECT'),
                        (SELECT count(*) > 0 FROM analytics.customers)
                    """
                ).single()
                for column in 0..<4 { #expect(try kept.bool(column), "column \(column)") }
            }
            _ = try await Projector(log: ledger.log, settings: settings).rebuild()
            #expect(try await AnalyticsSchemaTests.views(settings) == before)
        }
    }

    @Test func `an analyst reads everything in schema analytics, and nothing else`() async throws {
        try await AnalyticsSchemaTests.withLedger { ledger, settings in
            let every = allProjections + projectionsOnRequest
            let projector = Projector(log: ledger.log, settings: settings, projections: every)
            _ = try await projector.rebuild(projector.projections(named: every.map(\.name)))
            var calls = [
                "analytics.daily_snapshot_between('2025-01-01', '2025-01-31')",
                "analytics.retention_at('2025-06-01')", "analytics.ingest_quality_by_day()",
                "analytics.repeated_purchases()",
            ]
            calls += AnalyticsRelation.all.filter { $0.grain != nil }.map { "analytics.\($0.name)" }
            try await AnalyticsSchemaTests.session(settings) { session in
                try await session.execute("SET ROLE ledger_analyst")
                for call in calls { _ = try await session.query("SELECT * FROM \(call) LIMIT 1") }
                _ = try await session.query(
                    "SELECT analytics.last_signed_at(), analytics.recorded_at(0, 1)"
                )
                for table in [
                    "projection.transactions", "projection.ledger_projection", "ledger.event",
                    "ledger.evidence", "operation.token",
                ] {
                    let error = await #expect(throws: PostgresError.self) {
                        try await session.query("SELECT FROM \(table)")
                    }
                    #expect(error?.sqlState == "42501", "\(table)")
                }
            }
        }
    }

    @Test func `a user's view on ours is named if ours has to be replaced`() async throws {
        try await AnalyticsSchemaTests.withLedger { ledger, settings in
            _ = try await Projector(log: ledger.log, settings: settings).rebuild()
            try await AnalyticsSchemaTests.session(settings) { session in
                try await session.execute(
                    "CREATE VIEW public.board AS SELECT count(*) FROM analytics.customers"
                )
            }
            let other = Projector(
                log: ledger.log,
                settings: settings,
                projections: allProjections.map { $0.name == "transactions" ? Moved($0) : $0 }
            )
            let error = await #expect(throws: ProjectorError.self) { _ = try await other.rebuild() }
            #expect(error?.code == .viewsInUse)
            #expect(error?.message.contains("public.board") == true, "\(error as Any)")
            // If the columns stay, the view stays, too.
            _ = try await Projector(log: ledger.log, settings: settings).rebuild()
            let rows = try await AnalyticsSchemaTests.session(settings) { session in
                try await session.query("SELECT * FROM public.board").count
            }
            #expect(rows == 1)
        }
    }

    @Test func `missing views are created again, and another's schema is left alone`()
        async throws
    {
        try await AnalyticsSchemaTests.withLedger { ledger, settings in
            let projector = Projector(log: ledger.log, settings: settings)
            let refunds = try projector.projections(named: ["refunds"])
            _ = try await projector.rebuild()
            let all = try await AnalyticsSchemaTests.views(settings)
            try await AnalyticsSchemaTests.session(settings) { session in
                try await session.execute("DROP VIEW analytics.retention, analytics.periods")
            }
            _ = try await projector.rebuild(refunds)
            #expect(try await AnalyticsSchemaTests.views(settings) == all)
            try await AnalyticsSchemaTests.session(settings) { session in
                try await session.execute(
                    """
                    DROP SCHEMA analytics CASCADE; CREATE SCHEMA analytics;
                    CREATE TABLE analytics.transactions (mine int)
                    """
                )
            }
            _ = try await projector.rebuild()
            #expect(try await AnalyticsSchemaTests.views(settings).isEmpty)
        }
    }

    @Test func `followed tables and views contain the same as rebuilt ones`() async throws {
        try await AnalyticsSchemaTests.withLedger { ledger, settings in
            _ = try await Projector(log: ledger.log, settings: settings).rebuild()
            let simulator = FilledLedger.simulator
            try await ledger.ingest(
                (FilledLedger.lives..<FilledLedger.lives + 5).flatMap {
                    simulator.life($0).deliveries()
                }
            )
            var options = Projector.FollowOptions(holder: "test")
            options.isOnce = true
            _ = try await Projector(log: ledger.log, settings: settings).follow(options)
            let followed = try await AnalyticsSchemaTests.content(settings)
            _ = try await Projector(log: ledger.log, settings: settings).rebuild()
            #expect(try await AnalyticsSchemaTests.content(settings) == followed)
        }
    }

    private static func content(_ settings: ConnectionSettings) async throws -> [String] {
        try await session(settings) { session in
            var content: [String] = []
            for view in ["transactions", "movements", "daily_snapshot", "retention", "periods"] {
                content.append(
                    try await session.query(
                        "SELECT md5(string_agg(v::text, '|' ORDER BY v::text)) FROM analytics.\(view) v"
                    ).single().text(0)
                )
            }
            return content
        }
    }

    private static func withLedger(
        _ body: (Ledger, ConnectionSettings) async throws -> Void
    ) async throws {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let ledger = try await FilledLedger.open(settings)
            try await body(ledger, settings)
            await ledger.log.close()
        }
    }

    private static func session<Value: Sendable>(
        _ settings: ConnectionSettings,
        _ body: (PostgresSession) async throws -> Value
    ) async throws -> Value {
        let session = try await PostgresSession.connect(settings)
        let value = try await body(session)
        await session.close()
        return value
    }

    private static func views(_ settings: ConnectionSettings) async throws -> Set<String> {
        try await session(settings) { session in
            Set(
                try await session.query(
                    "SELECT viewname::text FROM pg_views WHERE schemaname = 'analytics'"
                ).map { try $0.text(0) }
            )
        }
    }
}

/// A projection with another type in one column, so that no view can simply be replaced.
private struct Moved: Projection {
    private let original: any Projection

    init(_ original: any Projection) { self.original = original }

    var name: String { original.name }
    var version: Int { original.version + 100 }
    var columns: [String] { original.columns }
    var tableSQL: String {
        original.tableSQL.replacing(/group_level +integer/, with: "group_level bigint")
    }
    var indexSQL: String { original.indexSQL }

    func rows(
        of timeline: Timeline,
        in context: FoldContext
    ) throws(FoldRefusal) -> [ProjectionRow] {
        let place = columns.firstIndex(of: "group_level") ?? 0
        return try original.rows(of: timeline, in: context).map { row in
            var values = row.values
            if case .int32(let level) = values[place] { values[place] = .integer(Int64(level)) }
            return ProjectionRow(values: values, positions: row.positions)
        }
    }
}
