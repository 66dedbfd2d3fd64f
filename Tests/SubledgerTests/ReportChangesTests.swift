import AppStoreSimulator
import Catalog
import EventLog
import Events
import Postgres
import Subledger
import TestSupport
import Testing

/// What changed in a report since an earlier state, by cause.
@Suite(.enabled { await TestServer.isAvailable })
struct ReportChangesTests {
    typealias World = (seed: UInt64, isDivided: Bool, isOpen: Bool)

    // Before every commit each layout with one kind of last day, for acceptance with both.
    private static let worlds: [World] =
        [(311, false, false), (312, true, true)]
        + (Acceptance.isRunning ? [(311, false, true), (312, true, false)] : [])

    @Test(arguments: worlds)
    func `the parts of every cell are the difference of two reports, whatever came in between`(
        _ world: World
    ) async throws {
        print("seed \(world.seed)")
        try await TestServer.shared.withDatabase { settings in
            _ = try await Migrator.migrate(settings, world.isDivided ? .divided : .single)
            let simulator = AppStoreSimulator(seed: world.seed)
            let ledger = Ledger(
                log: try await EventLog.open(settings, FilledLedger.options),
                verifier: try simulator.verifier()
            )
            let deliveries = simulator.sampleHistory(count: 24).disordered(seed: world.seed)
            let half = deliveries.count / 2
            try await Self.importRates("0.9", into: ledger)
            try await ledger.ingest(Array(deliveries[..<half]))
            let old = try await Self.bound(ledger)
            try await Self.importRates("0.8", into: ledger)
            _ = try await CatalogStore(log: ledger.log).add(
                try CatalogFile.read(SimulatedCatalog.storekit),
                effectiveFrom: .epoch,
                source: "test",
                recordedAt: .systemClock()
            )
            try await ledger.ingest(Array(deliveries[half...]))
            let new = try await Self.bound(ledger)
            var (cells, causes) = (0, Set<String>())
            for report in Report.all {
                var question = ReportQuestion(report)
                if report.hasMoney { question.money.currency = "EUR" }
                question.knownAt = new
                // A day that is not over at first counts further later.
                if world.isOpen { question.to = Instant("2031-12-31") }
                let changes = try await ledger.reportChanges(question, since: old, listing: 3)
                #expect(world.isOpen || changes.before.asOf == changes.after.asOf, "\(report.name)")
                cells += try await Self.check(changes, question, old, new, of: ledger)
                causes.formUnion(changes.causes.map(\.cause))
                for cause in changes.causes {
                    let count = cause.subscriptions ?? 0
                    #expect(cause.customers.count == min(Int(count), 3), "\(cause)")
                }
            }
            let kinds = Set(causes.flatMap { $0.split(separator: "+").map(String.init) })
            #expect(
                kinds.isSuperset(of: ["rates", "catalog", "purchase", "refund", "other-facts"]),
                "\(kinds)"
            )
            #expect(cells > 100, "\(cells)")
            await ledger.log.close()
        }
    }

    // Compares the differences with the reports of both states; returns how many cells differ.
    private static func check(
        _ changes: ReportChangesDocument,
        _ question: ReportQuestion,
        _ old: KnownAt,
        _ new: KnownAt,
        of ledger: Ledger
    ) async throws -> Int {
        var asked = question
        (asked.from, asked.to) = (Instant(changes.from), Instant(changes.to))
        asked.knownAt = old
        let before = rows(try await ledger.report(asked), changes)
        asked.knownAt = new
        let after = rows(try await ledger.report(asked), changes)
        let found = Dictionary(
            uniqueKeysWithValues: changes.rows.map { row in
                (changes.keys.map { row.key[$0.jsonName] ?? .none }, row)
            }
        )
        #expect(Set(found.keys).isSubset(of: Set(before.keys).union(after.keys)))
        #expect(changes.isComplete)
        for key in Set(before.keys).union(after.keys) {
            for column in changes.columns {
                let place = "\(changes.name) \(changes.to) \(key) \(column.name)"
                let left = before[key]?[column.jsonName] ?? .none
                let right = after[key]?[column.jsonName] ?? .none
                let cell = found[key]?.cells.first { $0.column == column.jsonName }
                guard let cell else {
                    #expect(left.count == right.count, "\(place)")
                    continue
                }
                #expect(cell.old == left && cell.new == right, "\(place): \(cell)")
                #expect(cell.parts.last?.value == right, "\(place): \(cell)")
                guard [.count, .money, .percent].contains(column.kind) else { continue }
                let sum = cell.parts.reduce(0) { $0 + $1.difference.count }
                #expect(left.count + sum == right.count, "\(place): \(cell)")
                #expect(cell.difference.count == sum, "\(place): \(cell)")
            }
        }
        return changes.rows.reduce(0) { $0 + $1.cells.count }
    }

    private static func rows(
        _ report: ReportDocument,
        _ changes: ReportChangesDocument
    ) -> [[ReportValue]: [String: ReportValue]] {
        Dictionary(
            uniqueKeysWithValues: report.rows.map { row in
                (changes.keys.map { row[$0.jsonName] ?? .none }, row)
            }
        )
    }

    @Test func `each kind of late fact is a cause of its own, with its subscription`()
        async throws
    {
        try await TestServer.shared.withDatabase(from: .migrated) { settings in
            let ledger = try await FilledLedger.open(settings)
            let lives = try LateLives()
            try await ledger.ingest(lives.before)
            let old = try await Self.bound(ledger)
            try await ledger.ingest(lives.after)
            var question = ReportQuestion(try #require(Report.named("revenue")))
            question.dimensions = []
            question.from = Instant("2026-01-01")
            question.to = Instant("2026-01-31")
            let changes = try await ledger.reportChanges(question, since: old)
            let causes = ["purchase", "refund", "refund-reversed", "price-stated-later"]
            #expect(changes.causes.map(\.cause) == causes)
            #expect(
                changes.causes.map { $0.customers.map(\.originalTransactionId) }
                    == lives.late.map { [$0.identity.originalTransactionId] }
            )
            let row = try #require(changes.rows.first)
            #expect(changes.rows.count == 1 && row.presence == .both)
            func parts(_ column: String) throws -> [String: Int64] {
                let cell = try #require(row.cells.first { $0.column == column })
                return Dictionary(
                    uniqueKeysWithValues: cell.parts.map { ($0.cause, $0.difference.count) }
                )
            }
            let gross = try #require(row.cells.first { $0.column == "grossMilliunits" })
            let price = gross.old.count / 2
            #expect(price > 0 && gross.new.count == 4 * price)
            #expect(
                try parts("grossMilliunits") == ["purchase": price, "price-stated-later": price]
            )
            #expect(
                try parts("netMilliunits") == [
                    "purchase": price, "refund": -price, "refund-reversed": price,
                    "price-stated-later": price,
                ]
            )
            #expect(
                try parts("givenBackOnRefundDateMilliunits")
                    == ["refund": price, "refund-reversed": -price]
            )
            let lines = changes.csv.split(separator: "\r\n")
            #expect(lines[0] == "report,currency,number,cause,old,new,difference")
            #expect(
                lines.contains(
                    "revenue,USD,net_milliunits,refund,\(2 * price),\(price),\(-price)"
                ),
                "\(lines)"
            )
            await ledger.log.close()
        }
    }

    @Test func `a state that is not earlier, or that the log does not have, is refused`()
        async throws
    {
        try await TestServer.shared.withDatabase(from: .migrated) { settings in
            let ledger = try await FilledLedger.open(settings)
            // Each in a commit of its own: a position within a commit means its end.
            for delivery in try LateLives().before { try await ledger.ingest([delivery]) }
            var question = ReportQuestion(try #require(Report.named("revenue")))
            question.knownAt = .offsets([0: 2])
            for (since, words) in [
                (KnownAt.offsets([0: 4]), "the earlier state, 4, is after the later one, 2"),
                (.offsets([0: 99]), "changedSince names offset 99, but the log ends at"),
            ] {
                let error = await #expect(throws: QuestionError.self) {
                    _ = try await ledger.reportChanges(question, since: since)
                }
                #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
            }
            question.knownAt = nil
            let same = try await ledger.reportChanges(question, since: try await Self.bound(ledger))
            #expect(same.rows.isEmpty && same.causes.isEmpty)
            await ledger.log.close()
        }
    }

    private static func bound(_ ledger: Ledger) async throws -> KnownAt {
        .offsets(try await ledger.log.heads().mapValues(\.offset))
    }

    // The same rate from dollars on the first day of every month.
    private static func importRates(_ rate: String, into ledger: Ledger) async throws {
        let days = (2015...2031).flatMap { year in
            (1...12).map { "\(year)-\($0 < 10 ? "0" : "")\($0)-01" }
        }
        var lines: [Result<RateLine, RefusedLine>]? = try days.enumerated().map { number, day in
            let pair = try #require(CurrencyRate.Pair("USD", in: "EUR"))
            let key = try #require(CurrencyRate.Key(pair, day: day))
            let line = CurrencyRate(key, try #require(ExactDecimal(rate)))
            return .success(RateLine(number: number + 1, rate: line))
        }
        _ = try await ledger.importRates(isDryRun: false) {
            defer { lines = nil }
            return lines
        }
    }
}

