import AppStoreSimulator
import Events
import Testing

/// Exact rows for each kind of life: beginnings, renewals, failures and ends.
@Suite struct ScriptedLivesTests {
    private let monthly = ScriptedLife.monthly
    private let weekly = ScriptedLife.weekly

    @Test func `a trial becomes a paid subscription`() throws {
        let life = try ScriptedLife([
            .subscribe(monthly, offer: .free(.weeks(1)), at: at("2026-01-25")),
            .renew(at: at("2026-01-31T03:00Z")),
            .renew(at: at("2026-03-01")),
        ])
        #expect(
            life.rows == [
                "2026-01-25 2026-02-01 trial plus.monthly expired",
                "2026-02-01 2026-03-01 paid plus.monthly expired",
                "2026-03-01 2026-04-01 paid plus.monthly open",
            ]
        )
        #expect(life.access == ["2026-01-25 2026-04-01"])
        #expect(life.life.kinds == [.trialThenPaid, .renewed, .chargedEarly])
        #expect(
            try life.notifications() == ["SUBSCRIBED/INITIAL_BUY 1", "DID_RENEW 1", "DID_RENEW 1"]
        )
    }

    @Test func `a paid introductory offer lasts for its periods`() throws {
        let life = try ScriptedLife([
            .subscribe(
                monthly,
                offer: .payAsYouGo(.months(1), periods: 2),
                at: at("2026-01-10")
            ),
            .renew(at: at("2026-02-10")), .renew(at: at("2026-03-10")),
        ])
        #expect(
            life.rows == [
                "2026-01-10 2026-02-10 intro plus.monthly expired",
                "2026-02-10 2026-03-10 intro plus.monthly expired",
                "2026-03-10 2026-04-10 paid plus.monthly open",
            ]
        )
        let upFront = try ScriptedLife([
            .subscribe(monthly, offer: .payUpFront(.months(2)), at: at("2026-01-10"))
        ])
        #expect(upFront.rows == ["2026-01-10 2026-03-10 intro plus.monthly open"])
    }

    @Test func `a billing day on the 31st is remembered`() throws {
        let life = try ScriptedLife([
            .subscribe(monthly, offer: nil, at: at("2026-01-31")),
            .renew(at: at("2026-02-28")), .renew(at: at("2026-03-31")),
        ])
        #expect(
            life.rows == [
                "2026-01-31 2026-02-28 paid plus.monthly expired",
                "2026-02-28 2026-03-31 paid plus.monthly expired",
                "2026-03-31 2026-04-30 paid plus.monthly open",
            ]
        )
    }

    @Test func `a lapse leaves a gap under the same id`() throws {
        let life = try ScriptedLife([
            .subscribe(weekly, offer: nil, at: at("2026-01-01")),
            .turnAutoRenewOff(at: at("2026-01-03")),
            .expire(.voluntary, at: at("2026-01-08T00:05Z")),
            .subscribe(
                monthly,
                offer: .payUpFront(.months(1), .winBack, identifier: "BACK"),
                at: at("2026-02-01")
            ),
        ])
        #expect(
            life.rows == [
                "2026-01-01 2026-01-08 paid basic.weekly expired",
                "2026-02-01 2026-03-01 offer plus.monthly open",
            ]
        )
        #expect(life.access == ["2026-01-01 2026-01-08", "2026-02-01 2026-03-01"])
        #expect(
            try life.notifications() == [
                "SUBSCRIBED/INITIAL_BUY 1", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED 1",
                "EXPIRED/VOLUNTARY 2", "SUBSCRIBED/RESUBSCRIBE 1",
            ]
        )
    }

    @Test func `auto-renew off and on again changes nothing`() throws {
        let life = try ScriptedLife([
            .subscribe(monthly, offer: nil, at: at("2026-01-01")),
            .turnAutoRenewOff(at: at("2026-01-03")), .turnAutoRenewOn(at: at("2026-01-04")),
            .renew(at: at("2026-01-31T12:00Z")),
        ])
        #expect(
            life.rows == [
                "2026-01-01 2026-02-01 paid plus.monthly expired",
                "2026-02-01 2026-03-01 paid plus.monthly open",
            ]
        )
    }

    @Test func `recovery without grace leaves a gap and moves the billing day`() throws {
        let life = try ScriptedLife([
            .subscribe(monthly, offer: nil, at: at("2026-03-20")),
            .failToRenew(graceUntil: nil, at: at("2026-04-20T00:01Z")),
            .recover(at: at("2026-05-05")), .renew(at: at("2026-06-05")),
        ])
        #expect(
            life.rows == [
                "2026-03-20 2026-04-20 paid plus.monthly expired",
                "2026-05-05 2026-06-05 paid plus.monthly expired",
                "2026-06-05 2026-07-05 paid plus.monthly open",
            ]
        )
        #expect(life.life.kinds == [.recoveredWithGap, .renewed])
        #expect(
            try life.notifications() == [
                "SUBSCRIBED/INITIAL_BUY 1", "DID_FAIL_TO_RENEW 3", "DID_RENEW/BILLING_RECOVERY 1",
                "DID_RENEW 1",
            ]
        )
    }

    @Test func `billing that never recovers ends at the expiry`() throws {
        let life = try ScriptedLife([
            .subscribe(monthly, offer: nil, at: at("2026-03-20")),
            .failToRenew(graceUntil: nil, at: at("2026-04-20T00:01Z")),
            .giveUp(at: at("2026-06-19")),
        ])
        #expect(life.rows == ["2026-03-20 2026-04-20 paid plus.monthly expired"])
        #expect(life.life.kinds == [.failedForGood, .winBackListed])
    }

    @Test func `recovery within grace is contiguous and leaves no grace period`() throws {
        let life = try ScriptedLife([
            .subscribe(monthly, offer: nil, at: at("2026-03-20")),
            .failToRenew(graceUntil: at("2026-05-06"), at: at("2026-04-20T00:01Z")),
            .recover(at: at("2026-05-01")),
        ])
        #expect(
            life.rows == [
                "2026-03-20 2026-04-20 paid plus.monthly expired",
                "2026-04-20 2026-05-20 paid plus.monthly open",
            ]
        )
    }

    @Test func `access ends with the grace period, and a later recovery leaves a gap`() throws {
        let life = try ScriptedLife([
            .subscribe(monthly, offer: nil, at: at("2026-03-20")),
            .failToRenew(graceUntil: at("2026-05-06"), at: at("2026-04-20T00:01Z")),
            .endGrace(at: at("2026-05-06T00:05Z")), .recover(at: at("2026-05-10")),
        ])
        #expect(
            life.rows == [
                "2026-03-20 2026-04-20 paid plus.monthly expired",
                "2026-04-20 2026-05-06 grace plus.monthly expired",
                "2026-05-10 2026-06-10 paid plus.monthly open",
            ]
        )
        #expect(life.access == ["2026-03-20 2026-05-06", "2026-05-10 2026-06-10"])
    }

    @Test func `a running grace period is open`() throws {
        let life = try ScriptedLife([
            .subscribe(monthly, offer: nil, at: at("2026-03-20")),
            .failToRenew(graceUntil: at("2026-05-06"), at: at("2026-04-20T00:01Z")),
        ])
        #expect(
            life.rows == [
                "2026-03-20 2026-04-20 paid plus.monthly expired",
                "2026-04-20 2026-05-06 grace plus.monthly open",
            ]
        )
        #expect(
            try life.notifications() == [
                "SUBSCRIBED/INITIAL_BUY 1", "DID_FAIL_TO_RENEW/GRACE_PERIOD 4",
            ]
        )
    }

    @Test func `cancelling during grace ends it when Apple reports it`() throws {
        let life = try ScriptedLife([
            .subscribe(monthly, offer: nil, at: at("2026-03-20")),
            .failToRenew(graceUntil: at("2026-05-06"), at: at("2026-04-20T00:01Z")),
            .turnAutoRenewOff(at: at("2026-04-25")),
        ])
        let told = life.life.events[2].signedAt
        #expect(
            life.rows == [
                "2026-03-20 2026-04-20 paid plus.monthly expired",
                "2026-04-20 \(told) grace plus.monthly expired",
            ]
        )
        #expect(
            try life.notifications().suffix(2) == [
                "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED 2", "EXPIRED/VOLUNTARY 2",
            ]
        )
    }

    @Test func `a price increase without consent ends the subscription`() throws {
        let life = try ScriptedLife([
            .subscribe(monthly, offer: nil, at: at("2026-03-20")),
            .announcePriceIncrease(at: at("2026-04-01")),
            .expire(.priceIncrease, at: at("2026-04-20")),
        ])
        #expect(life.rows == ["2026-03-20 2026-04-20 paid plus.monthly expired"])
        #expect(
            try life.notifications().suffix(2) == [
                "PRICE_INCREASE/PENDING 1", "EXPIRED/PRICE_INCREASE 2",
            ]
        )
    }

    @Test func `an offer redeemed while active applies at the renewal`() throws {
        let life = try ScriptedLife([
            .subscribe(
                monthly,
                offer: .free(.months(1), .offerCode, identifier: "HELLO"),
                at: at("2026-01-10")
            ),
            .redeem(
                .payUpFront(.months(3), .promotional, identifier: "STAY"),
                at: at("2026-01-20")
            ),
            .renew(at: at("2026-02-10")), .renew(at: at("2026-05-10")),
        ])
        #expect(
            life.rows == [
                "2026-01-10 2026-02-10 offer plus.monthly expired",
                "2026-02-10 2026-05-10 offer plus.monthly expired",
                "2026-05-10 2026-06-10 paid plus.monthly open",
            ]
        )
    }
}
