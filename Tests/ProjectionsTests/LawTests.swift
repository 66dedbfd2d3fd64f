import Events
import Projections
import TestSupport
import Testing

/// Laws of every history, whatever it contains (promises 2, 3, 4 and 7).
@Suite struct LawTests {
    @Test(arguments: Acceptance.seeds(2000))
    func `order, repetition and batches of arrival change no row`(seed: UInt64) {
        var random = RandomFacts(seed: seed)
        let facts = random.facts(Int.random(in: 1...14, using: &random.random))
        let ledger = MemoryLedger([facts])
        for _ in 0..<3 {
            let other = MemoryLedger(random.deliveries(of: facts))
            // Compare booleans first: a failure would print both sides at length.
            let isSameKnowledge = other.assertions == ledger.assertions
            let areSameRows = other.rowBytes == ledger.rowBytes
            let areSameViews = other.views == ledger.views
            #expect(isSameKnowledge, "seed \(seed)")
            #expect(areSameRows, "seed \(seed)")
            #expect(areSameViews, "seed \(seed)")
        }
    }

    @Test(arguments: Acceptance.seeds(500))
    func `feeding everything again adds nothing`(seed: UInt64) {
        var random = RandomFacts(seed: seed)
        let facts = random.facts(12)
        var ledger = MemoryLedger([facts])
        let (events, confirmations) = (ledger.events, ledger.confirmations)
        ledger.append(facts.shuffled(using: &random.random))
        let isSame = ledger.events == events && ledger.confirmations == confirmations
        #expect(isSame, "seed \(seed)")
    }

    @Test(arguments: Alphabet.all)
    func `every permutation of every small set of facts gives the same rows`(alphabet: Alphabet) {
        for set in alphabet.subsets {
            let ledger = MemoryLedger([set])
            let (rows, assertions) = (ledger.rowBytes, ledger.assertions)
            var differing = 0
            permute(set) { order in
                let other = MemoryLedger([order + order])
                if other.rowBytes != rows || other.assertions != assertions { differing += 1 }
            }
            #expect(differing == 0, "\(set.count) facts")
        }
    }

    @Test(arguments: Acceptance.seeds(2000))
    func `a plain model without a log predicts the rows`(seed: UInt64) {
        var random = RandomFacts(seed: seed)
        let facts = random.facts(Int.random(in: 1...14, using: &random.random))
        let ledger = MemoryLedger([facts])
        for stream in ledger.streams {
            let rows = ActivePeriods(ledger.timeline(of: stream)).rows.map(\.values)
            let predicted = PlainActivePeriods(facts.filter { $0.stream == stream })
            let isSame = Set(rows) == predicted.rowValues(of: stream)
            #expect(isSame, "seed \(seed)")
        }
    }

    @Test(arguments: Acceptance.seeds(200))
    func `folding twice gives the same bytes`(seed: UInt64) {
        var random = RandomFacts(seed: seed)
        let ledger = MemoryLedger([random.facts(20)])
        #expect(ledger.rowBytes == ledger.rowBytes, "seed \(seed)")
    }

    @Test(arguments: Acceptance.seeds(200))
    func `facts about one stream do not change the periods of another`(seed: UInt64) {
        var random = RandomFacts(seed: seed)
        let facts = random.facts(30)
        let (own, other) = (RandomFacts.streams[0], RandomFacts.streams[1])
        let alone = MemoryLedger([facts.filter { $0.stream == own }])
        let together = MemoryLedger([facts])
        #expect(
            ActivePeriods(together.timeline(of: own)).rows.map(\.values)
                == ActivePeriods(alone.timeline(of: own)).rows.map(\.values),
            "seed \(seed)"
        )
        #expect(together.streams.allSatisfy { [own, other].contains($0) })
    }

    @Test(arguments: Acceptance.seeds(500))
    func `periods are ordered and cite only events of their own stream`(seed: UInt64) {
        var random = RandomFacts(seed: seed)
        let ledger = MemoryLedger([random.facts(20)])
        for stream in ledger.streams {
            let periods = ActivePeriods(ledger.timeline(of: stream))
            for row in periods.rows {
                #expect(row.validFrom <= row.validTo, "seed \(seed)")
                #expect(!row.positions.isEmpty, "seed \(seed)")
                #expect(row.positions == Array(Set(row.positions)).sorted(), "seed \(seed)")
                let known = ledger.events.filter { $0.fact.stream == stream }.map(\.position)
                #expect(row.positions.allSatisfy(known.contains), "seed \(seed)")
            }
            for (left, right) in zip(periods.active, periods.active.dropFirst()) {
                #expect(left.upperBound < right.lowerBound, "seed \(seed)")
            }
            #expect(periods.active.allSatisfy { !$0.isEmpty }, "seed \(seed)")
        }
    }

    @Test(arguments: Acceptance.seeds(500))
    func `states follow one another, and no two neighbours are equal`(seed: UInt64) {
        var random = RandomFacts(seed: seed)
        let ledger = MemoryLedger([random.facts(20)])
        for stream in ledger.streams {
            let timeline = ledger.timeline(of: stream)
            let rows = RenewalStates(timeline).rows
            #expect(rows.isEmpty || !timeline.purchases.isEmpty, "seed \(seed)")
            for (row, next) in zip(rows, rows.dropFirst()) {
                #expect(row.validTo.map { $0 <= next.validFrom } ?? false, "seed \(seed)")
                let isLonger = row.validTo == next.validFrom && row.agrees(with: next)
                #expect(!isLonger, "seed \(seed)")
            }
            for row in rows {
                #expect(row.validTo.map { row.validFrom < $0 } ?? true, "seed \(seed)")
            }
            // There is access only where the status grants it, apart from what an early renewal
            // implies.
            let periods = ActivePeriods(timeline)
            for interval in periods.active {
                let last = Instant(milliseconds: interval.upperBound.milliseconds - 1)
                for instant in [interval.lowerBound, last] {
                    let state = RenewalStates(timeline).state(at: instant)
                    #expect(state?.status.isEntitled ?? true, "seed \(seed), \(instant)")
                }
                // Not compared before a later purchase: the status may then stay active in the gap.
                let end = interval.upperBound
                guard !periods.rows.contains(where: { $0.validFrom >= end }) else { continue }
                let state = RenewalStates(timeline).state(at: end)
                #expect(!(state?.status.isEntitled ?? false), "seed \(seed), \(end)")
            }
        }
    }
}

