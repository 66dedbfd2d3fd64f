import Events
import Projections
import Testing
import TestSupport

/// Changes of product (Apple's data: traps 9, 23 to 27, 43, scenarios 4, 5, 12).
@Suite struct PlanChangeScenarioTests {
    @Test func `an upgrade takes effect at once and refunds the rest`() throws {
        try expect(
            """
            @04-23T10:00 purchase basic 03-14..04-14 woli=1 via=response
            @04-23T10:00 purchase basic 04-14..05-14 woli=2 revoked=04-23T09:00:02 via=response
            @04-23T10:00 purchase premium 04-23T09:00:00..05-23T09:00:00 woli=3 via=response
            --- plan_changes
            effective now upgrade basic..premium effective=04-23T09:00:00 same
            """
        )
    }

    @Test func `a refund of the rest dated a moment earlier does not end the period then`() throws {
        try expect(
            """
            @04-23T10:00 purchase basic 04-14..05-14 woli=2 revoked=04-23T08:59:58 via=response
            @04-23T10:00 purchase premium 04-23T09:00:00..05-23T09:00:00 woli=3 via=response
            --- plan_changes
            effective now upgrade basic..premium effective=04-23T09:00:00 same
            """
        )
    }

    @Test func `a refunded upgrade remains a change, and nothing changes back`() throws {
        try expect(
            """
            @12-05T14:10 purchase basic 12-05..12-25 woli=1 upgraded
            @12-05T14:10 purchase premium 12-05T14:05..12-30 woli=2
            @12-11 purchase premium 12-05T14:05..12-30 woli=2 revoked=12-10
            --- plan_changes
            effective now upgrade basic..premium effective=12-05T14:05:00 same
            """
        )
    }

