import AppStoreSimulator
import Events
import Projections
import Testing

/// The hand-written truth of tables, for hand-written lives.
///
/// `s3` is the instant at which Apple signed the first payload about step 3.
@Suite struct TableTruthTests {
    private let monthly = ScriptedLife.monthly
    private let pro = ScriptedLife.proMonthly

    @Test func `states show a renewal charged early, a failed charge and its recovery`() throws {
        let life = try ScriptedLife([
            .subscribe(monthly, offer: nil, at: at("2026-01-01")),
            .renew(at: at("2026-01-31T12:00Z")),
            .failToRenew(graceUntil: nil, at: at("2026-03-01T00:01Z")),
            .recover(at: at("2026-03-10")),
        ])
        #expect(
            life.named(life.life.states) == [
                "2026-01-01 … s0 active waiting unknown - -",
                "s0 … s1 active waiting on plus.monthly - 9990",
                "s1 … 2026-02-01 active succeeded on plus.monthly - 9990",
                "2026-02-01 … 2026-03-01 active waiting on plus.monthly - 9990",
                "2026-03-01 … 2026-03-10 billing_retry failed on plus.monthly - because 2 9990",
                "2026-03-10 … 2026-04-10 active waiting on plus.monthly - 9990",
            ]
        )
    }

    @Test func `states show grace, what followed it, and an unannounced end`() throws {
        let life = try ScriptedLife([
            .subscribe(monthly, offer: nil, at: at("2026-01-01")),
            .announcePriceIncrease(at: at("2026-01-10")),
            .acceptPriceIncrease(at: at("2026-01-11")),
            .failToRenew(graceUntil: at("2026-02-17"), at: at("2026-02-01T00:01Z")),
            .endGrace(at: at("2026-02-17T00:10Z")),
            .giveUp(at: at("2026-04-02")),
        ])
        #expect(
            life.named(life.life.states) == [
                "2026-01-01 … s0 active waiting unknown - -",
                "s0 … s1 active waiting on plus.monthly - 9990",
                "s1 … s2 active waiting on plus.monthly pending 9990",
                "s2 … 2026-02-01 active waiting on plus.monthly accepted 9990",
                "2026-02-01 … 2026-02-17 grace_period failed on plus.monthly accepted 9990",
                "2026-02-17 … s5 billing_retry failed on plus.monthly accepted because 2 9990",
                "s5 …  expired closed off plus.monthly accepted because 2",
            ]
        )
    }

    @Test func `a reversed refund is undone, but the renewal switch stays off in between`() throws {
        let life = try ScriptedLife([
            .subscribe(monthly, offer: nil, at: at("2026-01-01")),
            .refund(purchase: 0, percentage: nil, at: at("2026-01-10")),
            .reverseRefund(purchase: 0, isAnnounced: false, at: at("2026-01-15")),
        ])
        #expect(
            life.named(life.life.states) == [
                "2026-01-01 … s0 active waiting unknown - -",
                "s0 … s1 active waiting on plus.monthly - 9990",
                "s1 … s2 active closed off plus.monthly -",
                "s2 … 2026-02-01 active waiting on plus.monthly - 9990",
            ]
        )
        let before = life.life.known(asOf: life.life.events[1].signedAt).states
        #expect(life.named(before).last == "s1 …  revoked closed off plus.monthly -")
        #expect(
            life.named(life.life.refundCases) == [
                "2026-01-01 plus.monthly reversed full current - - 2026-01-10 s1 s2 inferred"
                    + " 100000 0 9990 0 net"
            ]
        )
        #expect(life.life.notifications().count == 2)
        #expect(life.life.silentPolls().map(\.channel) == [.history, .statuses])
    }

    @Test func `a planned change is withdrawn, replaced, effective in retry, or lapses`() throws {
        let life = try ScriptedLife([
            .subscribe(pro, offer: nil, at: at("2026-01-01")),
            .changeAtRenewal(to: monthly, at: at("2026-01-05")),
            .changeAtRenewal(to: pro, at: at("2026-01-06")),
            .changeAtRenewal(to: ScriptedLife.weekly, at: at("2026-01-07")),
            .failToRenew(graceUntil: nil, at: at("2026-02-01T00:01Z")),
            .changeAtRenewal(to: monthly, at: at("2026-02-05")),
            .recover(at: at("2026-02-10")),
            .changeAtRenewal(to: ScriptedLife.weekly, at: at("2026-02-11")),
            .turnAutoRenewOff(at: at("2026-02-12")),
            .expire(.voluntary, at: at("2026-03-10T00:01Z")),
            .subscribe(pro, offer: nil, at: at("2026-04-01")),
        ])
        #expect(
            life.named(life.life.planChanges) == [
                "pro.monthly plus.monthly s1 - s2 withdrawn next_renewal downgrade same -",
                "pro.monthly basic.weekly s3 - s5 withdrawn next_renewal downgrade other -",
                "pro.monthly plus.monthly s5 2026-02-10 - effective next_renewal downgrade same -",
                "plus.monthly basic.weekly s7 - - lapsed next_renewal downgrade other -",
                "plus.monthly pro.monthly - 2026-04-01 - effective resubscribe upgrade same -",
            ]
        )
        #expect(
            life.life.kinds.isSuperset(of: [.recoveredWithAnotherProduct, .resubscribedToAnother])
        )
    }

    @Test func `the fifteen steps appear in every table`() throws {
        let life = try ScriptedLife(LifeStep.fifteenSteps(from: at("2026-01-01")))
        #expect(life.life.events.count == 15)
        #expect(
            life.rows == [
                "2026-01-01 2026-02-01 paid plus.monthly expired",
                "2026-02-01 2026-03-01 paid plus.monthly expired",
                "2026-03-22 2026-03-27 paid plus.monthly upgraded",
                "2026-03-27 2026-04-27 paid pro.monthly expired",
                "2026-05-31 2026-06-02 paid plus.monthly refunded",
            ]
        )
        #expect(
            life.named(life.life.planChanges) == [
                "plus.monthly pro.monthly - 2026-03-27 - effective now upgrade same -",
                "pro.monthly plus.monthly s8 - s9 withdrawn next_renewal downgrade same -",
                "pro.monthly plus.monthly - 2026-05-31 - effective resubscribe downgrade same -",
            ]
        )
        #expect(
            life.named(life.life.refundCases) == [
                "2026-05-31 plus.monthly refunded full current s13 - 2026-06-02 s14 - -"
                    + " 100000 0 9990 9990 net"
            ]
        )
        #expect(
            life.named(life.life.movements) == [
                "2026-01-01 paid_start plus.monthly - 2026-01-01 9990",
                "2026-02-01 renewal plus.monthly - 2026-02-01 9990",
                "s2 auto_renew_off plus.monthly - 2026-02-01 -",
                "2026-03-01 churn_voluntary plus.monthly - 2026-02-01 -",
                "2026-03-22 paid_start plus.monthly - 2026-03-22 9990 again",
                "2026-03-27 renewal pro.monthly plus.monthly 2026-03-27 14990",
                "2026-03-27 exit_plan_change plus.monthly - 2026-03-22 -",
                "s6 auto_renew_off pro.monthly - 2026-03-27 -",
                "s7 auto_renew_on pro.monthly - 2026-03-27 -",
                "s8 plan_change_scheduled plus.monthly pro.monthly 2026-03-27 -",
                "s9 plan_change_cancelled plus.monthly pro.monthly 2026-03-27 -",
                "s10 auto_renew_off pro.monthly - 2026-03-27 -",
                "2026-04-27 churn_voluntary pro.monthly - 2026-03-27 -",
                "2026-05-31 paid_start plus.monthly pro.monthly 2026-05-31 9990 again",
                "s13 refund_requested plus.monthly - 2026-05-31 -",
                "2026-06-02 exit_refund plus.monthly - 2026-05-31 -9990",
                "s14 auto_renew_off plus.monthly - 2026-05-31 -",
            ]
        )
        let transactions = life.life.transactions
        #expect(transactions.map(\.renewalNumber) == [1, 2, 1, 2, 1])
        #expect(transactions.map(\.consecutivePaidPeriods) == [1, 2, 1, 2, 1])
        #expect(transactions.map(\.isResubscribe) == [false, false, true, false, true])
        #expect(transactions.map(\.gapSeconds) == [nil, nil, 21 * 86_400, nil, 34 * 86_400])
        #expect(transactions.map(\.priceMilliunits) == [9990, 9990, 9990, 14990, 0])
        #expect(
            transactions.map(\.unsubscribeDetectedAt) == [
                nil, life.life.events[2].signedAt, nil, life.life.events[10].signedAt,
                life.life.events[14].signedAt,
            ]
        )
    }

    @Test func `a refund request is declined, then granted in part after the end`() throws {
        let life = try ScriptedLife([
            .subscribe(monthly, offer: .free(.weeks(1)), at: at("2026-01-01")),
            .renew(at: at("2026-01-08")),
            .requestRefund(purchase: 1, at: at("2026-01-10")),
            .declineRefund(purchase: 1, at: at("2026-01-11")),
            .turnAutoRenewOff(at: at("2026-01-12")),
            .expire(.voluntary, at: at("2026-02-08T00:01Z")),
            .refund(purchase: 1, percentage: 67_932, at: at("2026-02-10")),
        ])
        #expect(
            life.named(life.life.refundCases) == [
                "2026-01-08 plus.monthly declined - - s2 s3 - - - - - - 9990 -",
                "2026-01-08 plus.monthly refunded prorated after_expiry - - 2026-02-10 s6 - -"
                    + " 67932 1 9990 6786 net",
            ]
        )
        #expect(
            try life.notifications().suffix(5) == [
                "CONSUMPTION_REQUEST 1", "REFUND_DECLINED 1",
                "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED 1", "EXPIRED/VOLUNTARY 2",
                "REFUND 2",
            ]
        )
        let transactions = life.life.transactions
        #expect(transactions.map(\.isTrialConversion) == [false, true])
        #expect(transactions.map(\.consecutivePaidPeriods) == [0, 1])
        #expect(try transactions.map(\.effectiveEndTime) == [at("2026-01-08"), at("2026-02-08")])
        #expect(transactions.last?.priceMilliunits == 3204)
    }

    @Test func `the states of 1000 lives are ordered, contiguous and consistent with access`() {
        let seed: UInt64 = 20_261_123
        for life in AppStoreSimulator(seed: seed).lives(1000) {
            let name = "life \(life.identity.index) of seed \(seed)"
            let states = life.states
            for (earlier, later) in zip(states, states.dropFirst()) {
                #expect(earlier.validTo == later.validFrom, "\(name)")
                #expect(earlier.validFrom < later.validFrom, "\(name)")
            }
            let entitled = states.filter { $0.status == .active || $0.status == .gracePeriod }
            for state in entitled {
                #expect(
                    life.active.contains {
                        $0.from <= state.validFrom && (state.validTo ?? $0.to) <= $0.to
                    },
                    "\(name): \(state)"
                )
            }
            let length = life.active.reduce(0) { $0 + $1.to.milliseconds - $1.from.milliseconds }
            let told = entitled.reduce(0) { sum, state in
                sum + (state.validTo.map { $0.milliseconds - state.validFrom.milliseconds } ?? 0)
            }
            #expect(told == length, "\(name)")
        }
    }

    @Test func `the money of 1000 lives agrees between refunds, movements and transactions`() {
        let seed: UInt64 = 20_261_124
        for life in AppStoreSimulator(seed: seed).lives(1000) {
            let name = "life \(life.identity.index) of seed \(seed)"
            let moved = life.movements.reduce(0) { $0 + ($1.amountMilliunits ?? 0) }
            let paid = life.transactions.reduce(0) { $0 + ($1.purchasePriceMilliunits ?? 0) }
            let kept = life.transactions.reduce(0) { $0 + ($1.priceMilliunits ?? 0) }
            let refunded = life.refundCases.reduce(0) { $0 + ($1.refundedMilliunits ?? 0) }
            #expect(moved == kept && paid - refunded == kept, "\(name)")
            let changes = life.planChanges.count { $0.effective != nil }
            #expect(life.transactions.count { $0.planChange != nil } == changes, "\(name)")
        }
    }
}

extension ScriptedLife {
    /// Rows as text, with signing instants named by their step.
    func named(_ rows: [some CustomStringConvertible]) -> [String] {
        rows.map { row in
            life.events.enumerated().reduce(row.description) { text, event in
                text.replacing(event.element.signedAt.description, with: "s\(event.offset)")
            }
            .replacing("T00:00:00Z", with: "")
            .replacing("example.subledger.lumen.", with: "")
        }
    }
}
