import EventLog
import Events
import Postgres
import Projections
import Projector
import Subledger
import TestSupport
import Testing

/// Rows of a custom projection with values of every kind, through temporary files from any
/// threshold.
@Suite(.enabled { await TestServer.isAvailable })
struct AnyValueTests {
    @Test func `values of every kind and length arrive unchanged`() async throws {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let ledger = try await FilledLedger.open(settings)
            let projector = Projector(
                log: ledger.log,
                settings: settings,
                projections: allProjections + [AnyValues()]
            )
            let rebuilt = try await projector.rebuild()
            let live = try #require(rebuilt.last)
            #expect(live.refused == 0)
            let check = try await projector.compare(nil, then: .drop, catalog: .ofLive)
            #expect(check.isClean)
            let session = try await PostgresSession.connect(settings)
            let found = try await session.query(
                """
                SELECT count(*) FILTER (WHERE n IS NULL), count(*) FILTER (WHERE s = ''),
                    max(octet_length(s))::bigint, count(*) FILTER (WHERE ns = '{}'),
                    count(*) FILTER (WHERE ss = ARRAY['', 'a', 'NULL']),
                    count(*) FILTER (WHERE ss[1] = '' AND octet_length(ss[2]) = 3000000),
                    min(ns[1]), max(ns[2])
                FROM projection.any_values
                """
            ).single()
            let numbers = try (0..<8).map { try found.int8IfPresent($0) ?? -1 }
            #expect(numbers[0] == numbers[1] && numbers[0] == numbers[3] && numbers[0] > 0)
            #expect(numbers[2] == 3_000_000 && numbers[4] == numbers[0] && numbers[5] > 0)
            #expect(numbers[6] == .min && numbers[7] == .max)
            await session.close()
            await ledger.log.close()
        }
    }

    @Test(arguments: ["nul", "count"])
    func `a row refused by PostgreSQL names its projection`(
        kind: String
    ) async throws {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let ledger = try await FilledLedger.open(settings)
            let projector = Projector(
                log: ledger.log,
                settings: settings,
                projections: allProjections + [AnyValues(bad: kind)]
            )
            do {
                // Refused subscriptions would do as well.
                let rebuilt = try await projector.rebuild()
                #expect(rebuilt.last.map { $0.refused > 0 } == true)
            } catch {
                #expect("\(error)".contains("any_values"), "\(error)")
            }
            await ledger.log.close()
        }
    }

    @Test(arguments: [Int64.max, .min, 9_223_372_036_854_776, -210_866_803_200_001])
    func `an instant outside a timestamp's range refuses only its subscription`(
        milliseconds: Int64
    ) async throws {
        try await FollowTests.withLedger(lanes: 4) { ledger, settings in
            let deliveries = FollowTests.deliveries(seed: 21)
            try await ledger.ingest(Array(deliveries.prefix(deliveries.count / 2)))
            let projector = Projector(
                log: ledger.log,
                settings: settings,
                projections: allProjections + [Far(milliseconds: milliseconds)]
            )
            let rebuilt = try await projector.rebuild()
            let far = try #require(rebuilt.last)
            #expect(far.refused > 0 && far.rows > 0)
            #expect(rebuilt.dropLast().allSatisfy { $0.refused == 0 && $0.rows > 0 })
            let refused = try await FollowTests.texts(
                settings,
                """
                SELECT DISTINCT reason FROM projection.refused_stream WHERE name = 'far'
                    AND original_transaction_id <> '' AND lane_offset > 0
                """
            )
            #expect(refused.count == 1)
            #expect(refused.first?.contains("far gives column at an instant") == true)

            // Some become refused and others no longer are: following gives the same as a rebuild.
            try await ledger.ingest(Array(deliveries.suffix(from: deliveries.count / 2)))
            _ = try await projector.follow(.once("test"))
            let check = try await projector.compare(nil, then: .drop, catalog: .ofLive)
            #expect(check.isClean && check.refusals.same > 0)
            let table = try #require(try await projector.tables().first { $0.name == "far" })
            let counted = try await FollowTests.texts(
                settings,
                "SELECT count(*)::text FROM projection.far"
            )
            #expect(counted == ["\(table.rows)"])
        }
    }

    @Test func `the first and the last instant of a timestamp's range are stored`() async throws {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let ledger = try await FilledLedger.open(settings)
            let range = ColumnValue.timestampMilliseconds
            for milliseconds in [range.lowerBound, range.upperBound] {
                let projector = Projector(
                    log: ledger.log,
                    settings: settings,
                    projections: [Far(milliseconds: milliseconds)]
                )
                #expect(try await projector.rebuild().first?.refused == 0)
                let check = try await projector.compare(nil, then: .drop, catalog: .ofLive)
                #expect(check.isClean)
                let arrived = try await FollowTests.texts(
                    settings,
                    """
                    SELECT DISTINCT (extract(epoch FROM at) * 1000)::bigint::text
                    FROM projection.far WHERE at <> 'epoch'
                    """
                )
                #expect(arrived == ["\(milliseconds)"])
            }
            await ledger.log.close()
        }
    }

    @Test(arguments: [1, 2, 4])
    func `lanes on both sides of the threshold give one digest`(jobs: Int) async throws {
        try await FollowTests.withLedger(lanes: 4) { ledger, settings in
            try await ledger.ingest(FollowTests.deliveries(seed: 77))
            let heads = try await ledger.log.heads().mapValues(\.offset)
            let sorted = heads.values.sorted()
            var digests: Set<[Digest]> = []
            for threshold in [Int64.max, sorted[sorted.count / 2], 1] {
                var options = EventLog.Options()
                options.readersMax = 4
                options.spooledEventsMin = threshold
                let log = try await EventLog.open(settings, options)
                let projector = Projector(log: log, settings: settings)
                var how = Projector.RebuildOptions()
                how.jobs = jobs
                digests.insert(try await projector.rebuild(nil, how).map(\.digest))
                let check = try await projector.compare(nil, then: .drop, catalog: .ofLive, how)
                #expect(check.isClean)
                await log.close()
            }
            #expect(digests.count == 1)
        }
    }
}

