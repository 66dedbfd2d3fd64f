import EventLog
import Events
import Foundation
import Postgres
import Projections
import Projector
import Subledger
import TestSupport
import Testing

/// Tables that wait to be promoted, and what happens to them.
@Suite(.enabled { await TestServer.isAvailable })
struct WaitingTablesTests {
    @Test func `waiting tables are dropped, and promoted ones stay`() async throws {
        try await Self.withRebuiltLedger { projector, settings in
            _ = try await projector.compare(then: .wait)
            _ = try await projector.promote(try projector.projections(named: ["refunds"]))
            let some = try await projector.discard(
                try projector.projections(named: ["movements", "refunds"])
            )
            #expect(some.map { $0.hasSuffix(".movements") } == [true])
            #expect(try await projector.discard().count == allProjections.count - 2)
            let tables = try await projector.tables()
            #expect(tables.map(\.state) == allProjections.map { _ in .live })
            for projection in allProjections {
                let counted = try await FollowTests.texts(
                    settings,
                    "SELECT count(*)::text FROM projection.\(projection.name)"
                )
                #expect(counted == ["\(tables.first { $0.name == projection.name }?.rows ?? -1)"])
            }
        }
    }

    @Test func `a rebuild reports a newer catalog and a replaced newer fold`()
        async throws
    {
        try await FollowTests.withLedger(lanes: 1) { ledger, settings in
            let imported = Counter()
            let projector = Projector(log: ledger.log, settings: settings) {
                FoldContext(catalogs: imported.value > 0 ? .simulated : .none)
            }
            let notices = Notices()
            var options = Projector.RebuildOptions()
            // A busy server keeps a dropped table, or the lock of a finished rebuild, longer than
            // the next one waits for it.
            options.notice = {
                if !$0.contains("is discarded but still in use"), !$0.hasSuffix("waiting for it") {
                    notices.take($0)
                }
            }
            for _ in 0..<2 { _ = try await projector.rebuild(nil, options) }
            #expect(notices.all.isEmpty)
            imported.increment()
            #expect(try await projector.compare(then: .drop, catalog: .ofLive, options).isClean)
            let behind = try #require(notices.all.first)
            #expect(behind.contains("was imported since") && behind.contains("tables diff"))
            _ = try await projector.rebuild(nil, options)
            #expect(notices.all.last?.contains("replace used none") == true)
            let session = try await PostgresSession.connect(settings)
            try await session.execute(
                "UPDATE projection.ledger_projection SET version = 7 WHERE name = 'refunds'"
            )
            await session.close()
            _ = try await projector.rebuild(nil, options)
            #expect(
                notices.all.last?.hasSuffix(
                    "refunds has fold version 7, this program \(foldVersion(of: "refunds"))"
                ) == true
            )
            #expect(notices.all.count == 3, "\(notices.all)")
        }
    }

    @Test func `tables of two comparisons are promoted together`() async throws {
        try await Self.withRebuiltLedger { projector, _ in
            let names = ["refunds", "movements"]
            for name in names {
                let chosen = try projector.projections(named: [name])
                #expect(try await projector.compare(chosen, then: .wait).isClean)
            }
            let promoted = try await projector.promote()
            #expect(Set(promoted.tables.map(\.name)) == Set(names))
            #expect(Set(promoted.tables.map(\.schema)).count == 2)
            #expect(try await projector.tables().allSatisfy { $0.state == .live })
            await #expect(throws: ProjectorError.self) { _ = try await projector.promote() }
        }
    }

    @Test func `waiting tables are replaced by the next comparison, unless it fails`()
        async throws
    {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let ledger = try await FilledLedger.open(settings)
            let projector = Projector(log: ledger.log, settings: settings)
            _ = try await projector.rebuild()
            _ = try await projector.compare(then: .wait)
            let session = try await PostgresSession.connect(settings)
            let role = "owner_\(ProcessInfo.processInfo.processIdentifier)"
            try await session.execute(
                "CREATE ROLE \(role) LOGIN; GRANT ledger_projector TO \(role)"
            )
            // One may not create a schema; the other's fold gives rows that no table accepts.
            let given = settings.fullConnectionString
            let option =
                given.contains("://")
                ? "\(given.contains("?") ? "&" : "?")options=-c%20role%3D\(role)"
                : " options='-c role=\(role)'"
            let mayNot = ConnectionSettings(given + option)
            let failing = [
                Projector(log: ledger.log, settings: mayNot),
                Projector(
                    log: ledger.log,
                    settings: settings,
                    projections: allProjections + [Unfit()]
                ),
            ]
            for (failing, code) in zip(failing, [ProjectorError.Code.permissionDenied, .database]) {
                let error = await #expect(throws: ProjectorError.self) {
                    _ = try await failing.compare(then: .wait)
                }
                #expect(error?.code == code, "\(error as Any)")
                let waiting = try await projector.tables().filter { $0.state == .ready }
                #expect(waiting.map(\.name) == allProjections.map(\.name))
                #expect(Set(waiting.map(\.schema)) == ["projection_2"])
            }
            try await session.execute("DROP OWNED BY \(role); DROP ROLE \(role)")
            await session.close()

            _ = try await projector.compare(then: .wait)
            let waiting = try await projector.tables().filter { $0.state == .ready }
            #expect(waiting.map(\.name) == allProjections.map(\.name))
            #expect(!waiting.contains { $0.schema == "projection_2" })
            #expect(try await buildSchemas(settings).count == 2)
            #expect(try await projector.promote().tables.count == allProjections.count)
            await ledger.log.close()
        }
    }

    @Test func `a view on a replaced table is left alone and reported`() async throws {
        try await Self.withRebuiltLedger { projector, settings in
            let schema = try #require(try await projector.tables().first).schema
            let session = try await PostgresSession.connect(settings)
            try await session.execute(
                "CREATE VIEW public.direct AS SELECT count(*) FROM \(schema).refunds"
            )
            let notices = Counter()
            var options = Projector.RebuildOptions()
            options.notice = { if $0.contains("depend") { notices.increment() } }
            for _ in 0..<2 { _ = try await projector.rebuild(nil, options) }
            #expect(notices.value > 0)
            #expect(try await session.query("SELECT * FROM public.direct").count == 1)
            await session.close()
        }
    }

    @Test func `tables with different catalogs are each checked with their own`() async throws {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let ledger = try await FilledLedger.open(settings)
            let imported = Counter()
            let projector = Projector(log: ledger.log, settings: settings) {
                FoldContext(catalogs: imported.value > 0 ? .simulated : .none)
            }
            _ = try await projector.rebuild()
            imported.increment()
            _ = try await projector.rebuild(try projector.projections(named: ["plan_changes"]))
            let check = try await projector.compare(then: .drop, catalog: .ofLive)
            #expect(check.isClean)
            let session = try await PostgresSession.connect(settings)
            let movements = try await projector.tables().first { $0.name == "movements" }
            let schema = try #require(movements).schema
            try await session.execute(
                "UPDATE \(schema).movements SET positions = '{999999}' WHERE ordinal = 1"
            )
            await session.close()
            let again = try await projector.compare(then: .drop, catalog: .ofLive)
            #expect(
                again.difference.isEqual && again.citationMismatches == ["movements"]
                    && !again.isClean
            )
            let difference = try await projector.compare(then: .drop).difference
            #expect(!difference.isEqual)
            await ledger.log.close()
        }
    }

    private static func withRebuiltLedger(
        _ body: (Projector, ConnectionSettings) async throws -> Void
    ) async throws {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let ledger = try await FilledLedger.open(settings)
            let projector = Projector(log: ledger.log, settings: settings)
            _ = try await projector.rebuild()
            try await body(projector, settings)
            await ledger.log.close()
        }
    }
}

/// A fold that gives fewer values than its table has columns.
private struct Unfit: Projection {
    let name = "unfit"
    let version = 1
    let columns = ["one", "other"]
    var tableSQL: String { table("one bigint", "other bigint") }

    func rows(of timeline: Timeline, in context: FoldContext) -> [ProjectionRow] {
        [ProjectionRow(.integer(1), causedBy: [])]
    }
}
