import Events
import Projections
import Testing

/// Why there was access, and what the answer was at the time.
@Suite struct ExplanationTests {
    /// A customer who asks about 3 March.
    static let march = """
        01-01T00:00:04 @01-01 purchase monthly 01-01..01-08 woli=1 offer=1 discount=FREE_TRIAL
        01-08T00:01:00 @01-08 purchase monthly 01-08..02-08 woli=2 price=9990
        + @01-08 notice DID_RENEW uuid=n1
        02-08T00:02:14 @02-08 renewal of=02-08 grace=02-24 auto=1 retry
        + @02-08 notice DID_FAIL_TO_RENEW GRACE_PERIOD uuid=n2
        02-12T06:40:55 @02-10T19:00:08 purchase monthly 02-10T19:00:00..03-08 woli=3 price=9990
        + @02-10T19:00:08 notice DID_RENEW BILLING_RECOVERY uuid=n3
        02-27T10:16:02 @02-27T10:16 purchase monthly 02-10T19:00:00..03-08 woli=3 price=9990 \
        revoked=02-27T10:15:00 type=REFUND_FULL
        + @02-27T10:16 notice REFUND uuid=n4
        03-05T14:20:11 @03-05T14:20 purchase monthly 02-10T19:00:00..03-08 woli=3 price=9990
        + @03-05T14:20 notice REFUND_REVERSED uuid=n5
        03-06T12:00:03 @03-06T12:00:00 purchase yearly 03-06T12:00:00..2027-03-06 woli=4 price=79990
        + @03-06T12:00:00 notice DID_CHANGE_RENEWAL_PREF UPGRADE uuid=n6
        """

    @Test func `the explanation of 3 March matches the mock-up`() throws {
        try expect(
            Self.march,
            at: "03-03T09:00:00",
            """
            entitled yes paid monthly
            served no refunded
            wronglyDenied 02-27T10:16:02..03-05T14:20:11 533049s refundReversedLater
            because #6 opened - 02-10T19:00:00 lag 128455s
            because #8 ended - 02-27T10:15:00 lag 62s
            because #10 restored - 02-27T10:15:00 lag 11s
            changes #10
            """
        )
    }

    @Test func `as known before the reversal the same instant was refunded`() throws {
        let history = try RecordedStory(Self.march).history
        let then = history.cut(at: try TimelineText.instant("03-04"))
        let lines = Explanation([then], at: try TimelineText.instant("03-03T09:00:00")).lines
        #expect(lines.prefix(2) == ["entitled no refunded", "served no refunded"])
        #expect(!lines.contains { $0.hasPrefix("wrongly") })
    }

    @Test func `a late renewal wrongly denies access until it arrives`() throws {
        try expect(
            """
            03-01T00:00:05 @03-01 purchase monthly 03-01..04-01 woli=1
            04-03T06:00:00 @04-01 purchase monthly 04-01..05-01 woli=2
            + @04-01 notice DID_RENEW uuid=n1
            """,
            at: "04-02",
            """
            entitled yes paid monthly
            served no expired
            wronglyDenied 04-01..04-03T06:00:00 194400s lateNotification
            because #1 opened - 03-01 lag 5s
            because #2 renewed - 04-01 lag 194400s
            changes #2
            """
        )
    }

    @Test func `a late refund wrongly grants access from its date on`() throws {
        try expect(
            """
            03-01T00:00:05 @03-01 purchase monthly 03-01..04-01 woli=1
            03-20T00:00:00 @03-19 purchase monthly 03-01..04-01 woli=1 revoked=03-10
            + @03-19 notice REFUND uuid=n1
            """,
            at: "03-15",
            """
            entitled no refunded
            served yes paid monthly
            wronglyGranted 03-10..03-20 864000s refundedLater
            because #1 opened - 03-01 lag 5s
            because #2 ended - 03-10 lag 864000s
            changes #2
            """
        )
    }

    /// A period whose first seats are refunded, and then those that were added.
    private static let seats = """
        03-01T00:00:05 @03-01 purchase monthly 03-01..04-01 woli=1 seats=8x1000
        03-11T00:00:05 @03-11 purchase monthly 03-11..04-01 woli=2 seats=4x1000 added
        03-15T00:00:05 @03-15 purchase monthly 03-01..04-01 woli=1 seats=8x1000 added revoked=03-15
        03-20T00:00:05 @03-20 purchase monthly 03-11..04-01 woli=2 seats=4x1000 added revoked=03-20
        """

    @Test func `the refund of added seats ends access where the first ones are refunded already`()
        throws
    {
        try expect(
            Self.seats,
            at: "03-25",
            """
            entitled no refunded
            served no refunded
            because #1 opened - 03-01 lag 5s
            because #4 ended - 03-20 lag 5s
            changes #4
            """
        )
    }

    @Test func `a late extension wrongly denies access`() throws {
        try expect(
            """
            03-01T00:00:05 @03-01 purchase monthly 03-01..04-01 woli=1
            04-05 @04-01 purchase monthly 03-01..04-15 woli=1
            + @04-01 notice RENEWAL_EXTENDED uuid=n1
            """,
            at: "04-03",
            """
            entitled yes paid monthly
            served no expired
            wronglyDenied 04-01..04-05 345600s extensionKnownLater
            because #1 opened - 03-01 lag 5s
            because #2 extended - 04-01 lag 345600s
            changes #2
            """
        )
    }

