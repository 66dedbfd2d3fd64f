import Events
import TestSupport
import Testing

@testable import Projections

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
        for seed in UInt64(1)...2500 {
            var random = RandomFacts(seed: seed)
            let ledger = MemoryLedger([random.facts(20)])
            for stream in ledger.streams {
                let timeline = ledger.timeline(of: stream)
                let told = ActivePeriods(timeline).rows.filter { $0.kind != .grace }
                let rows = ActivePeriods(timeline.under(PolicyLawTests.fromReversal)).rows
                    .filter { $0.kind != .grace }
                for (index, purchase) in timeline.purchases.enumerated() {
                    // No value in a row distinguishes two purchases in one second.
                    guard timeline.isAlone(index) else { continue }
                    let refunds = timeline.refundsOfTransactions(of: index)
                    let before = told.filter { $0.isOf(purchase) }.flatMap(\.halfDays)
                    let after = rows.filter { $0.isOf(purchase) }.flatMap(\.halfDays)
                    let expected = before.filter { instant in
                        !refunds.areAllInForce(at: instant)
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
    /// Whether no other purchase starts in its second.
    fileprivate func isAlone(_ index: Int) -> Bool {
        purchases.count { $0.purchaseDate == purchases[index].purchaseDate } == 1
    }

    /// For each transaction of a period the refunds that took access; those of items take none.
    fileprivate func refundsOfTransactions(of index: Int) -> [[RefundCase]] {
        let additions = purchases[index].additions.indices.map {
            RefundCase.Subject.addition($0, of: index)
        }
        return ([.subscription(index)] + additions).map { subject in
            Refunds(self).rows.filter { $0.subject == subject && $0.kind != .items }
        }
    }
}

extension [[RefundCase]] {
    /// Whether every transaction was taken back at that instant, one of them until a reversal.
    fileprivate func areAllInForce(at instant: Int64) -> Bool {
        let reversed = map { cases in
            cases.contains { refund in
                guard let from = refund.revoked, let to = refund.reversed else { return false }
                return from.milliseconds <= instant && instant < to.milliseconds
            }
        }
        let isTaken = zip(self, reversed).allSatisfy { cases, isReversed in
            isReversed
                || cases.contains { refund in
                    refund.reversed == nil
                        && refund.revoked.map { $0.milliseconds <= instant } ?? false
                }
        }
        return isTaken && reversed.contains(true)
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
