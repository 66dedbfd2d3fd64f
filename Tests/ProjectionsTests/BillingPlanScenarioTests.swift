import Events
import Projections
import Testing

/// Monthly payment for a yearly commitment.
@Suite struct BillingPlanScenarioTests {
    private static let first =
        #"commitment={"billingPeriodNumber":1,"commitmentExpiresDate":1805500800000,"#
        + #""commitmentPrice":119880,"totalBillingPeriods":12}"#
    private static let second = first.replacing("Number\":1", with: "Number\":2")

    @Test func `a period states how it is paid and which part of the commitment it is`() throws {
        try expect(
            """
            @03-20 purchase yearly 03-20..04-20 woli=1 price=9990 plan=MONTHLY \(Self.first)
            @04-20 purchase yearly 04-20..05-20 woli=2 price=9990 plan=MONTHLY \(Self.second)
            ---
            paid yearly 03-20..04-20 expired plan=MONTHLY 1/12 until=2027-03-20 price=119880
            paid yearly 04-20..05-20 open plan=MONTHLY 2/12 until=2027-03-20 price=119880
            active 03-20..05-20
            --- plan_changes
            --- movements
            03-20 paid_start yearly 9990 "Subscribe"
            04-20 renewal yearly 9990 "Renew"
            """
        )
    }

    @Test func `a change of only the billing plan is a plan change`() throws {
        try expect(
            """
            @03-20 purchase yearly 03-20..04-20 woli=1 plan=MONTHLY \(Self.first)
            @04-20 purchase yearly 04-20..2027-04-20 woli=2 plan=BILLED_UPFRONT reason=RENEWAL
            --- plan_changes
            effective next_renewal plan_change yearly..yearly effective=04-20 MONTHLY..BILLED_UPFRONT
            """
        )
    }

    @Test func `a request for another billing plan of the same product is a requested change`()
        throws
    {
        try expect(
            """
            @03-20 purchase yearly 03-20..04-20 woli=1 plan=MONTHLY
            @03-20 renewal of=04-20 auto=1 next=yearly next-plan=MONTHLY
            @04-01 renewal of=04-20 auto=1 next=yearly next-plan=BILLED_UPFRONT
            @04-02 renewal of=04-20 auto=1 next=yearly
            --- plan_changes
            requested next_renewal plan_change yearly..yearly requested=04-01 MONTHLY..BILLED_UPFRONT
            """
        )
    }

    @Test func `a request for another billing plan can be withdrawn or take effect`() throws {
        try expect(
            """
            @03-20 purchase yearly 03-20..04-20 woli=1 plan=MONTHLY
            @04-01 renewal of=04-20 auto=1 next=yearly next-plan=BILLED_UPFRONT
            @04-05 renewal of=04-20 auto=1 next=yearly next-plan=MONTHLY
            @04-10 renewal of=04-20 auto=1 next-plan=BILLED_UPFRONT
            @04-20 purchase yearly 04-20..2027-04-20 woli=2 plan=BILLED_UPFRONT reason=RENEWAL
            @04-20 renewal of=2027-04-20 auto=1 next=yearly next-plan=BILLED_UPFRONT
            --- plan_changes
            withdrawn next_renewal plan_change yearly..yearly requested=04-01 withdrawn=04-05 MONTHLY..BILLED_UPFRONT
            effective next_renewal plan_change yearly..yearly requested=04-10 effective=04-20 MONTHLY..BILLED_UPFRONT
            """
        )
    }

    @Test func `a period without a billing plan is not a plan change`() throws {
        try expect(
            """
            @03-20 purchase yearly 03-20..04-20 woli=1 plan=MONTHLY
            @04-20 purchase yearly 04-20..05-20 woli=2
            --- plan_changes
            """
        )
    }

    @Test func `the state shows how the next period is paid and whether the commitment continues`()
        throws
    {
        let on =
            #"commitment={"commitmentAutoRenewStatus":1,"commitmentRenewalDate":1805500800000}"#
        let off = on.replacing("Status\":1", with: "Status\":0")
        try expect(
            """
            @03-20 purchase yearly 03-20..04-20 woli=1 plan=MONTHLY
            @03-20 renewal of=04-20 auto=1 renews=9990 next-plan=MONTHLY \(on)
            @04-01 renewal of=04-20 auto=1 renews=9990 next-plan=MONTHLY \(off)
            --- renewal_states
            active waiting 03-20..04-01 on price=9990 plan=MONTHLY commitment=2027-03-20/on
            active waiting 04-01..04-20 on price=9990 plan=MONTHLY commitment=2027-03-20/off
            """
        )
    }
}
