import Events
import Projections
import TestSupport
import Testing

/// When plan changes start, what they refund, and how certain a request is (Apple's data: trap 23).
@Suite struct PlanTimingScenarioTests {
    private func refundsPrevious(_ text: String) throws -> [Bool] {
        let facts = try TimelineText(text).facts
        let timeline = MemoryLedger([facts]).timeline(of: TimelineText.stream)
        return PlanChanges(timeline, .magazines).rows.map(\.refundsPrevious)
    }

    @Test func `an upgrade in grace or retry starts at once and refunds nothing`() throws {
        for more in [" grace=05-06", ""] {
            let facts = """
                @03-20 purchase basic 03-20..04-20 woli=1
                @04-20 renewal of=04-20 auto=1 retry product=basic next=basic\(more)
                @04-25 purchase premium 04-25..05-25 woli=2 reason=PURCHASE

                """
            try expect(
                facts + """
                    --- plan_changes
                    effective now upgrade basic..premium effective=04-25 same
                    """
            )
            #expect(try refundsPrevious(facts) == [false])
        }
    }

    @Test func `a requested product that is recovered late comes with the renewal`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1
            @04-01 renewal of=04-20 auto=1 product=basic next=lite
            @04-20 renewal of=04-20 auto=1 retry product=basic next=lite
            @04-25 purchase lite 04-25..05-25 woli=2
            --- plan_changes
            effective next_renewal downgrade basic..lite requested=04-01 effective=04-25 same
            """
        )
    }

    @Test func `an upgrade from a free trial or a family-shared period refunds nothing`() throws {
        func upgrade(_ terms: String) throws -> [Bool] {
            try refundsPrevious(
                """
                @03-20 purchase basic 03-20..04-20 woli=1 \(terms)
                @03-25 purchase premium 03-25..04-25 woli=2 reason=PURCHASE
                """
            )
        }
        #expect(try upgrade("price=9990") == [true])
        #expect(try upgrade("offer=1 discount=PAY_AS_YOU_GO price=990") == [true])
        #expect(try upgrade("offer=1 discount=FREE_TRIAL price=0") == [false])
        #expect(try upgrade("offer=2 discount=FREE_TRIAL") == [false])
        #expect(try upgrade("family") == [false])
    }

    @Test func `an undated version 1 request comes after the purchase and is marked as undated`()
        throws
    {
        // The product names must not decide which of two undated statements counts.
        for (old, new) in [("basic", "lite"), ("lite", "basic")] {
            let changeClass = old == "basic" ? "downgrade" : "upgrade"
            try expect(
                """
                @04-01 purchase \(old) 04-01..05-01 woli=1 via=response
                @04-01 notice INITIAL_BUY about=04-01..05-01 via=v1
                @04-01 renewal auto=1 product=\(old) next=\(old) via=pending
                @04-01 notice DID_CHANGE_RENEWAL_PREF about=04-01..05-01 via=v1
                @04-01 renewal auto=1 product=\(old) next=\(new) via=pending
                --- plan_changes
                requested next_renewal \(changeClass) \(old)..\(new) requested=04-01 same undated
                """
            )
        }
    }

    @Test func `a request with a date is not marked as undated`() throws {
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1 via=response
            @04-10 renewal auto=1 product=basic next=lite via=pending
            --- plan_changes
            requested next_renewal downgrade basic..lite requested=04-10 same
            """
        )
    }

    @Test func `an unstated renewal setting is unknown, not on`() throws {
        // A receipt or an iOS 6 response without a setting, and an empty pending_renewal_info.
        try expect(
            """
            @04-20T12:00 purchase basic 04-01..05-01 woli=1 via=single
            --- renewal_states
            active waiting 04-01..05-01
            """
        )
        try expect(
            """
            @04-20T12:00 purchase basic 04-01..05-01 woli=1 via=response
            @04-20T12:00 renewal via=pending
            --- renewal_states
            active waiting 04-01..05-01
            """
        )
    }

    @Test func `a setting missing from a list that had it is unknown from then on`() throws {
        try expect(
            """
            @04-01 purchase basic 04-01..05-01 woli=1 via=response
            @04-10 renewal auto=1 product=basic via=pending
            @04-20 renewal via=pending
            @04-25 renewal auto=0 product=basic via=pending
            --- renewal_states
            active waiting 04-01..04-10
            active waiting 04-10..04-20 on
            active waiting 04-20..04-25
            active closed 04-25..05-01 off
            """
        )
    }
}
