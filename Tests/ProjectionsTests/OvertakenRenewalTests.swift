import Events
import Projections
import Testing

/// Renewals that were charged early and then overtaken by another purchase (Apple's data: trap 14).
@Suite struct OvertakenRenewalTests {
    /// A month, its renewal for 1 May, and an upgrade four hours before that.
    private static let first = "@04-01 purchase basic 04-01..05-01 woli=1 price=9000\n"
    private static let renewal = "purchase basic 05-01..06-01 woli=2 price=9000"
    private static let upgrade = "purchase premium 04-30T20:00..05-30T20:00 woli=3 price=20000"

    private static let access = """
        paid basic 04-01..04-30T20:00:00 upgraded
        paid premium 04-30T20:00:00..05-30T20:00:00 open
        paid basic 05-01..05-01 upgraded
        active 04-01..05-30T20:00:00

        """

    // However it becomes known that the renewal was charged before the upgrade.
    @Test(arguments: [
        "@04-30T06:00 \(renewal)\n@04-30T20:00:05 \(upgrade)",
        "@04-30T06:00 \(renewal) reason=RENEWAL\n@04-30T20:00:05 \(upgrade)\n"
            + "@05-02 \(renewal) reason=RENEWAL upgraded",
        "@04-30T06:00 \(renewal)\n@04-30T20:00:05 \(upgrade)\n"
            + "@05-02 \(renewal) revoked=04-30T20:00:02",
        "@05-10 \(upgrade) reason=PURCHASE\n@05-10 \(renewal) reason=RENEWAL",
        "@05-10 \(upgrade) via=response\n@05-10 \(renewal) via=response",
        "@05-10 \(upgrade) via=response\n@05-10 \(renewal) upgraded via=response",
        "@05-10 \(upgrade) via=receipt\n@05-10 \(renewal) via=receipt",
        "@05-10 \(upgrade)\n@05-10 \(renewal)",
    ])
    func `a renewal charged before an upgrade ends nothing when it would begin`(
        facts: String
    )
        throws
    {
        try expect(
            Self.first + facts + "\n---\n" + Self.access + """
                --- plan_changes
                effective now upgrade basic..premium effective=04-30T20:00:00 same estimate=50
                """
        )
    }

    @Test func `what was overtaken is money in the journal, and neither a change nor a churn`()
        throws
    {
        try expect(
            Self.first + """
                @04-30T06:00 \(Self.renewal) reason=RENEWAL
                @04-30T20:00:05 \(Self.upgrade) reason=PURCHASE
                @05-02 \(Self.renewal) reason=RENEWAL upgraded
                @05-30T20:00:05 purchase premium 05-30T20:00..06-30T20:00 woli=4 price=20000 reason=RENEWAL
                @07-01 notice EXPIRED VOLUNTARY uuid=n1 status=2
                ---
                paid basic 04-01..04-30T20:00:00 upgraded
                paid premium 04-30T20:00:00..05-30T20:00:00 expired
                paid basic 05-01..05-01 upgraded
                paid premium 05-30T20:00:00..06-30T20:00:00 expired
                active 04-01..06-30T20:00:00
                --- movements
                04-01 paid_start basic 9000 "Subscribe"
                04-30T20:00:00 renewal premium was=basic 20000 "Upgrade"
                04-30T20:00:00 exit_plan_change basic
                05-01 renewal basic 9000 "Renew"
                05-30T20:00:00 renewal premium 20000 "Renew"
                06-30T20:00:00 churn_unknown premium "Cancel"
                --- transactions
                basic 04-01..05-01 until=04-30T20:00:00 n=1 paid=1 9000/9000
                premium 04-30T20:00:00..05-30T20:00:00 n=2 paid=2 upgrade from=basic 20000/20000
                basic 05-01..06-01 until=05-01 n=2 paid=2 9000/9000 upgraded
                premium 05-30T20:00:00..06-30T20:00:00 n=3 paid=3 20000/20000
                --- renewal_states
                active waiting 04-01..04-30T06:00:00
                active succeeded 04-30T06:00:00..04-30T20:00:00
                active waiting 04-30T20:00:00..06-30T20:00:00
                expired closed 06-30T20:00:00..
                --- plan_changes
                effective now upgrade basic..premium effective=04-30T20:00:00 same estimate=50
                """
        )
    }

    @Test func `a crossgrade and a new purchase of the same product overtake as well`() throws {
        try expect(
            Self.first + """
                @04-30T06:00 \(Self.renewal)
                @04-30T20:00:05 purchase video 04-30T20:00..05-30T20:00 woli=3
                @05-10 \(Self.renewal) upgraded
                ---
                paid basic 04-01..04-30T20:00:00 upgraded
                paid video 04-30T20:00:00..05-30T20:00:00 open
                paid basic 05-01..05-01 upgraded
                active 04-01..05-30T20:00:00
                """
        )
        try expect(
            Self.first + """
                @04-30T06:00 \(Self.renewal)
                @04-30T20:00:05 purchase basic 04-30T20:00..05-30T20:00 woli=3 offer=3
                ---
                paid basic 04-01..04-30T20:00:00 replaced
                offer basic 04-30T20:00:00..05-30T20:00:00 open
                paid basic 05-01..05-01 replaced
                active 04-01..05-30T20:00:00
                """
        )
    }

