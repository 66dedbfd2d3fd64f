import Events
import Projections
import TestSupport
import Testing

/// Patterns that a person should review (Apple's data: trap 24).
@Suite struct AnomalyScenarioTests {
    private static let loop = """
        @05-01 purchase basic 05-01..06-01 woli=1 price=990
        @05-02 purchase video 05-02..06-02 woli=2 price=990
        @05-03 purchase basic 05-03..06-03 woli=3 price=990
        """

    @Test func `three immediate changes of one level and length in 30 days are a loop`() throws {
        try expect(
            Self.loop + """

                @06-01 purchase video 06-01..07-01 woli=4 price=990
                --- anomalies
                refund_loop 3 05-02..06-01
                --- anomalies_without_catalog
                refund_loop 3 05-02..06-01
                """
        )
    }

    @Test func `a period whose purchase is not before its expiry is reported`() throws {
        try expect(
            """
            @05-20 purchase basic 05-20..03-12 woli=1
            @05-20 purchase basic 05-21..05-21 woli=2
            @05-20 purchase basic 05-22..06-22 woli=3
            --- anomalies
            empty_period 2 05-20..05-21
            """
        )
    }

    @Test func `an extension that a later statement takes back is reported, a rounded end is not`()
        throws
    {
        // Apple's data: trap 45
        let ledger = try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=7
            @04-10 purchase basic 03-20..05-04 woli=7
            @04-12 purchase basic 03-20..04-20 woli=7
            @04-21 purchase basic 04-21..05-21 woli=8
            @05-15 purchase basic 04-21..05-20T23:59:59 woli=8
            ---
            paid basic 03-20..04-20 expired
            paid basic 04-21..05-20T23:59:59 open
            active 03-20..04-20 04-21..05-20T23:59:59
            --- anomalies
            extension_taken_back 1 04-12..04-12
            """
        )
        #expect(ledger.events.count == 5, "each changes what is known")
    }

    @Test func `two changes, or three over a longer time, are not a loop`() throws {
        try expect(Self.loop + "\n--- anomalies")
        try expect(
            Self.loop + """

                @06-02 purchase video 06-02..07-02 woli=4 price=990
                --- anomalies
                """
        )
    }

    @Test func `upgrades are not a loop if the catalog knows them`() throws {
        try expect(
            """
            @05-01 purchase lite 05-01..06-01 woli=1
            @05-02 purchase basic 05-02..06-02 woli=2
            @05-03 purchase premium 05-03..06-03 woli=3
            @05-04 purchase archive 06-03..07-03 woli=4
            --- anomalies
            """
        )
    }

    @Test func `a purchase refunded again is listed with the current refund`() throws {
        try expect(
            """
            @05-10 purchase basic 05-01..06-01 woli=1 price=990 revoked=05-10
            @05-12 purchase basic 05-01..06-01 woli=1 price=990
            @05-14 purchase basic 05-01..06-01 woli=1 price=990 revoked=05-13
            @06-01 purchase basic 06-01..07-01 woli=2 price=990
            --- anomalies
            refunded_again 2 05-10..05-14 990
            """
        )
    }

    @Test func `a subscription refunded in full is reported, trials aside`() throws {
        let refunded = """
            @05-01 purchase basic 04-24..05-01 woli=0 price=0 offer=1 discount=FREE_TRIAL
            @06-10 purchase basic 05-01..06-01 woli=1 price=990 revoked=06-09
            @06-10 purchase basic 06-01..07-01 woli=2 price=990 revoked=06-10
            """
        try expect(
            refunded + """

                --- anomalies
                everything_refunded 2 06-09..06-10 1980
                """
        )
        try expect(
            refunded + """

                @08-01 purchase basic 08-01..09-01 woli=3 price=990
                --- anomalies
                """
        )
    }

    @Test func `one refund of one purchase is not an anomaly`() throws {
        try expect(
            """
            @05-10 purchase basic 05-01..06-01 woli=1 price=990 revoked=05-10
            --- anomalies
            """
        )
    }
}
