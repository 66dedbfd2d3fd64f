import AppStoreSimulator
import EventLog
import Events
import Postgres
import Projections
import Projector
import Subledger
import Synchronization
import TestSupport
import Testing

/// Promise 8: followed tables always equal those of a rebuild, byte for byte.
@Suite(.enabled { await TestServer.isAvailable })
struct FollowTests {
    @Test(arguments: [UInt64(1), 2, 3])
    func `tables followed batch by batch equal those of a rebuild`(
        seed: UInt64
    ) async throws {
        try await Self.withLedger(lanes: seed == 3 ? 4 : 1) { ledger, settings in
            var random = TestSupport.SeededGenerator(seed: seed)
            let projector = Projector(log: ledger.log, settings: settings)
            let batches = Self.deliveries(seed: seed).batches(using: &random)
            let firsts = Int.random(in: 0..<batches.count, using: &random)
            for batch in batches[..<firsts] { try await ledger.ingest(batch) }
            _ = try await projector.rebuild()
            for batch in batches[firsts...] {
                try await ledger.ingest(batch)
                let followed = try await projector.follow(.once("test"))
                #expect(followed.lag == 0, "seed \(seed)")
            }
            try await Self.expectEqualsRebuild(projector, settings, "seed \(seed)")
        }
    }

