import Events
import Projections
import TestSupport
import Testing

/// Laws under every policy, for any history (promises 2, 3, 4 and 7).
@Suite struct PolicyLawTests {
    /// All policies.
    private static let policies = [true, false].flatMap { grace in
        [true, false].flatMap { family in
            [true, false].flatMap { retroactive in
                [true, false].map { refund in
                    AccessPolicy(
                        graceCounts: grace,
                        familyCounts: family,
                        reversalIsRetroactive: retroactive,
                        refundIsRetroactive: refund
                    )
                }
            }
        }
    }

    private static let fromReversal = AccessPolicy(
        graceCounts: true,
        familyCounts: true,
        reversalIsRetroactive: false
    )

    private static let withoutGrace = AccessPolicy(
        graceCounts: false,
        familyCounts: true,
        reversalIsRetroactive: true
    )

    @Test(arguments: Acceptance.seeds(400))
    func `order, repetition and batches of arrival change no row under any policy`(seed: UInt64) {
        var random = RandomFacts(seed: seed)
        let facts = random.facts(Int.random(in: 1...14, using: &random.random))
        let ledger = MemoryLedger([facts])
        let other = MemoryLedger(random.deliveries(of: facts))
        for policy in PolicyLawTests.policies {
            let context = FoldContext(policy: policy)
            let areSame = other.rowBytes(in: context) == ledger.rowBytes(in: context)
            #expect(areSame, "seed \(seed), \(policy)")
        }
    }

    /// The tables of this policy are computed from a timeline with another one.
    @Test(arguments: Acceptance.seeds(200))
    func `the context's policy overrides the timeline's`(seed: UInt64) {
        var random = RandomFacts(seed: seed)
        let ledger = MemoryLedger([random.facts(14)])
        for stream in ledger.streams {
            let timeline = ledger.timeline(of: stream)
            for projection in allProjections {
                let rows = projection.acceptedRows(of: timeline)
                for policy in PolicyLawTests.policies {
                    let other = projection.acceptedRows(of: timeline.under(policy))
                    let areSame = other == rows
                    #expect(areSame, "seed \(seed), \(projection.name), \(policy)")
                }
            }
        }
    }

    @Test(arguments: Acceptance.seeds(1000))
    func `without grace only the grace rows are missing`(seed: UInt64) {
        var random = RandomFacts(seed: seed)
        let ledger = MemoryLedger([random.facts(20)])
        for stream in ledger.streams {
            let timeline = ledger.timeline(of: stream)
            let all = ActivePeriods(timeline).rows.filter { $0.kind != .grace }
            let rows = ActivePeriods(timeline.under(PolicyLawTests.withoutGrace)).rows
            let areSame = rows.map(\.withoutLasting) == all.map(\.withoutLasting)
            #expect(areSame, "seed \(seed)")
        }
    }

    @Test func `access that a reversal restores only from then on is missing exactly until then`() {
        var suspended = 0
        for seed in UInt64(1)...2000 {
            var random = RandomFacts(seed: seed)
            let ledger = MemoryLedger([random.facts(20)])
            for stream in ledger.streams {
                let timeline = ledger.timeline(of: stream)
                let told = ActivePeriods(timeline).rows.filter { $0.kind != .grace }
                let rows = ActivePeriods(timeline.under(PolicyLawTests.fromReversal)).rows
                    .filter { $0.kind != .grace }
                for (index, purchase) in timeline.purchases.enumerated() {
                    // No value in a row distinguishes two purchases in one second.
                    // Seats added to a period keep its access until they are revoked, too.
                    guard timeline.isAlone(index), purchase.additions.isEmpty else { continue }
                    // A refund of items takes no access.
                    let cases = Refunds(timeline).rows.filter {
                        $0.isOf(purchase) && $0.kind != .items
                    }
                    let missing = cases.compactMap { refund -> Range<Int64>? in
                        guard let from = refund.revoked, let to = refund.reversed, from < to
                        else { return nil }
                        return from.milliseconds..<to.milliseconds
                    }
                    let before = told.filter { $0.isOf(purchase) }.flatMap(\.halfDays)
                    let after = rows.filter { $0.isOf(purchase) }.flatMap(\.halfDays)
                    let expected = before.filter { instant in
                        !missing.contains { $0.contains(instant) }
                    }
                    let isExact = after == expected
                    #expect(isExact, "seed \(seed)")
                    if before != after { suspended += 1 }
                }
            }
        }
        // Otherwise the law does not apply.
        #expect(suspended > 100, "\(suspended) purchases")
    }

    @Test(arguments: Acceptance.seeds(300))
    func `Apple's actions are the same under every policy`(seed: UInt64) throws {
        var random = RandomFacts(seed: seed)
        let ledger = MemoryLedger([random.facts(20)])
        let names = ["refunds", "plan_changes", "movements"]
        let projections = allProjections.filter { names.contains($0.name) }
        try #require(projections.count == names.count)
        for stream in ledger.streams {
            let timeline = ledger.timeline(of: stream)
            for projection in projections {
                let rows = projection.acceptedRows(of: timeline)
                for policy in PolicyLawTests.policies {
                    let context = FoldContext(policy: policy)
                    let areSame = projection.acceptedRows(of: timeline, in: context) == rows
                    #expect(areSame, "seed \(seed), \(projection.name), \(policy)")
                }
            }
        }
    }
}

extension Timeline {
    /// Whether no other purchase, nor an addition of seats, starts in its second.
    fileprivate func isAlone(_ index: Int) -> Bool {
        purchases.flatMap { [$0] + $0.additions }
            .count { $0.purchaseDate == purchases[index].purchaseDate } == 1
    }
}

extension RefundCase {
    fileprivate func isOf(_ purchase: Purchase) -> Bool {
        purchaseDate == purchase.purchaseDate && expiresDate != nil
    }
}

extension ActivePeriod {
    fileprivate func isOf(_ purchase: Purchase) -> Bool { purchaseDate == purchase.purchaseDate }

    /// The values, except whether it was the last to end.
    fileprivate var withoutLasting: [ColumnValue] {
        endReason == .open ? Array(values.dropLast()) + [.text("expired")] : values
    }

    /// The instants of access on a grid of half days with a millisecond on either side: random
    /// facts are about whole days and their first millisecond.
    fileprivate var halfDays: [Int64] {
        (Int64(-4)...40).flatMap { half -> [Int64] in
            let instant = RandomFacts.day(0).milliseconds + half * 43_200_000
            return [instant - 1, instant, instant + 1, instant + 2]
        }.filter { validFrom.milliseconds <= $0 && $0 < validTo.milliseconds }
    }
}
