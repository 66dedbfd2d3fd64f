import EventLog
import Events
import Postgres
import Projections
import Projector
import Subledger
import TestSupport
import Testing

/// An event that a fold refuses is reported and blocks no other.
@Suite(.enabled { await TestServer.isAvailable })
struct FoldRefusalTests {
    @Test(arguments: [1, 4])
    func `a refused subscription is marked, and all others are folded`(lanes: Int) async throws {
        try await FollowTests.withLedger(lanes: lanes) { ledger, settings in
            let projector = Self.projector(ledger, settings)
            let deliveries = FollowTests.deliveries(seed: 11)
            try await ledger.ingest(Array(deliveries.prefix(deliveries.count / 2)))
            let rebuilt = try await projector.rebuild()
            let picky = try #require(rebuilt.first { $0.name == "picky" })
            let marked = try await Self.marked(settings)
            #expect(picky.refused > 0 && picky.refused == marked.count)
            #expect(picky.rows > 0)
            #expect(rebuilt.filter { $0.name != "picky" }.allSatisfy { $0.refused == 0 })
            #expect(marked.allSatisfy { $0.hasSuffix("too short") })

            // Some grow long enough, others are added, and following gives the same as a rebuild.
            try await ledger.ingest(Array(deliveries.suffix(from: deliveries.count / 2)))
            _ = try await projector.follow(.once("test"))
            let followed = try await Self.marked(settings)
            let table = try #require(try await projector.tables().first { $0.name == "picky" })
            #expect(followed != marked)
            #expect(table.refused == followed.count)
            let again = try await projector.rebuild()
            #expect(try await Self.marked(settings) == followed)
            #expect(again.first { $0.name == "picky" }?.digest == table.digest)
        }
    }

    @Test func `every fold refuses an event of a newer program, with its position`()
        async throws
    {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let ledger = try await FilledLedger.open(settings)
            let projector = Projector(log: ledger.log, settings: settings)
            let before = try await projector.rebuild()
            let session = try await PostgresSession.connect(settings)
            try await session.execute(
                """
                \(Tampering.begin)
                UPDATE ledger.event SET content = '\\x7f' WHERE lane_offset = 7
                """
            )
            await session.close()
            let after = try await projector.rebuild()
            #expect(after.map(\.refused) == allProjections.map { _ in 1 })
            #expect(after.map(\.streams) == before.map(\.streams))
            let marked = try await FollowTests.texts(
                settings,
                "SELECT DISTINCT lane_offset::text FROM projection.refused_stream"
            )
            #expect(marked == ["7"])
            await ledger.log.close()
        }
    }

    @Test func `tables as known at a position are rebuilt and kept up to date separately`()
        async throws
    {
        try await FollowTests.withLedger(lanes: 1) { ledger, settings in
            let projector = Projector(log: ledger.log, settings: settings)
            let deliveries = FollowTests.deliveries(seed: 12)
            try await ledger.ingest(Array(deliveries.prefix(deliveries.count / 2)))
            let then = try await projector.rebuild()
            let positions = try await ledger.log.heads().mapValues(\.offset)
            try await ledger.ingest(Array(deliveries.suffix(from: deliveries.count / 2)))
            let again = try await projector.build(into: "then", upTo: .offsets(positions))
            #expect(again.map(\.digest) == then.map(\.digest))
            #expect(again.map(\.positions) == then.map(\.positions))
            _ = try await projector.build(into: "side")
            try await ledger.ingest(FollowTests.deliveries(seed: 13))
            _ = try await projector.follow(.once("test"))
            let tables = try await projector.tables()
            let live = tables.filter { $0.state == .live }
            let kept = tables.filter { $0.state == .kept }
            #expect(live.map(\.digest) == kept.map(\.digest))
            #expect(live.map(\.digest) != then.map(\.digest))
            let pinned = tables.filter { $0.state == .pinned }
            #expect(pinned.map(\.digest) == then.map(\.digest))
            await #expect(throws: ProjectorError.self) { try await projector.build(into: "then") }
            try await projector.discard(schema: "then")
            try await projector.discard(schema: "side")
        }
    }

    private static func projector(_ ledger: Ledger, _ settings: ConnectionSettings) -> Projector {
        Projector(
            log: ledger.log,
            settings: settings,
            projections: allProjections + [Picky()]
        )
    }

    private static func marked(_ settings: ConnectionSettings) async throws -> [String] {
        try await FollowTests.texts(
            settings,
            """
            SELECT concat_ws(' ', lane, environment, original_transaction_id, lane_offset, reason)
            FROM projection.refused_stream WHERE name = 'picky' ORDER BY 1
            """
        )
    }
}

/// Counts the purchases of a subscription; refuses those with only one.
private struct Picky: Projection {
    let name = "picky"
    let version = 1
    let columns = ["purchases"]
    var tableSQL: String { table("purchases bigint") }

    func rows(
        of timeline: Timeline,
        in context: FoldContext
    ) throws(FoldRefusal) -> [ProjectionRow] {
        let purchases = TransactionRows(timeline, context.catalogs).rows
        guard let position = purchases.first?.positions.first else { return [] }
        guard purchases.count > 1 else { throw FoldRefusal(position, "too short") }
        return [ProjectionRow(.integer(Int64(purchases.count)), causedBy: [position])]
    }
}
