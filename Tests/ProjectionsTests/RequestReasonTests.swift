import Events
import Projections
import Testing

/// Why a customer asked for a refund.
@Suite struct RequestReasonTests {
    @Test func `a refund case gives the customer's reason for the request`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 price=9990
            @03-25 notice CONSUMPTION_REQUEST uuid=n1 about=03-20..04-20 asked=LEGAL
            @03-26 notice REFUND_DECLINED uuid=n2 about=03-20..04-20
            --- refunds
            declined basic 03-20 requested=03-25 asked=LEGAL declined=03-26 ?/9990
            """
        )
    }
}
