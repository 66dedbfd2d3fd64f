import EventLog
import Events
import Postgres
import Projections
import Projector
import Subledger
import TestSupport
import Testing

/// The newest instant that Apple signed, which limits every report, without reading the log.
@Suite(.enabled { await TestServer.isAvailable })
struct NewestSignatureTests {
    private static let isOnCitus = CitusCluster.shared != nil
    private static let onCitus: Comment = "the query that compares has no distributed plan"

    @Test(.disabled(if: isOnCitus, onCitus), arguments: [1, 4])
    func `the stored newest signature equals that of the log, after filling and following`(
        lanes: Int
    ) async throws {
        try await FollowTests.withLedger(lanes: lanes) { ledger, settings in
            let deliveries = FollowTests.deliveries(seed: 11)
            let third = deliveries.count / 3
            let projector = ledger.projector
            try await ledger.ingest(Array(deliveries[..<third]))
            try await Self.expectAgreement(settings, "nothing kept")
            #expect(try await FollowTests.texts(settings, Self.kept) == [])
            _ = try await projector.rebuild()
            try await Self.expectKeptAtTables(settings, "rebuilt")
            try await ledger.ingest(Array(deliveries[third..<(2 * third)]))
            try await Self.expectAgreement(settings, "behind")
            _ = try await projector.follow(.once("test"))
            try await Self.expectKeptAtTables(settings, "followed")
            try await ledger.ingest(Array(deliveries[(2 * third)...]))
            _ = try await projector.rebuild()
            try await Self.expectKeptAtTables(settings, "rebuilt again")
        }
    }