    @Test func `a late grace wrongly denies access`() throws {
        try expect(
            """
            03-01T00:00:05 @03-01 purchase monthly 03-01..04-01 woli=1
            04-03 @04-01 renewal of=04-01 grace=04-17 auto=1 retry
            + @04-01 notice DID_FAIL_TO_RENEW GRACE_PERIOD uuid=n1
            """,
            at: "04-02",
            """
            entitled yes grace monthly
            served no expired
            wronglyDenied 04-01..04-03 172800s graceKnownLater
            because #1 opened - 03-01 lag 5s
            because #2 grace DID_FAIL_TO_RENEW/GRACE_PERIOD 04-01 lag 172800s
            changes #1
            """
        )
    }

    @Test
    func `an upgrade whose refund takes all access wrongly grants it until the refund is known`()
        throws
    {
        try expect(
            """
            03-01T00:00:05 @03-01 purchase basic 03-01..04-01 woli=1
            03-20 @03-19 purchase pro 03-10..04-10 woli=2 revoked=03-12
            """,
            at: "03-15",
            """
            entitled no refunded
            served yes paid basic
            wronglyGranted 03-12..03-20 691200s upgradeKnownLater
            because #1 opened - 03-01 lag 5s
            because #2 ended - 03-12 lag 691200s
            changes #2
            """
        )
    }

    @Test func `an event imported afterwards was not known at the time`() throws {
        try expect(
            """
            05-01 @04-30 purchase monthly 03-01..04-01 woli=1
            """,
            at: "03-15",
            """
            entitled yes paid monthly
            served no notKnownYet
            wronglyDenied 03-01..04-01 2678400s notYetKnown
            because #1 opened - 03-01 lag 5270400s
            changes #1
            """
        )
    }

    @Test func `after the end the event that reported it is cited`() throws {
        try expect(
            """
            03-01T00:00:05 @03-01 purchase monthly 03-01..04-01 woli=1
            03-08 @03-08 renewal of=04-01 auto=0
            + @03-08 notice DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED uuid=n1
            """,
            at: "04-03",
            """
            entitled no expired
            served no expired
            because #1 opened - 03-01 lag 5s
            because #2 notRenewed DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED 04-01 lag 0s
            """
        )
    }

    @Test func `a refund after the end is reported and takes no access`() throws {
        let history = try RecordedStory(
            """
            03-01T00:00:05 @03-01 purchase monthly 03-01..04-01 woli=1 price=9990
            04-10 @04-09 purchase monthly 03-01..04-01 woli=1 price=9990 revoked=04-09
            + @04-09 notice REFUND uuid=n1 about=03-01..04-01
            """
        ).history
        for (at, hasAccess) in [("03-20", true), ("04-20", false)] {
            let explanation = Explanation([history], at: try TimelineText.instant(at))
            #expect(explanation.entitled.hasAccess == hasAccess)
            #expect(explanation.refundsAfterEnd.map(\.refundedMilliunits) == [9990])
        }
        let march = try RecordedStory(Self.march).history
        let reversed = Explanation([march], at: try TimelineText.instant("03-03T09:00:00"))
        #expect(reversed.refundsAfterEnd.isEmpty)
    }

    @Test func `before the first purchase nothing was bought, in an empty ledger nothing is known`()
        throws
    {
        try expect(
            "03-01T00:00:05 @03-01 purchase monthly 03-01..04-01 woli=1",
            at: "02-01",
            """
            entitled no notYetBought
            served no notKnownYet
            """
        )
        let nothing = Explanation([], at: try TimelineText.instant("03-01"))
        #expect(nothing.lines == ["entitled no notKnownYet", "served no notKnownYet"])
    }

    @Test func `a requested product is judged alone`() throws {
        let history = try RecordedStory(Self.march).history
        let instant = try TimelineText.instant("03-10")
        let monthly = Explanation([history], at: instant, product: "monthly")
        let yearly = Explanation([history], at: instant, product: "yearly")
        #expect(monthly.entitled.reason == .upgraded)
        #expect(yearly.entitled.hasAccess)
    }

    @Test func `a second subscription keeps the access while the first is late`() throws {
        let other = StreamID(environment: .production, originalTransactionId: "2000")
        let first = try RecordedStory(
            """
            03-01T00:00:05 @03-01 purchase monthly 03-01..04-01 woli=1
            04-20 @04-01 purchase monthly 04-01..05-01 woli=2
            """
        ).history
        let fact = try #require(
            try TimelineText("@04-05 purchase pro 04-05..05-05", stream: other).facts.first
        )
        let second = RecordedStory.history(of: [(try TimelineText.instant("04-05"), 1, fact)])
        let both = WrongAnswers([first, second])
        #expect(both.stretches.map(\.seconds) == [5, 4 * 86_400])
        #expect(WrongAnswers([first]).seconds(.wronglyDenied) == 19 * 86_400 + 5)
    }
}
