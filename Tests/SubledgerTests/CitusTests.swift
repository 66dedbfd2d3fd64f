import EventLog
import Events
import Postgres
import Projections
import Projector
import Subledger
import Synchronization
import TestSupport
import Testing

/// A ledger that is distributed over the servers of a Citus cluster keeps the promises of one on a
/// single server.
@Suite(.enabled(if: CitusCluster.shared != nil), .serialized)
struct CitusTests {
    private static let lanes = LaneCount(8)
    private static let distributed = Migrator.Layout(lanes: lanes, isDistributed: true)

    @Test func `followed tables of a distributed ledger equal those of a rebuild`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let changes = try await Migrator.migrate(settings, Self.distributed)
            #expect(changes.distributed.contains("distribution of ledger.event"))
            #expect(try await Migrator.migrate(settings).isEmpty)
            let ledger = try await FilledLedger.open(settings)
            let projector = Projector(log: ledger.log, settings: settings)
            let deliveries = FollowTests.deliveries(seed: 1)
            try await ledger.ingest(Array(deliveries.prefix(deliveries.count / 2)))
            _ = try await projector.rebuild()
            try await ledger.ingest(deliveries)
            #expect(try await projector.follow(.once("test")).lag == 0)
            try await FollowTests.expectEqualsRebuild(projector, settings, "distributed")
            let before = try await ledger.log.heads().mapValues(\.digest)
            try await ledger.ingest(deliveries)
            #expect(try await ledger.log.heads().mapValues(\.digest) == before)
            let report = try await ledger.log.verify()
            #expect(report.isOK)
            #expect(report.events > 0)
            await ledger.log.close()
        }
    }

    @Test func `a filled ledger is moved with its rows, its chains and its guards`() async throws {
        try await TestServer.shared.withDatabase { settings in
            _ = try await Migrator.migrate(settings, Migrator.Layout(lanes: Self.lanes))
            let deliveries = FollowTests.deliveries(seed: 2)
            var ledger = try await FilledLedger.open(settings)
            try await ledger.ingest(deliveries)
            let before = try await ledger.log.heads().mapValues(\.digest)
            await ledger.log.close()
            let changes = try await Migrator.migrate(settings, Self.distributed)
            #expect(changes.distributed.contains("a shard for each lane"))
            ledger = try await FilledLedger.open(settings)
            #expect(try await ledger.log.heads().mapValues(\.digest) == before)
            #expect(try await ledger.log.verify().isOK)
            try await ledger.ingest(deliveries)
            #expect(try await ledger.log.heads().mapValues(\.digest) == before)
            await ledger.log.close()
            for change in ["DELETE FROM ledger.event", "TRUNCATE ledger.event"] {
                let error = await #expect(throws: PostgresError.self) {
                    try await CitusCluster.execute(change, settings)
                }
                #expect(error?.sqlState == "LG001")
            }
        }
    }

    @Test func `a shard without a guard is reported`() async throws {
        try await TestServer.shared.withDatabase { settings in
            _ = try await Migrator.migrate(settings, Self.distributed)
            let inspector = LedgerInspector(settings)
            #expect(try await inspector.differences().isEmpty)
            try await CitusCluster.execute(
                """
                SELECT run_command_on_placements('ledger.commit', 'ALTER TABLE %s DISABLE TRIGGER ALL')
                """,
                settings
            )
            let found = try await inspector.differences()
            #expect(found.count == 8)
            #expect(found.allSatisfy { $0.hasPrefix("triggers of shard ledger.commit_") })
            let said = Mutex<[String]>([])
            _ = try await Migrator.migrate(settings) { text in said.withLock { $0.append(text) } }
            #expect(said.withLock { $0.count } == 8)
        }
    }
}
