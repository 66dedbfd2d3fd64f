import Events
import Projections
import Testing

/// Price and offer of the next charge in `renewal_states`.
@Suite struct NextChargeScenarioTests {
    @Test func `the next charge has the price and offer that Apple announced last`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1
            @03-20 renewal of=04-20 auto=1 next=basic renews=9990 currency=EUR
            @04-01 renewal of=04-20 auto=1 next=basic renews=4990 currency=EUR offer=2 \
            offer-id=half discount=PAY_AS_YOU_GO offer-period=P1M
            --- renewal_states
            active waiting 03-20..04-01 on next=basic price=9990EUR
            active waiting 04-01..04-20 on next=basic price=4990EUR offer=2/half/PAY_AS_YOU_GO/P1M
            """
        )
    }

    @Test func `more details about an offer do not change the offer`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1
            @03-20 renewal of=04-20 auto=1 renews=4990 offer=2 offer-id=half
            @04-01 renewal of=04-20 auto=1 renews=4990 offer=2 offer-id=half offer-period=P1M
            --- renewal_states
            active waiting 03-20..04-20 on price=4990 offer=2/half/P1M
            """
        )
    }

    @Test func `an offer is used up by its charge`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1
            @03-20 renewal of=04-20 auto=1 renews=4990 currency=EUR offer=2 offer-id=half
            @04-20 purchase basic 04-20..05-20 woli=2 reason=RENEWAL
            @04-25 renewal of=05-20 auto=1 renews=9990 currency=EUR
            --- renewal_states
            active waiting 03-20..04-20 on price=4990EUR offer=2/half
            active waiting 04-20..04-25 on
            active waiting 04-25..05-20 on price=9990EUR
            """
        )
    }

    @Test func `a standard price stays known after renewals`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1
            @03-20 renewal of=04-20 auto=1 renews=9990 currency=EUR
            @04-20 purchase basic 04-20..05-20 woli=2 reason=RENEWAL
            --- renewal_states
            active waiting 03-20..05-20 on price=9990EUR
            """
        )
    }

    @Test func `a charge that will not happen has no price`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1
            @03-20 renewal of=04-20 auto=1 renews=9990 currency=EUR
            @04-01 renewal of=04-20 auto=0
            --- renewal_states
            active waiting 03-20..04-01 on price=9990EUR
            active closed 04-01..04-20 off
            """
        )
    }

    @Test func `an older format that names another product leaves the price unknown`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1
            @03-20 renewal of=04-20 auto=1 next=basic renews=9990 currency=EUR
            @04-01 renewal auto=1 next=premium via=pending
            --- renewal_states
            active waiting 03-20..04-01 on next=basic price=9990EUR
            active waiting 04-01..04-20 on next=premium
            """
        )
    }
}
