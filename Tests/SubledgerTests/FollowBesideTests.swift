import EventLog
import Events
import Postgres
import Projections
import Projector
import Subledger
import Synchronization
import TestSupport
import Testing

/// Other programs and other tables do not delay the live ones.
@Suite(.enabled { await TestServer.isAvailable })
struct FollowBesideTests {
    /// Possible faults of tables that are kept next to the live ones.
    enum Trouble: String, CaseIterable {
        case gone = "DROP SCHEMA side CASCADE"
        case locked = "BEGIN; LOCK TABLE side.active_periods IN SHARE MODE"
        case ofAnotherLog = """
            UPDATE projection.ledger_projection SET commit_digest = sha256('another log')
            WHERE build_schema = 'side'
            """

        var words: [String] {
            switch self {
            case .gone: ["one no longer exists", "tables discard --schema side"]
            case .locked: ["holds a lock"]
            case .ofAnotherLog: ["another log", "tables discard --schema side"]
            }
        }
    }

    @Test(arguments: Trouble.allCases)
    func `side tables never delay live ones`(_ trouble: Trouble) async throws {
        try await FollowTests.withLedger(lanes: 1) { ledger, settings in
            let projector = Projector(log: ledger.log, settings: settings)
            let deliveries = FollowTests.deliveries(seed: 31)
            try await ledger.ingest(Array(deliveries.prefix(deliveries.count / 3)))
            _ = try await projector.rebuild()
            _ = try await projector.build(into: "side")
            let session = try await PostgresSession.connect(settings)
            try await session.execute(trouble.rawValue)
            let notices = Notices()
            for end in [2, 3] {
                let start = deliveries.count * (end - 1) / 3
                try await ledger.ingest(Array(deliveries[start..<deliveries.count * end / 3]))
                var options = Projector.FollowOptions.once("one")
                options.notice = { notices.take($0) }
                #expect(try await projector.follow(options).events > 0)
                try await FollowTests.expectEqualsRebuild(projector, settings, "\(trouble)")
            }
            let told = try #require(notices.all.first)
            for word in ["schema side"] + trouble.words {
                #expect(told.contains(word), "\(word): \(told)")
            }
            if trouble == .locked {
                try await session.execute("COMMIT")
                _ = try await projector.follow(.once("one"))
                #expect(try await projector.tables().allSatisfy { $0.lag == 0 })
            }
            try await projector.discard(schema: "side")
            await session.close()
        }
    }

    @Test func `a missing live table is named with its repair`() async throws {
        try await FollowTests.withLedger(lanes: 1) { ledger, settings in
            let projector = Projector(log: ledger.log, settings: settings)
            let schema = try #require(try await projector.rebuild().first).schema
            try await ledger.ingest(Array(FollowTests.deliveries(seed: 32).prefix(20)))
            let session = try await PostgresSession.connect(settings)
            try await session.execute("DROP SCHEMA \(schema) CASCADE")
            await session.close()
            let error = await #expect(throws: ProjectorError.self) {
                _ = try await projector.follow(.once("one"))
            }
            #expect(error?.code == .nothingLive)
            #expect(error?.message.contains("subledger rebuild") == true)
            _ = try await projector.rebuild()
            try await FollowTests.expectEqualsRebuild(projector, settings, "gone")
        }
    }

    @Test func `programs with different folds do not wait for each other's lease`() async throws {
        try await FollowTests.withLedger(lanes: 1) { ledger, settings in
            let projector = Projector(log: ledger.log, settings: settings)
            _ = try await projector.rebuild()
            try await ledger.ingest(Array(FollowTests.deliveries(seed: 33).prefix(20)))
            let session = try await PostgresSession.connect(settings)
            try await session.execute(
                """
                INSERT INTO operation.lease VALUES
                    (0, 'other folds', 'another', clock_timestamp() + '1 hour')
                """
            )
            #expect(try await projector.follow(.onceUnlessHeld("one")).steps == 1)
            let left = try await session.query("SELECT holder FROM operation.lease")
            #expect(try left.single().text(0) == "another")
            await session.close()
        }
    }

    @Test func `a wait for a position ignores the tables of another log`()
        async throws
    {
        try await FollowTests.withLedger(lanes: 1) { ledger, settings in
            let projector = Projector(log: ledger.log, settings: settings)
            try await ledger.ingest(Array(FollowTests.deliveries(seed: 34).prefix(20)))
            _ = try await projector.rebuild()
            #expect(try await projector.wait(for: [0: 1]) { true })
            let session = try await PostgresSession.connect(settings)
            try await session.execute(
                "UPDATE projection.ledger_projection SET commit_digest = sha256('another log')"
            )
            await session.close()
            let error = await #expect(throws: ProjectorError.self) {
                _ = try await projector.wait(for: [0: 1]) { true }
            }
            #expect(error?.code == .logForked)
        }
    }

    @Test func `a cancelled follower reports what it has done`() async throws {
        try await FollowTests.withLedger(lanes: 1) { ledger, settings in
            let projector = Projector(log: ledger.log, settings: settings)
            _ = try await projector.rebuild()
            try await ledger.ingest(Array(FollowTests.deliveries(seed: 35).prefix(20)))
            let (steps, step) = AsyncStream<Void>.makeStream()
            var options = Projector.FollowOptions(holder: "one")
            options.pollInterval = .seconds(3600)
            options.progress = { if $0.steps > 0, $0.lag == 0 { step.yield() } }
            let following = Task { [options] in try await projector.follow(options) }
            var stepping = steps.makeAsyncIterator()
            await stepping.next()
            following.cancel()
            #expect(try await following.value.steps > 0)
        }
    }

    @Test func `foreign objects in a schema of tables survive a drop`()
        async throws
    {
        try await FollowTests.withLedger(lanes: 1) { ledger, settings in
            let projector = Projector(log: ledger.log, settings: settings)
            let schema = "a$subledger$b'\"c"
            let own = "\"a$subledger$b'\"\"c\".own"
            _ = try await projector.build(into: schema)
            let session = try await PostgresSession.connect(settings)
            try await session.execute("CREATE TABLE \(own) AS SELECT 42 AS answer")
            let notices = Notices()
            var options = Projector.RebuildOptions()
            options.notice = { notices.take($0) }
            try await projector.discard(schema: schema, options)
            #expect(try await session.query("SELECT answer FROM \(own)").single().int4(0) == 42)
            #expect(notices.all.contains { $0.hasSuffix("no rebuild created: own") })
            #expect(try await projector.tables().isEmpty)
            await session.close()
        }
    }
}

/// Keeps the notices from other threads.
final class Notices: Sendable {
    private let told = Mutex([String]())

    var all: [String] { told.withLock { $0 } }

    func take(_ notice: String) { told.withLock { $0.append(notice) } }
}
