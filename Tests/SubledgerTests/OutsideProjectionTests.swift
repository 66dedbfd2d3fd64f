import EventLog
import Events
import Projections
import Subledger
import SubledgerTesting
import TestSupport
import Testing

@testable import App
@testable import Projector

/// Projections that a program adds to those of this package.
@Suite(.enabled { await TestServer.isAvailable })
struct OutsideProjectionTests {
    private let store = TestStore(now: Instant(milliseconds: 1_767_225_600_000))
    private static let product = TestStore.Product("com.example.app.pro")

    @Test func `prepare builds what is missing, follow and promote treat it like all others`()
        async throws
    {
        try await TestLedger.with(store.policy, projections: .standard + [Trials()]) { ledger in
            let bought = try store.buy(Self.product, offer: .freeTrial(.weeks(1)))
            try await ledger.ingest(bought)
            let names = allProjections.map(\.name) + ["trials"]
            #expect(try await ledger.prepare().map(\.name) == names)
            #expect(try await ledger.prepare().isEmpty)
            try await ledger.ingest(try store.renew(bought.id))
            try await followOnce(ledger)
            let tables = try await ledger.projector.tables()
            #expect(tables.allSatisfy { $0.isCurrent && $0.lag == 0 })
            #expect(tables.last?.rows == 1)
            #expect(try await ledger.projector.compare(then: .drop, catalog: .ofLive).isClean)
            let compared = try await ledger.projector.compare(then: .wait)
            #expect(compared.difference.isEqual && compared.tables.map(\.name) == names)
            #expect(try await ledger.projector.promote().tables.map(\.name) == names)
        }
    }

    @Test func `prepare builds the tables of a new version, and leaves those of a newer one`()
        async throws
    {
        try await TestLedger.with(store.policy, projections: .standard + [Trials()]) { ledger in
            try await ledger.ingest(try store.buy(Self.product, offer: .freeTrial(.weeks(1))))
            let first = try await ledger.prepare()
            let newer = Self.ledger(ledger, .standard + [NewerTrials()])
            async let one = newer.prepare()
            async let other = newer.prepare()
            let built = try await one + other
            #expect(built.map(\.name) == ["trials"] && built.map(\.version) == [2])
            #expect(try await ledger.prepare().isEmpty)
            let tables = try await newer.projector.tables()
            #expect(tables.dropLast().map(\.schema) == first.dropLast().map(\.schema))
            #expect(tables.last?.version == 2 && tables.last?.schema == built.first?.schema)
        }
    }

    @Test func `a program without the projection leaves its tables alone, and names its owner`()
        async throws
    {
        try await TestLedger.with(store.policy, projections: .standard + [Trials()]) { ledger in
            let bought = try store.buy(Self.product, offer: .freeTrial(.weeks(1)))
            try await ledger.ingest(bought)
            try await ledger.prepare()
            _ = try await ledger.projector.compare([Trials()], then: .wait)
            let other = Self.ledger(ledger, .standard)
            try await ledger.ingest(try store.renew(bought.id))

            try await followOnce(other)
            _ = try await other.projector.rebuild()
            #expect(try await other.projector.discard().isEmpty)
            #expect(try await other.projector.compare(then: .drop, catalog: .ofLive).isClean)
            let left = try await other.projector.tables().filter(\.isForeign)
            #expect(left.map(\.state) == [.live, .ready])
            #expect(left.allSatisfy { $0.fold == "App.Trials" && $0.lag > 0 })
            #expect(try await ledger.projector.tables().allSatisfy { !$0.isForeign })

            try await followOnce(ledger)
            #expect(try await ledger.projector.promote([Trials()]).tables.map(\.rows) == [1])
            #expect(try await other.projector.discard(retired: ["trials"]).count == 1)
        }
    }

    @Test(arguments: [
        (["trials", "trials"], "the name trials"), (["Trials"], "lower-case"),
        (["refused_stream"], "refused_stream"), (["2nd"], "digit"), ([""], "lower-case"),
        ([String(repeating: "a", count: 64)], "63 bytes"),
    ])
    func `names that cannot be those of tables are found`(names: [String], words: String) {
        #expect(Projector.fault(in: names)?.contains(words) == true)
        #expect(Projector.fault(in: [any Projection].standard.map(\.name)) == nil)
    }

    private static func ledger(_ ledger: Ledger, _ projections: [any Projection]) -> Ledger {
        Ledger(log: ledger.log, verifier: ledger.verifier, projections: projections)
    }

    private func followOnce(_ ledger: Ledger) async throws {
        var options = Projector.FollowOptions(holder: "test \(ledger.projections.count)")
        options.isOnce = true
        let done = try await ledger.projector.follow(options)
        #expect(done.lag == 0 && done.notFollowed.isEmpty)
    }
}

/// The next version of `Trials`.
private struct NewerTrials: Projection {
    private let first = Trials()
    let version = 2
    var name: String { first.name }
    var columns: [String] { first.columns }
    var tableSQL: String { first.tableSQL }

    func rows(
        of timeline: Timeline,
        in context: FoldContext
    ) throws(FoldRefusal) -> [ProjectionRow] {
        first.rows(of: timeline, in: context)
    }
}