    @Test func `two concurrent followers share the lanes and do nothing twice`() async throws {
        try await Self.withLedger(lanes: 4) { ledger, settings in
            let projector = Projector(log: ledger.log, settings: settings)
            _ = try await projector.rebuild()
            let batches = Self.deliveries(seed: 9).chunked(40)
            let done = try await withThrowingTaskGroup(of: Projector.Following.self) { group in
                let ends = Counter()
                for name in ["one", "other"] {
                    group.addTask {
                        var options = Projector.FollowOptions(holder: name)
                        options.pollInterval = .milliseconds(1)
                        options.isStopped = { ends.value > 0 }
                        return try await projector.follow(options)
                    }
                }
                for batch in batches { try await ledger.ingest(batch) }
                let heads = try await ledger.log.heads().mapValues(\.offset)
                #expect(try await projector.wait(for: heads) { false })
                ends.increment()
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let events = try await ledger.log.heads().values.reduce(0) { $0 + $1.offset }
            // A step counts once for all tables, so the sum is the log.
            #expect(done.map(\.events).reduce(0, +) == events)
            _ = try await projector.follow(.once("last"))
            try await Self.expectEqualsRebuild(projector, settings, "two")
            let leases = try await Self.texts(settings, "SELECT holder FROM operation.lease")
            #expect(leases.isEmpty)
        }
    }

    @Test func `a lane is left to its holder until the lease expires`() async throws {
        try await Self.withLedger(lanes: 1) { ledger, settings in
            let projector = Projector(log: ledger.log, settings: settings)
            _ = try await projector.rebuild()
            let session = try await PostgresSession.connect(settings)
            try await session.execute(
                """
                INSERT INTO operation.lease VALUES (0, '\(projector.foldNames)', 'gone',
                    clock_timestamp() + '1 hour')
                """
            )
            try await ledger.ingest(Array(Self.deliveries(seed: 4).prefix(20)))
            let looks = Counter()
            var options = Projector.FollowOptions.once("waiting")
            options.pollInterval = .milliseconds(1)
            options.progress = { if $0.lanesHeldByOthers == 1 { looks.increment() } }
            options.isStopped = { looks.value >= 3 }
            let waited = try await projector.follow(options)
            #expect(waited.steps == 0)
            #expect(waited.lag > 0)
            try await session.execute("UPDATE operation.lease SET expires_at = clock_timestamp()")
            let followed = try await projector.follow(.onceUnlessHeld("heir"))
            #expect(followed.steps == 1)
            await session.close()
            try await Self.expectEqualsRebuild(projector, settings, "lease")
        }
    }

    @Test func `a lease that would not expire within an hour does not hold a lane`() async throws {
        try await Self.withLedger(lanes: 1) { ledger, settings in
            let projector = Projector(log: ledger.log, settings: settings)
            _ = try await projector.rebuild()
            let session = try await PostgresSession.connect(settings)
            try await session.execute(
                """
                INSERT INTO operation.lease VALUES (0, '\(projector.foldNames)', 'forged',
                    'infinity')
                """
            )
            await session.close()
            try await ledger.ingest(Array(Self.deliveries(seed: 4).prefix(20)))
            // One look at the log: with the lane held by another, there is no step.
            let looks = Counter()
            var options = Projector.FollowOptions.once("heir")
            options.progress = { _ in looks.increment() }
            options.isStopped = { looks.value >= 1 }
            let followed = try await projector.follow(options)
            #expect(followed.steps == 1 && followed.lanesHeldByOthers == 0)
        }
    }

    @Test func `repeated losses of the database are reported once a minute`() async throws {
        try await Self.withLedger(lanes: 1) { ledger, settings in
            let projector = Projector(log: ledger.log, settings: settings)
            _ = try await projector.rebuild()
            let session = try await PostgresSession.connect(settings)
            let (losses, notices) = (Counter(), Counter())
            var options = Projector.FollowOptions(holder: "test")
            options.pollInterval = .milliseconds(10)
            options.notice = { if $0.hasPrefix("lost the database") { notices.increment() } }
            options.takesLoss = { _ in
                losses.increment()
                return false
            }
            options.isStopped = { losses.value >= 2 }
            let follow = options
            let ends = Counter()
            async let following: Void = {
                // The last loss may also end it with its error.
                do {
                    _ = try await projector.follow(follow)
                } catch {
                    #expect((error as? ProjectorError)?.isPassing == true)
                }
                ends.increment()
            }()
            while losses.value < 2, ends.value == 0 {
                try await session.query(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE datname = current_database() AND pid <> pg_backend_pid()
                    """
                )
                try await Task.sleep(for: .milliseconds(20))
            }
            await following
            #expect(losses.value == 2 && notices.value == 1)
            await session.close()
        }
    }

    @Test func `a replaced log stops every follower`() async throws {
        try await Self.withLedger(lanes: 1) { ledger, settings in
            let projector = Projector(log: ledger.log, settings: settings)
            try await ledger.ingest(Array(Self.deliveries(seed: 5).prefix(20)))
            _ = try await projector.rebuild()
            let session = try await PostgresSession.connect(settings)
            let digest = Digest.of(Array("another log".utf8))
            try await session.query(
                "UPDATE projection.ledger_projection SET commit_digest = $1",
                [.bytea(digest.bytes)]
            )
            // With news or without.
            for seed in [nil, UInt64(6)] {
                if let seed {
                    try await ledger.ingest(Array(Self.deliveries(seed: seed).prefix(20)))
                }
                let error = await #expect(throws: ProjectorError.self) {
                    _ = try await projector.follow(.once("test"))
                }
                #expect(error?.code == .logForked)
                #expect(error?.message.contains(digest.hex) == true)
            }
            // A rebuild is the way out, although the live tables claim more.
            try await session.execute("UPDATE projection.ledger_projection SET commit_no = 10000")
            await session.close()
            _ = try await projector.rebuild()
            try await Self.expectEqualsRebuild(projector, settings, "fork")
        }
    }

    @Test func `a running follower uses the catalog with which tables were rebuilt`() async throws {
        try await Self.withLedger(lanes: 1) { ledger, settings in
            let imported = Counter()
            let projector = Projector(log: ledger.log, settings: settings) {
                FoldContext(catalogs: imported.value > 0 ? .simulated : .none)
            }
            let deliveries = Self.deliveries(seed: 8)
            try await ledger.ingest(Array(deliveries.prefix(deliveries.count / 2)))
            _ = try await projector.rebuild()
            let ends = Counter()
            var options = Projector.FollowOptions(holder: "long-lived")
            options.pollInterval = .milliseconds(1)
            options.isStopped = { ends.value > 0 }
            let following = Task { [options] in try await projector.follow(options) }
            imported.increment()
            _ = try await projector.rebuild()
            try await ledger.ingest(Array(deliveries.suffix(from: deliveries.count / 2)))
            let heads = try await ledger.log.heads().mapValues(\.offset)
            #expect(try await projector.wait(for: heads) { false })
            ends.increment()
            _ = try await following.value
            #expect(try await projector.tables().allSatisfy { $0.catalogVersion > 0 })
            try await Self.expectEqualsRebuild(projector, settings, "catalog")
        }
    }

    @Test func `a follower that dies in a step leaves nothing of it`() async throws {
        try await Self.withLedger(lanes: 1) { ledger, settings in
            let projector = Projector(log: ledger.log, settings: settings)
            _ = try await projector.rebuild()
            try await ledger.ingest(Self.deliveries(seed: 7))
            let session = try await PostgresSession.connect(settings)
            // The last statement of a step fails, after all rows were written.
            try await session.execute(
                """
                ALTER TABLE projection.ledger_projection
                    ADD CONSTRAINT test_stop CHECK (lane_offset < 1)
                """
            )
            await #expect(throws: ProjectorError.self) {
                _ = try await projector.follow(.once("dies"))
            }
            let counted = try await Self.texts(
                settings,
                "SELECT count(*)::text FROM projection.transactions"
            )
            #expect(counted == ["0"])
            try await session.execute(
                "ALTER TABLE projection.ledger_projection DROP CONSTRAINT test_stop"
            )
            await session.close()
            _ = try await projector.follow(.once("again"))
            try await Self.expectEqualsRebuild(projector, settings, "death")
        }
    }
}

extension FollowTests {
    private static let fourLanes = TestTemplate("migrated_four_lanes") {
        _ = try await Migrator.migrate($0, .divided)
    }

    /// A ledger without events.
    static func withLedger(
        lanes: Int,
        _ body: (Ledger, ConnectionSettings) async throws -> Void
    ) async throws {
        let template = lanes == 1 ? TestTemplate.migrated : fourLanes
        try await TestServer.shared.withDatabase(from: template) { settings in
            let ledger = try await FilledLedger.open(settings)
            try await body(ledger, settings)
            await ledger.log.close()
        }
    }

    /// The payloads of some subscriptions, out of order, some twice.
    static func deliveries(seed: UInt64) -> [Delivery] {
        FilledLedger.simulator.sampleHistory(count: 20).disordered(seed: seed)
    }

    /// Compares the live tables with those of a rebuild, positions included.
    static func expectEqualsRebuild(
        _ projector: Projector,
        _ settings: ConnectionSettings,
        _ comment: String
    ) async throws {
        let live = try await projector.tables().filter { $0.state == .live }
        let rebuilt = try await projector.build(into: "expected")
        #expect(live.map(\.digest) == rebuilt.map(\.digest), "\(comment)")
        #expect(live.map(\.rows) == rebuilt.map(\.rows), "\(comment)")
        #expect(live.map(\.positions) == rebuilt.map(\.positions), "\(comment)")
        #expect(live.contains { $0.rows > 0 })
        for projection in allProjections {
            let rows = "t.*::text FROM %.\(projection.name) t ORDER BY 1"
            let found = try await texts(
                settings,
                "SELECT \(rows.replacing("%", with: "projection"))"
            )
            let expected = try await texts(
                settings,
                "SELECT \(rows.replacing("%", with: "expected"))"
            )
            #expect(found == expected, "\(comment): \(projection.name)")
        }
        try await projector.discard(schema: "expected")
    }

    static func texts(_ settings: ConnectionSettings, _ sql: String) async throws -> [String] {
        let session = try await PostgresSession.connect(settings)
        let rows = try await session.query(sql).map { try $0.text(0) }
        await session.close()
        return rows
    }
}

extension Projector.FollowOptions {
    /// Catches up once.
    static func once(_ holder: String) -> Projector.FollowOptions {
        var options = Projector.FollowOptions(holder: holder)
        options.isOnce = true
        return options
    }
}

extension [Delivery] {
    /// Splits of random lengths, in order.
    func batches(using random: inout TestSupport.SeededGenerator) -> [[Delivery]] {
        var batches: [[Delivery]] = []
        var rest = self[...]
        while !rest.isEmpty {
            let count = Int.random(in: 1...60, using: &random)
            batches.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return batches
    }

    func chunked(_ count: Int) -> [[Delivery]] {
        stride(from: 0, to: self.count, by: count).map {
            Array(self[$0..<Swift.min($0 + count, self.count)])
        }
    }
}

/// Counts events on other threads.
final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }

    func increment() { count.wrappingAdd(1, ordering: .relaxed) }
}
