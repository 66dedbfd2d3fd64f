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
            var customers: [StreamKey: [StreamID]] = [:]
            for line in try await ledger.log.streams() {
                for event in try await ledger.log.history(of: line.stream).events {
                    guard let token = event.fact.content.text(.appAccountToken) else { continue }
                    let key = StreamKey.appAccountToken(token)
                    customers[key] = try await ledger.log.streams(with: [key])
                }
            }
            #expect(!customers.isEmpty)
            await ledger.log.close()
            let changes = try await Migrator.migrate(settings, Self.distributed)
            #expect(changes.distributed.contains("a shard for each lane"))
            #expect(changes.distributed.contains("ids of all lanes in operation.lookup_key"))
            ledger = try await FilledLedger.open(settings)
            #expect(try await ledger.log.heads().mapValues(\.digest) == before)
            for (customer, streams) in customers {
                #expect(try await ledger.log.streams(with: [customer]) == streams)
            }
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

    /// Servers connect to each other in the role of the program.
    @Test func `migrate lets the roles log in on every server`() async throws {
        try await TestServer.shared.withDatabase { settings in
            _ = try await Migrator.migrate(settings, Self.distributed)
            try await CitusCluster.execute(
                "SELECT run_command_on_workers('ALTER ROLE ledger_projector NOLOGIN')",
                settings
            )
            let changes = try await Migrator.migrate(settings, Migrator.Layout())
            #expect(changes.distributed == ["login of role ledger_projector on other servers"])
            #expect(try await Migrator.migrate(settings, Migrator.Layout()).distributed.isEmpty)
            let ledger = try await FilledLedger.open(settings)
            _ = try await Projector(log: ledger.log, settings: settings).rebuild()
            await ledger.log.close()
        }
    }

    @Test(
        arguments: [
            ("DROP TRIGGER append_only_statement ON ledger.event", "trigger of ledger.event"),
            ("DROP TRIGGER append_only_row ON ledger.event", "row trigger of ledger.event"),
            ("DROP TRIGGER append_only_insert ON ledger.event", "insert trigger of ledger.event"),
            (
                "ALTER TABLE ledger.event DISABLE TRIGGER append_only_row",
                "row trigger of ledger.event"
            ),
            ("ALTER TABLE ledger.event OWNER TO CURRENT_USER", "owner of ledger.event"),
            ("GRANT UPDATE ON ledger.event TO PUBLIC", "privileges on ledger.event"),
        ]
    )
    func `migrate repairs a table and its shards`(damage: String, mended: String) async throws {
        try await TestServer.shared.withDatabase { settings in
            _ = try await Migrator.migrate(settings, Self.distributed)
            let session = try await PostgresSession.connect(settings)
            try await session.execute("SET citus.enable_unsafe_triggers = on")
            try await session.execute(damage)
            await session.close()
            let inspector = LedgerInspector(settings)
            #expect(try await inspector.differences().contains(mended))
            #expect(try await Migrator.migrate(settings).mended == [mended])
            #expect(try await inspector.differences().isEmpty)
        }
    }

    @Test func `rows are refused to whoever changes a shard on its server`() async throws {
        try await TestServer.shared.withDatabase { settings in
            _ = try await Migrator.migrate(settings, Self.distributed)
            let ledger = try await FilledLedger.open(settings)
            try await ledger.ingest(Array(FollowTests.deliveries(seed: 4).prefix(40)))
            await ledger.log.close()
            let session = try await PostgresSession.connect(settings)
            for table in ["event", "commit", "confirmation", "evidence"] {
                // Citus itself refuses TRUNCATE of a shard.
                for (change, refusal) in [
                    ("UPDATE %s SET lane = lane", "append-only"), ("DELETE FROM %s", "append-only"),
                    ("TRUNCATE %s", "is a shard"),
                ] {
                    let rows = try await session.query(
                        "SELECT success, result FROM run_command_on_placements($1::regclass, $2)",
                        [.text("ledger.\(table)"), .text(change)]
                    )
                    #expect(rows.count == Self.lanes?.value)
                    for row in rows {
                        // A shard without rows has none to change.
                        guard try row.text(1) != "UPDATE 0" else { continue }
                        #expect(try !row.bool(0), "\(change) of a shard of \(table)")
                        #expect(try row.text(1).contains(refusal))
                    }
                }
            }
            await session.close()
        }
    }

    @Test func `an outage of one server stops only questions about its lanes`() async throws {
        let cluster = try #require(CitusCluster.shared)
        try await TestServer.shared.withDatabase { settings in
            _ = try await Migrator.migrate(settings, Self.distributed)
            let ledger = try await FilledLedger.open(settings)
            let deliveries = FollowTests.deliveries(seed: 3)
            try await ledger.ingest(deliveries)
            let subscriptions = try await ledger.log.streams()
            var answered: Set<Int> = []
            var missing: Set<Int> = []
            var counted = 0
            try await cluster.withoutOneWorker(settings) {
                for line in subscriptions {
                    let id = line.stream.originalTransactionId
                    let subject = SubjectID(id, in: line.stream.environment)
                    do {
                        let state = try await ledger.state(of: subject)
                        if state.otherSubscriptions != nil { counted += 1 }
                        answered.insert(line.lane)
                    } catch let error as EventLogError {
                        #expect(error.code == .lanesUnavailable, "\(error)")
                        missing.insert(line.lane)
                    }
                }
                #expect(!answered.isEmpty && !missing.isEmpty)
                #expect(answered.isDisjoint(with: missing))
                #expect(counted > 0, "only the lanes of one customer are needed")
                for name in (0..<20).map({ "unknown\($0)" }) {
                    let error = await #expect(throws: (any Error).self) {
                        try await ledger.access(of: SubjectID(name), at: .systemClock())
                    }
                    // It could be the id of a subscription in the lane that it decides.
                    let lane = Self.lanes?.lane(of: name) ?? 0
                    if answered.contains(lane) {
                        #expect((error as? QuestionError)?.code == .unknownId, "\(name)")
                    } else if missing.contains(lane) {
                        #expect((error as? EventLogError)?.code == .lanesUnavailable, "\(name)")
                    }
                }
                let refusals = [
                    await #expect(throws: EventLogError.self) { try await ledger.log.verify() },
                    await #expect(throws: EventLogError.self) { try await ledger.log.heads() },
                ]
                for refusal in refusals {
                    #expect(refusal?.code == .lanesUnavailable)
                    #expect(refusal?.message.contains("4 of 8 lanes cannot be reached") == true)
                }
            }
            #expect(try await ledger.log.verify().isOK)
            let before = try await ledger.log.heads().mapValues(\.digest)
            try await ledger.ingest(deliveries)
            #expect(try await ledger.log.heads().mapValues(\.digest) == before)
            await ledger.log.close()
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