/// A row for each period; if their number is odd, the middle one has a distant instant.
private struct Far: Projection {
    let milliseconds: Int64
    let name = "far"
    let version = 1
    let columns = ["number", "at", "also"]
    var tableSQL: String { table("number bigint", "at timestamptz", "also timestamptz") }

    func rows(of timeline: Timeline, in context: FoldContext) -> [ProjectionRow] {
        let epoch = Instant(milliseconds: 0)
        let isOdd = timeline.purchases.count % 2 == 1
        return timeline.purchases.indices.map { number in
            let isFar = isOdd && number == timeline.purchases.count / 2
            let instant = isFar ? Instant(milliseconds: milliseconds) : epoch
            let cause = timeline.purchases[number].firstOffset
            return ProjectionRow(
                .integer(Int64(number)),
                .timestamp(instant),
                .timestamp(instant),
                causedBy: [Position(lane: timeline.lane, offset: cause)]
            )
        }
    }
}

private struct AnyValues: Projection {
    var bad = ""
    let name = "any_values"
    let version = 1
    let columns = ["n", "i", "f", "t", "s", "ns", "ss"]
    var tableSQL: String {
        table(
            "n bigint",
            "i integer",
            "f boolean",
            "t timestamptz",
            "s text",
            "ns bigint[]",
            "ss text[]"
        )
    }

    func rows(of timeline: Timeline, in context: FoldContext) throws(FoldRefusal) -> [ProjectionRow]
    {
        guard let cause = timeline.purchases.first?.firstOffset else { return [] }
        let position = Position(lane: timeline.lane, offset: cause)
        let big = String(repeating: "é", count: 1_500_000)
        var rows = [
            ProjectionRow(.null, .null, .null, .null, .null, .null, .null, causedBy: []),
            ProjectionRow(
                .integer(.min),
                .int32(.min),
                .boolean(true),
                .timestamp(Instant(milliseconds: 0)),
                .text(""),
                .integers([]),
                .texts([]),
                causedBy: [position, position]
            ),
            ProjectionRow(
                .integer(.max),
                .int32(.max),
                .boolean(false),
                .timestamp(Instant(milliseconds: -1)),
                .text("a\\b\t\n\"'{},NULL"),
                .integers([.min, .max]),
                .texts(["", "a", "NULL"]),
                causedBy: [position]
            ),
        ]
        if cause % 7 == 0 {
            rows.append(
                ProjectionRow(
                    .integer(1),
                    .int32(1),
                    .boolean(true),
                    .null,
                    .text(big),
                    .integers((0..<10_000).map { Int64($0) }),
                    .texts(["", big]),
                    causedBy: [position]
                )
            )
        }
        if cause % 7 == 1 { rows += badRows }
        return rows
    }

    private var badRows: [ProjectionRow] {
        switch bad {
        case "nul":
            let values: [ColumnValue] = [.null, .null, .null, .null, .text("a\0b"), .null, .null]
            return [ProjectionRow(values: values, positions: [])]
        case "count": return [ProjectionRow(.null, causedBy: [])]
        default: return []
        }
    }
}
