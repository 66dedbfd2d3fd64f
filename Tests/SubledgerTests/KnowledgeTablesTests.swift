import AppStoreSimulator
import EventLog
import Events
import Postgres
import Projections
import Projector
import Subledger
import TestSupport
import Testing

/// The tables of earlier knowledge, in a database.
@Suite(.enabled { await TestServer.isAvailable })
struct KnowledgeTablesTests {
    @Test func `a table of earlier knowledge is built on request, and then like all others`()
        async throws
    {
        try await FollowTests.withLedger(lanes: 1) { ledger, settings in
            try await ledger.ingest(Array(FollowTests.deliveries(seed: 2).prefix(30)))
            let projector = ledger.projector
            let usual = try await projector.rebuild()
            #expect(usual.map(\.name) == allProjections.map(\.name))
            let error = await #expect(throws: QuestionError.self) {
                var request = ExportRequest(folder: try TestFolder().path)
                request.tables = ["transactions_history"]
                _ = try await ledger.export(request)
            }
            #expect(error?.message.contains("`subledger rebuild transactions_history`") == true)
            _ = try await projector.rebuild(projector.projections(named: Self.names))
            let all = try await projector.rebuild()
            #expect(all.map(\.name) == allProjections.map(\.name) + Self.names)
            #expect(try await projector.compare(then: .drop, catalog: .ofLive).isClean)
        }
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func `the steps, jobs and batches of a build never change a row`(
        seed: UInt64
    ) async throws {
        try await FollowTests.withLedger(lanes: seed == 3 ? 4 : 1) { ledger, settings in
            var random = TestSupport.SeededGenerator(seed: seed)
            let projector = ledger.projector
            _ = try await projector.rebuild(projector.projections(named: Self.names))
            _ = try await projector.rebuild()
            var rest = FollowTests.deliveries(seed: seed)[...]
            while !rest.isEmpty {
                let batch = rest.prefix(Int.random(in: 1...60, using: &random))
                rest = rest.dropFirst(batch.count)
                try await ledger.ingest(Array(batch))
                guard Bool.random(using: &random) || rest.isEmpty else { continue }
                #expect(try await projector.follow(.once("test")).lag == 0, "seed \(seed)")
            }
            var options = Projector.RebuildOptions()
            options.jobs = 2
            let live = try await projector.tables().filter { $0.state == .live }
            let rebuilt = try await projector.build(into: "expected", options)
            #expect(live.map(\.digest) == rebuilt.map(\.digest), "seed \(seed)")
            for name in Self.names {
                let rows = "SELECT t::text FROM %.\(name) t ORDER BY 1"
                let followed = try await FollowTests.texts(
                    settings,
                    rows.replacing("%", with: "projection")
                )
                #expect(followed.count > 40, "seed \(seed): \(name)")
                #expect(
                    try await FollowTests.texts(settings, rows.replacing("%", with: "expected"))
                        == followed,
                    "seed \(seed): \(name)"
                )
            }
        }
    }

    @Test func `the latest states are the transactions, and earlier states those known then`()
        async throws
    {
        try await FollowTests.withLedger(lanes: 1) { ledger, settings in
            let deliveries = FollowTests.deliveries(seed: 7)
            let projector = ledger.projector
            var instants: [Instant] = []
            for start in stride(from: 0, to: deliveries.count, by: 40) {
                try await ledger.ingest(Array(deliveries[start...].prefix(40)))
                let newest = try await ledger.log.newestCommit(lane: 0, knownAt: .latest)
                instants.append(try #require(newest).commit.committedAt)
            }
            _ = try await projector.rebuild(projector.projections(named: Self.names))
            _ = try await projector.rebuild()
            let odd = Self.difference(
                "SELECT to_jsonb(t) - 'ordinal' FROM analytics.transactions t",
                "SELECT \(Self.transaction) FROM analytics.\(Self.name) h WHERE h.is_latest"
            )
            #expect(try await FollowTests.texts(settings, odd) == ["0"])
            for (number, instant) in instants.enumerated() {
                _ = try await projector.build(
                    projector.projections(named: ["transactions"]),
                    into: "then_\(number)",
                    upTo: .time(instant)
                )
                let then = Self.states(knownAt: instant.milliseconds, in: "then_\(number)")
                #expect(try await FollowTests.texts(settings, then) == ["0"], "\(instant)")
            }
            let states = "SELECT count(*)::text FROM projection.\(Self.name) WHERE NOT is_latest"
            #expect(try await FollowTests.texts(settings, states) != ["0"])
        }
    }

    @Test func `the journal adds up to the movements, now and as known then`() async throws {
        try await FollowTests.withLedger(lanes: 1) { ledger, settings in
            let deliveries = FollowTests.deliveries(seed: 8)
            let projector = ledger.projector
            try await ledger.ingest(Array(deliveries.prefix(deliveries.count / 2)))
            let newest = try await ledger.log.newestCommit(lane: 0, knownAt: .latest)
            let then = try #require(newest).commit.committedAt
            _ = try await projector.rebuild()
            let sums = """
                SELECT concat_ws('|', to_char(occurred_at, 'YYYY-MM'), currency,
                    sum(amount_milliunits)) FROM analytics.% GROUP BY to_char(occurred_at, 'YYYY-MM'),
                    currency HAVING sum(amount_milliunits) <> 0 ORDER BY 1
                """
            let before = try await FollowTests.texts(
                settings,
                sums.replacing("%", with: "movements")
            )
            try await ledger.ingest(Array(deliveries.dropFirst(deliveries.count / 2)))
            _ = try await projector.rebuild(projector.projections(named: Self.names))
            _ = try await projector.rebuild()
            #expect(
                try await FollowTests.texts(
                    settings,
                    sums.replacing(
                        "%",
                        with: "movements_history WHERE known_from <= "
                            + "to_timestamp(\(then.milliseconds) / 1000.0)"
                    )
                ) == before
            )
            let now = try await FollowTests.texts(
                settings,
                sums.replacing("%", with: "movements")
            )
            #expect(now != before)
            #expect(
                try await FollowTests.texts(
                    settings,
                    sums.replacing("%", with: "movements_history")
                ) == now
            )
            let corrections = try await FollowTests.texts(
                settings,
                """
                SELECT count(*)::text FROM analytics.movements_history h
                JOIN projection.movements_history o USING (lane, environment, original_transaction_id)
                WHERE h.movement = 'correction' AND o.ordinal = h.corrects_ordinal
                    AND o.occurred_at = h.occurred_at
                """
            )
            #expect(corrections != ["0"])
        }
    }

    private static let name = "transactions_history"
    private static let names = [name, "movements_history"]

    // The columns it shares with transactions, except the row number.
    private static let transaction = """
        to_jsonb(h) - '{ordinal, first_lane_offset, known_from, known_to, is_latest}'::text[]
        """

    private static func states(knownAt milliseconds: Int64, in schema: String) -> String {
        difference(
            "SELECT to_jsonb(t) - 'ordinal' FROM \(schema).transactions t",
            """
            SELECT \(transaction) FROM projection.\(name) h CROSS JOIN LATERAL (
                SELECT to_timestamp(\(milliseconds) / 1000.0) AS instant) i
            WHERE h.known_from <= i.instant AND (h.known_to IS NULL OR i.instant < h.known_to)
            """
        )
    }

    // How many rows only one of two queries returns.
    private static func difference(_ one: String, _ other: String) -> String {
        """
        SELECT count(*)::text FROM (
            (\(one) EXCEPT ALL \(other)) UNION ALL (\(other) EXCEPT ALL \(one))) d
        """
    }
}