    @Test func `of two upgrades before the renewal begins, the last one stays`() throws {
        try expect(
            Self.first + """
                @04-30T06:00 \(Self.renewal)
                @04-30T20:00:05 purchase video 04-30T20:00..05-30T20:00 woli=3
                @04-30T22:00:05 purchase premium 04-30T22:00..05-30T22:00 woli=4
                ---
                paid basic 04-01..04-30T20:00:00 upgraded
                paid video 04-30T20:00:00..04-30T22:00:00 upgraded
                paid premium 04-30T22:00:00..05-30T22:00:00 open
                paid basic 05-01..05-01 upgraded
                active 04-01..05-30T22:00:00
                """
        )
    }

    @Test func `an extension before or after the upgrade changes nothing about it`() throws {
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1
            @04-10 purchase basic 04-01..05-05 woli=1
            @04-30T20:00:05 purchase premium 05-04T20:00..06-04T20:00 woli=3 via=response
            @05-20 purchase basic 05-05..06-05 woli=2 via=response
            @05-20 purchase premium 05-04T20:00..06-10T20:00 woli=3 via=response
            ---
            paid basic 04-01..05-04T20:00:00 upgraded
            paid premium 05-04T20:00:00..06-10T20:00:00 open
            paid basic 05-05..05-05 upgraded
            active 04-01..06-10T20:00:00
            """
        )
    }

    @Test func `a refund of the upgrade ends its access, and the overtaken renewal is not revived`()
        throws
    {
        // Apple's data: trap 27
        try expect(
            Self.first + """
                @04-30T06:00 \(Self.renewal)
                @04-30T20:00:05 \(Self.upgrade)
                @05-08 \(Self.upgrade) revoked=05-08
                ---
                paid basic 04-01..04-30T20:00:00 upgraded
                paid premium 04-30T20:00:00..05-08 refunded
                paid basic 05-01..05-01 upgraded
                active 04-01..05-08
                --- renewal_states
                active waiting 04-01..04-30T06:00:00
                active succeeded 04-30T06:00:00..04-30T20:00:00
                active waiting 04-30T20:00:00..05-08
                revoked closed 05-08..
                """
        )
    }

    @Test func `a renewal that is paid for stays if the upgrade was refunded before it began`()
        throws
    {
        try expect(
            Self.first + """
                @04-30T06:00 \(Self.renewal)
                @04-30T20:00:05 \(Self.upgrade)
                @04-30T22:00:05 \(Self.upgrade) revoked=04-30T22:00
                ---
                paid basic 04-01..04-30T20:00:00 upgraded
                paid premium 04-30T20:00:00..04-30T22:00:00 refunded
                paid basic 05-01..06-01 open
                active 04-01..04-30T22:00:00 05-01..06-01
                """
        )
    }

    @Test func `a renewal revoked before it begins replaces nothing`() throws {
        // Apple's data: trap 10
        try expect(
            """
            @04-30T20:00:05 \(Self.upgrade)
            @05-02 \(Self.renewal) revoked=04-30T20:00:02 type=REFUND_FULL
            ---
            paid premium 04-30T20:00:00..05-30T20:00:00 open
            paid basic 05-01..05-01 refunded
            active 04-30T20:00:00..05-30T20:00:00
            """
        )
    }

    @Test func `the refund of an overtaken renewal is part of the change`() throws {
        try expect(
            Self.first + """
                @04-30T06:00 \(Self.renewal)
                @04-30T20:00:05 \(Self.upgrade)
                @05-02 \(Self.renewal) upgraded revoked=04-30T20:00:02
                --- refunds
                refunded replaced before_start basic 05-01 revoked=04-30T20:00:02 told=05-02 ?/9000 net
                """
        )
    }

    // A purchase that the customer makes in a period still replaces it, whenever it becomes known.
    @Test(arguments: [
        "@04-10 purchase premium 04-10..05-10 woli=2 reason=PURCHASE",
        "@05-09 purchase premium 04-10..05-10 woli=2",
        "@05-09 purchase premium 04-10..05-10 woli=2 upgraded via=response",
    ])
    func `a purchase that begins later replaces an earlier one`(fact: String) throws {
        let later = "\n@04-10 purchase video 04-10T06:00..05-10T06:00 woli=4 reason=PURCHASE"
        try expect(
            "@04-01 purchase basic 04-01..05-01 woli=1\n" + fact + later + """

                ---
                paid basic 04-01..04-10 upgraded
                paid premium 04-10..04-10T06:00:00 upgraded
                paid video 04-10T06:00:00..05-10T06:00:00 open
                active 04-01..05-10T06:00:00
                """
        )
    }

    @Test func `two rows for one purchase some seconds apart do not overtake the next renewal`()
        throws
    {
        // Apple's data: trap 6
        try expect(
            """
            @06-10 purchase basic 04-01..05-01 via=response
            @06-10 purchase basic 04-01T00:00:02..05-01T00:00:02 via=response
            @06-10 purchase basic 05-01..06-01 via=response
            ---
            paid basic 04-01..04-01T00:00:02 replaced
            paid basic 04-01T00:00:02..05-01 replaced
            paid basic 05-01..06-01 expired
            active 04-01..06-01
            """
        )
    }

    @Test func `a renewal of an extended period follows it, although it begins before its end`()
        throws
    {
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1
            @04-30T06:00 purchase basic 05-01..06-01 woli=2
            @04-30T08:00 purchase basic 04-01..05-05 woli=1
            ---
            paid basic 04-01..05-01 replaced
            paid basic 05-01..06-01 open
            active 04-01..06-01
            """
        )
    }
}