extension RenewalState {
    // By bytes, as a table holds it.
    fileprivate func agrees(with other: RenewalState) -> Bool {
        status == other.status && charge == other.charge && isAutoRenewOn == other.isAutoRenewOn
            && priceConsent == other.priceConsent
            && Array((autoRenewProductId ?? "").utf8)
                == Array((other.autoRenewProductId ?? "").utf8)
            && (autoRenewProductId == nil) == (other.autoRenewProductId == nil)
            && expirationReason == other.expirationReason && terms == other.terms
    }
}

extension MemoryLedger {
    /// What the timelines contain besides rows, without positions.
    fileprivate var views: [String] {
        streams.flatMap { stream in
            let timeline = timeline(of: stream)
            var lines = timeline.purchases.map { "\($0.transactionIds) \($0.webOrderLineItemId)" }
            lines += timeline.notifications.map {
                "\($0.notificationUUID) \($0.asOf) \($0.notificationType) \($0.subtype)"
            }
            lines += timeline.renewalSnapshots.map {
                "\($0.asOf) \($0.renewalDate as Any) \($0.gracePeriodExpiresDate)"
                    + " \($0.autoRenewStatus as Any)"
            }
            lines.append("\(timeline.horizon as Any)")
            return lines
        }
    }
}

/// Calls the body with every permutation of the elements (Heap's algorithm).
private func permute(_ facts: [Fact], _ body: ([Fact]) -> Void) {
    var order = facts
    func step(_ count: Int) {
        guard count > 1 else { return body(order) }
        for index in 0..<count {
            step(count - 1)
            order.swapAt(count % 2 == 0 ? index : 0, count - 1)
        }
    }
    step(order.count)
}

/// A handful of facts about one purchase, at as-ofs 1 to 3, that differ in one field.
struct Alphabet: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let facts: [Fact]
    let subsetCountMax: Int

    static let all = [
        Alphabet("revoked or not", upTo: 5) { content, asOf in
            content[.revocationDate] = .instant(at(3))
            content[.transactionId] = .text("t\(asOf)")
        },
        Alphabet("two prices, where silence says nothing", upTo: 5) { content, asOf in
            content[.price] = .integer(0)
            content[.offerType] = .integer(1)
            content[.transactionId] = .text("t\(asOf % 2)")
        },
        Alphabet("upgraded or explicitly not", upTo: 5, base: { $0[.isUpgraded] = .boolean(false) })
        { content, _ in content[.isUpgraded] = .boolean(true) },
        Alphabet(
            "two line items of one key",
            upTo: 5,
            base: { $0[.webOrderLineItemId] = .text("1") }
        ) { content, _ in
            content[.webOrderLineItemId] = .text("2")
            content[.revocationDate] = .instant(at(2))
        },
        Alphabet(
            "canonically equivalent texts",
            upTo: 5,
            base: { $0[.offerIdentifier] = .text("\u{E9}") }
        ) { content, _ in content[.offerIdentifier] = .text("e\u{301}") },
        Alphabet("two expiries of one line item", upTo: 5, expiries: [5, 7]) { _, _ in },
        Alphabet("two line items and two prices", upTo: 4, values: 4) { content, value in
            content[.webOrderLineItemId] = .text("\(value & 1)1")
            content[.revocationDate] = value & 2 == 0 ? nil : .instant(at(4))
        },
    ]

    private init(
        _ name: String,
        upTo subsetCountMax: Int,
        expiries: [Int] = [5],
        values: Int = 2,
        base: (inout Content) -> Void = { _ in },
        change: (inout Content, Int) -> Void
    ) {
        testDescription = name
        self.subsetCountMax = subsetCountMax
        facts = (1...3).flatMap { asOf in
            (0..<values).map { value in
                var content = Content(format: .signedTransaction)
                content[.productId] = .text("a")
                base(&content)
                if values > 2 {
                    change(&content, value)
                } else if value == 1 {
                    change(&content, asOf)
                }
                return Fact(
                    stream: TimelineText.stream,
                    bundleId: "app",
                    kind: .transaction,
                    purchaseDate: Alphabet.at(0),
                    expiresDate: Alphabet.at(expiries[value % expiries.count]),
                    asOf: Alphabet.at(asOf),
                    content: content
                )
            }
        }
    }

    private static func at(_ day: Int) -> Instant {
        Instant(milliseconds: 1_700_000_000_000 + Int64(day) * 86_400_000)
    }

    /// Every set of one to `subsetCountMax` facts.
    var subsets: [[Fact]] {
        (1..<(1 << facts.count)).compactMap { bits in
            guard bits.nonzeroBitCount <= subsetCountMax else { return nil }
            return facts.indices.filter { bits & (1 << $0) != 0 }.map { facts[$0] }
        }
    }
}