    @Test func `a report takes the stored newest signature and does not search the log for it`()
        async throws
    {
        try await FollowTests.withLedger(lanes: 1) { ledger, settings in
            let deliveries = FollowTests.deliveries(seed: 12)
            try await ledger.ingest(Array(deliveries.prefix(100)))
            _ = try await ledger.projector.rebuild()
            var question = ReportQuestion(try #require(Report.named("renewals")))
            question.environment = .production
            let before = try await ledger.report(question).asOf
            // No event has this instant, so a search of the log would not find it.
            let planted = Instant(milliseconds: before.milliseconds - 2 * 86_400_000 + 5)
            let texts = try await FollowTests.texts(
                settings,
                """
                UPDATE operation.newest_signature SET as_of_ms = \(planted.milliseconds)
                WHERE environment = 'Production' RETURNING lane::text
                """
            )
            #expect(texts == ["0"])
            // A report ends with the last whole day before it.
            #expect(before.milliseconds % 86_400_000 == 0)
            #expect(try await ledger.report(question).asOf.milliseconds + 5 == planted.milliseconds)
        }
    }

    @Test(.disabled(if: isOnCitus, onCitus))
    func `a rebuild removes stored signatures beyond the end of a restored log`()
        async throws
    {
        try await FollowTests.withLedger(lanes: 1) { ledger, settings in
            try await ledger.ingest(Array(FollowTests.deliveries(seed: 13).prefix(40)))
            _ = try await FollowTests.texts(
                settings,
                """
                INSERT INTO operation.newest_signature VALUES (0, 'Production', 1000000, 1)
                RETURNING lane::text
                """
            )
            try await Self.expectAgreement(settings, "restored")
            _ = try await ledger.projector.rebuild()
            try await Self.expectKeptAtTables(settings, "rebuilt")
        }
    }

    @Test(.disabled(if: isOnCitus, onCitus))
    func `signatures kept from a lost log do not survive a rebuild`() async throws {
        try await FollowTests.withLedger(lanes: 1) { ledger, settings in
            try await ledger.ingest(Array(FollowTests.deliveries(seed: 14).prefix(40)))
            _ = try await ledger.projector.rebuild()
            var question = ReportQuestion(try #require(Report.named("renewals")))
            let right = try await ledger.report(question)
            // Up to the same position, the lost log had newer signatures than the present log.
            _ = try await FollowTests.texts(
                settings,
                """
                UPDATE operation.newest_signature SET as_of_ms = as_of_ms + 864000000
                RETURNING lane::text
                """
            )
            question.knownAt = .latest
            #expect(try await ledger.report(question) == right)
            _ = try await ledger.projector.rebuild()
            try await Self.expectKeptAtTables(settings, "rebuilt")
            question.knownAt = nil
            #expect(try await ledger.report(question) == right)
        }
    }

    @Test(.disabled(if: isOnCitus, onCitus))
    func `a raised signature is found also where something was erased`() async throws {
        try await FollowTests.withLedger(lanes: 1) { ledger, settings in
            try await ledger.ingest(Array(FollowTests.deliveries(seed: 16).prefix(40)))
            _ = try await ledger.projector.rebuild()
            let before = Instant.systemClock().milliseconds
            for stream in try await ledger.allStreams() {
                _ = try await ledger.erase(
                    [ErasureTarget(stream: stream, scope: .subscription)],
                    reason: ErasureTests.reason,
                    withSiblings: true
                )
            }
            _ = try await ledger.projector.follow(.once("test"))
            let newest = "SELECT as_of_ms::text FROM operation.newest_signature"
            #expect(try await FollowTests.texts(settings, newest).count == 1)
            let differing = try await FollowTests.texts(settings, Self.differing)
            #expect(differing == [], "the newest may have been erased")
            for raised in [before + 3_600_000, .max] {
                _ = try await FollowTests.texts(
                    settings,
                    "UPDATE operation.newest_signature SET as_of_ms = \(raised) RETURNING lane::text"
                )
                #expect(try await FollowTests.texts(settings, Self.differing) == ["0"])
            }
        }
    }

    @Test(.disabled(if: isOnCitus, onCitus), arguments: [Int64.min, .max])
    func `a newest signature at the edge of numbers ends no report`(edge: Int64) async throws {
        try await FollowTests.withLedger(lanes: 1) { ledger, settings in
            try await ledger.ingest(Array(FollowTests.deliveries(seed: 15).prefix(40)))
            _ = try await ledger.projector.rebuild()
            _ = try await FollowTests.texts(
                settings,
                "UPDATE operation.newest_signature SET as_of_ms = \(edge) RETURNING lane::text"
            )
            // Periods until the last year are more than a million cells.
            let isLong = ["retention", "cancelled-in-period"]
            for report in Report.all
            where edge == .min || Acceptance.isRunning || !isLong.contains(report.name) {
                _ = try await ledger.report(ReportQuestion(report))
            }
        }
    }

    private static let differing = "SELECT lane::text FROM (\(NewestSignature.differing)) d"

    private static let kept = "SELECT lane_offset::text FROM operation.newest_signature"

    private static func expectKeptAtTables(
        _ settings: ConnectionSettings,
        _ comment: String
    ) async throws {
        let apart = try await FollowTests.texts(
            settings,
            """
            SELECT concat(p.name, ' ', p.lane) FROM projection.ledger_projection p
            WHERE p.state = 'live' AND p.lane_offset > 0 AND NOT coalesce((
                SELECT bool_and(s.lane_offset = p.lane_offset)
                FROM operation.newest_signature s WHERE s.lane = p.lane), false)
            """
        )
        #expect(apart == [], "\(comment)")
        try await expectAgreement(settings, comment)
    }

    // At each place, over all lanes, for each environment and for all of them.
    private static func expectAgreement(
        _ settings: ConnectionSettings,
        _ comment: String
    ) async throws {
        let heads = """
            (SELECT l.lane, least(o.n, (SELECT max(lane_offset) FROM ledger.event m
                WHERE m.lane = l.lane)) AS lane_offset FROM ledger.lane l) h
            """
        let plain = """
            SELECT max(e.as_of_ms) FROM ledger.event e JOIN \(heads)
                ON e.lane = h.lane AND e.lane_offset <= h.lane_offset
            WHERE e.kind IN ('transaction', 'renewal', 'notification')
            """
        let differing = try await FollowTests.texts(
            settings,
            """
            SELECT concat(o.n, ' ', v.environment) FROM generate_series(1, (
                SELECT max(lane_offset) FROM ledger.event)) AS o (n)
            CROSS JOIN (SELECT DISTINCT environment FROM ledger.event) v
            WHERE (\(NewestSignature.sql(upTo: heads, environment: "v.environment")))
                    IS DISTINCT FROM (\(plain) AND e.environment = v.environment)
                OR (\(NewestSignature.sql(upTo: heads))) IS DISTINCT FROM (\(plain))
            """
        )
        #expect(differing == [], "\(comment)")
        guard try await hasViews(settings) else { return }
        let newest = try await FollowTests.texts(
            settings,
            """
            SELECT (extract(epoch FROM analytics.last_signed_at()) * 1000)::bigint
                - max(as_of_ms) || '' FROM ledger.event
            WHERE kind IN ('transaction', 'renewal', 'notification')
            """
        )
        #expect(newest == ["0"], "\(comment)")
    }

    private static func hasViews(_ settings: ConnectionSettings) async throws -> Bool {
        try await FollowTests.texts(
            settings,
            "SELECT 'yes' WHERE to_regprocedure('analytics.last_signed_at()') IS NOT NULL"
        ) == ["yes"]
    }
}
