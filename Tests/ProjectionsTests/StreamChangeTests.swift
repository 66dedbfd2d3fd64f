import Events
import Projections
import TestSupport
import Testing

/// Product changes that open a new subscription (Apple's data: traps 3, 36, scenario 15).
@Suite struct StreamChangeTests {
    private static let second = StreamID(environment: .production, originalTransactionId: "2000")
    private static let third = StreamID(environment: .production, originalTransactionId: "3000")

    private static let inRetry = """
        @03-20 purchase basic 03-20..04-20 woli=1
        @04-20 renewal of=04-20 auto=1 retry
        """

    @Test func `a plan bought in billing retry leaves the old subscription`() throws {
        let changes = try changes([
            (TimelineText.stream, Self.inRetry),
            (Self.second, "@05-01 purchase annual 05-01..2027-05-01 woli=2"),
        ])
        let change = try #require(changes.first)
        #expect(changes.count == 1)
        #expect(
            change.fromOriginalTransactionId == TimelineText.stream.originalTransactionId
                && change.toOriginalTransactionId == Self.second.originalTransactionId
        )
        #expect(change.fromProductId == "basic" && change.toProductId == "annual")
        #expect(change.effective == (try TimelineText.instant("05-01")))
        #expect(change.previousStatus == .billingRetry)
        #expect(change.changeClass == .crossgrade && change.hasSameDuration == false)
    }

    @Test func `a plan bought after the end leaves the subscription that ended last`() throws {
        let changes = try changes([
            (Self.third, "@02-01 purchase lite 02-01..03-01 woli=3"),
            (TimelineText.stream, "@03-20 purchase basic 03-20..04-20 woli=1"),
            (Self.second, "@06-01 purchase premium 06-01..07-01 woli=2"),
        ])
        #expect(
            changes.map { "\($0.fromProductId)..\($0.toProductId) \($0.previousStatus)" }
                == ["lite..basic expired", "basic..premium expired"]
        )
    }

    @Test(arguments: [
        "@04-01 purchase annual 04-01..2027-04-01 woli=2",
        "@06-01 purchase archive 06-01..07-01 woli=2", "@06-01 purchase other 06-01..07-01 woli=2",
        "@06-01 purchase basic 06-01..07-01 woli=2",
    ])
    func `a parallel, foreign-group, unknown or identical product is not a change`(
        text: String
    ) throws {
        let changes = try changes([(TimelineText.stream, Self.inRetry), (Self.second, text)])
        #expect(changes.isEmpty)
    }

    @Test func `a group named by Apple needs no catalog`() throws {
        let changes = try changes(
            [
                (TimelineText.stream, "@03-20 purchase a 03-20..04-20 woli=1 group=7"),
                (Self.second, "@06-01 purchase b 06-01..07-01 woli=2 group=7"),
            ],
            .none
        )
        #expect(changes.map(\.changeClass) == [.planChange])
    }

    @Test func `environments are never mixed`() throws {
        let sandbox = StreamID(environment: .sandbox, originalTransactionId: "2000")
        let changes = try changes([
            (TimelineText.stream, Self.inRetry),
            (sandbox, "@05-01 purchase annual 05-01..2027-05-01 woli=2"),
        ])
        #expect(changes.isEmpty)
    }

    private func changes(
        _ texts: [(StreamID, String)],
        _ catalogs: CatalogHistory = .magazines
    ) throws -> [PlanChanges.StreamChange] {
        let facts = try texts.flatMap { try TimelineText($0.1, stream: $0.0).facts }
        let ledger = MemoryLedger([facts])
        let timelines = ledger.streams.map { ledger.timeline(of: $0) }
        let changes = PlanChanges.acrossStreams(timelines, catalogs)
        #expect(PlanChanges.acrossStreams(timelines.reversed(), catalogs) == changes)
        return changes
    }
}