    @Test func `a downgrade is requested, then takes effect with the renewal, in one row`() throws {
        let ledger = try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1
            @04-10 renewal of=05-01 auto=1 product=basic next=lite
            @04-11 renewal of=05-01 auto=1 product=basic next=lite
            @04-30T10:00 purchase lite 05-01..06-01 woli=2
            @04-30T10:00 renewal of=06-01 auto=1 product=lite next=lite
            --- plan_changes
            effective next_renewal downgrade basic..lite requested=04-10 effective=05-01 same
            """
        )
        let rows = PlanChanges(ledger.timeline(of: TimelineText.stream), .magazines).rows
        #expect(rows.map { $0.positions.map(\.offset) } == [[1, 2, 3]])
        #expect(rows.map(\.catalogVersion) == [1])
        #expect(rows.map(\.refundsPrevious) == [false])
    }

    @Test func `a withdrawn downgrade is not a change of product`() throws {
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1
            @04-10 renewal of=05-01 auto=1 product=basic next=lite
            @04-12 renewal of=05-01 auto=1 product=basic next=basic
            @04-30T10:00 purchase basic 05-01..06-01 woli=2
            --- plan_changes
            withdrawn next_renewal downgrade basic..lite requested=04-10 withdrawn=04-12 same
            """
        )
    }

    @Test func `a third product withdraws the request and becomes one itself`() throws {
        try expect(
            """
            @04-01 purchase premium 04-01..05-01 woli=1
            @04-10 renewal of=05-01 auto=1 product=premium next=basic
            @04-12 renewal of=05-01 auto=1 product=premium next=lite
            --- plan_changes
            withdrawn next_renewal downgrade premium..basic requested=04-10 withdrawn=04-12 same
            requested next_renewal downgrade premium..lite requested=04-12 same
            """
        )
    }

    @Test func `a request lapses when the subscription ends without it`() throws {
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1
            @04-10 renewal of=05-01 auto=0 product=basic next=lite
            @05-02 renewal of=05-01 auto=0 product=basic next=lite intent=1
            --- plan_changes
            lapsed next_renewal downgrade basic..lite requested=04-10 same
            """
        )
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1
            @04-10 renewal of=05-01 auto=1 product=basic next=lite
            @04-20 purchase basic 04-01..05-01 woli=1 revoked=04-20
            --- plan_changes
            lapsed next_renewal downgrade basic..lite requested=04-10 same
            """
        )
    }

    @Test func `a request lapses with a new start, which is a separate change`() throws {
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1
            @04-10 renewal of=05-01 auto=1 product=basic next=lite
            @06-01 purchase lite 06-01..07-01 woli=2 reason=PURCHASE
            @06-01 renewal of=07-01 auto=1 product=lite next=lite
            --- plan_changes
            lapsed next_renewal downgrade basic..lite requested=04-10 same
            effective resubscribe downgrade basic..lite effective=06-01 same
            """
        )
    }

    @Test func `a request stays open in billing retry and takes effect with the recovery`() throws {
        let inRetry = """
            @04-01 purchase basic 04-01..05-01 woli=1
            @04-10 renewal of=05-01 auto=1 product=basic next=lite
            @05-01 renewal of=05-01 auto=1 product=basic next=lite retry
            """
        try expect(
            inRetry + """

                --- plan_changes
                requested next_renewal downgrade basic..lite requested=04-10 same
                """
        )
        try expect(
            inRetry + """

                @05-16 purchase lite 05-16..06-16 woli=2
                --- plan_changes
                effective next_renewal downgrade basic..lite requested=04-10 effective=05-16 same
                """
        )
    }

    @Test func `a recovery in grace starts in the past and fulfils the request once`() throws {
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1
            @04-10 renewal of=05-01 auto=1 product=basic next=lite
            @05-01T00:01 renewal of=05-01 auto=1 product=basic next=lite retry grace=05-07
            @05-05 purchase lite 05-01..06-01 woli=2 reason=RENEWAL
            @05-05 renewal of=06-01 auto=1 product=lite next=lite
            --- plan_changes
            effective next_renewal downgrade basic..lite requested=04-10 effective=05-01 same
            """
        )
    }

    @Test func `a crossgrade to the same length is immediate, to another length waits`() throws {
        try expect(
            """
            @04-10 purchase basic 04-01..05-01 woli=1
            @04-10 purchase video 04-10..05-10 woli=2
            @04-12 renewal of=05-10 auto=1 product=video next=annual
            @05-10 purchase annual 05-10..2027-05-10 woli=3
            --- plan_changes
            effective now crossgrade basic..video effective=04-10 same
            effective next_renewal crossgrade video..annual requested=04-12 effective=05-10 other
            """
        )
    }

    @Test func `a product that is not in the catalog has no class of change`() throws {
        try expect(
            """
            @04-10 purchase basic 04-01..05-01 woli=1
            @04-10 purchase other 04-10..05-10 woli=2
            @04-12 purchase archive 05-10..06-10 woli=3
            --- plan_changes
            effective now plan_change basic..other effective=04-10
            effective next_renewal plan_change other..archive effective=05-10
            """
        )
    }

    @Test func `an offer makes the change at once or with the renewal`() throws {
        try expect(
            """
            @04-10 purchase lite 04-01..05-01 woli=1
            @04-10 purchase premium 04-10..05-10 woli=2 offer=2
            @04-12 renewal of=05-10 auto=1 product=premium next=basic offer=3
            --- plan_changes
            effective now upgrade lite..premium effective=04-10 same offer=2
            requested next_renewal downgrade premium..basic requested=04-12 same offer=3
            """
        )
    }

    @Test func `an upgrade in the second of a renewal replaces it at once`() throws {
        try expect(
            """
            @05-01 purchase basic 04-01..05-01 woli=1
            @05-01 purchase basic 05-01..06-01 woli=2 upgraded
            @05-01 purchase premium 05-01..06-01 woli=3
            --- plan_changes
            effective now upgrade basic..premium effective=05-01 same
            """
        )
    }

    @Test func `an upgrade withdraws the requested downgrade`() throws {
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1
            @04-10 renewal of=05-01 auto=1 product=basic next=lite
            @04-15 purchase premium 04-15..05-15 woli=2
            @04-15T00:00:01 renewal of=05-15 auto=1 product=premium next=premium
            --- plan_changes
            withdrawn next_renewal downgrade basic..lite requested=04-10 \
            withdrawn=04-15T00:00:01 same
            effective now upgrade basic..premium effective=04-15 same
            """
        )
    }

    @Test func `a request after the renewal was charged applies to the next one`() throws {
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1
            @04-30T10:00 purchase basic 05-01..06-01 woli=2
            @04-30T12:00 renewal auto=1 product=lite next=lite
            @04-30T13:00 renewal auto=1 product=basic next=premium
            @05-31 purchase premium 06-01..07-01 woli=3
            --- plan_changes
            withdrawn next_renewal downgrade basic..lite requested=04-30T12:00:00 \
            withdrawn=04-30T13:00:00 same
            effective next_renewal upgrade basic..premium requested=04-30T13:00:00 \
            effective=06-01 same
            """
        )
    }

    @Test func `a format that names no purchase means the newest one`() throws {
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1
            @04-10 renewal auto=1 next=lite via=top
            @04-12 renewal auto=1 next=basic via=top
            --- plan_changes
            withdrawn next_renewal downgrade basic..lite requested=04-10 withdrawn=04-12 same
            """
        )
    }

    @Test func `a renewal refunded before it began changes nothing`() throws {
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1
            @04-30 purchase lite 05-01..06-01 woli=2 revoked=04-30
            @04-30 purchase basic 05-01T00:00:30..06-01 woli=3
            --- plan_changes
            """
        )
    }

    @Test func `the same product is not a change even if its periods change`() throws {
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1
            @04-10 renewal of=05-01 auto=1 product=basic next=basic
            @08-01 purchase basic 07-01..08-01 woli=2
            --- plan_changes
            """
        )
    }
}