/// Purchases of January 2026 about which something is known only later.
struct LateLives {
    /// Those with a late fact: a purchase, a refund, a reversed refund and a price.
    let late: [SubscriptionLife]
    /// What arrives in time: the first facts, and a purchase in February.
    let before: [Delivery]
    /// What arrives late: the purchase first.
    let after: [Delivery]
    /// A purchase in April.
    let later: [Delivery]

    init() throws {
        func life(_ index: Int64, _ steps: [LifeStep]) throws -> SubscriptionLife {
            try SubscriptionLife(
                identity: LifeIdentity(
                    seed: 15,
                    index: index,
                    storefront: SimulatedStorefront.all[0]
                ),
                store: FilledLedger.simulator.store,
                script: steps
            )
        }
        func day(_ text: String) -> Instant { Instant(text) ?? .epoch }
        let product = SimulatedCatalog.lumen[2]
        let bought = try life(1, [.subscribe(product, offer: nil, at: day("2026-01-05"))])
        let refunded = try life(
            2,
            [
                .subscribe(product, offer: nil, at: day("2026-01-06")),
                .refund(purchase: 0, percentage: nil, at: day("2026-01-20")),
            ]
        )
        let reversed = try life(
            3,
            [
                .subscribe(product, offer: nil, at: day("2026-01-07")),
                .refund(purchase: 0, percentage: nil, at: day("2026-01-15")),
                .reverseRefund(purchase: 0, at: day("2026-01-25")),
            ]
        )
        let priced = try life(4, [.subscribe(product, offer: nil, at: day("2026-01-08"))])
        let next = try life(5, [.subscribe(product, offer: nil, at: day("2026-02-02"))])
        let receipt = Delivery(
            channel: .appReceipt,
            payload: priced.appReceipt(asOf: day("2026-01-09")),
            signedAt: day("2026-01-09")
        )
        late = [bought, refunded, reversed, priced]
        before =
            refunded.notifications().dropLast() + reversed.notifications().dropLast() + [receipt]
            + next.notifications()
        after =
            bought.notifications() + refunded.notifications().suffix(1)
            + reversed.notifications().suffix(1) + priced.notifications()
        later = try life(6, [.subscribe(product, offer: nil, at: day("2026-04-02"))])
            .notifications()
    }
}

extension ReportValue {
    /// The number; 0 for nothing.
    var count: Int64 {
        switch self {
        case .integer(let number), .hundredths(let number): number
        case .none, .text, .flag: 0
        }
    }
}
