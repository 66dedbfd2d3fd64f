import Events
import Projections
import Testing
import TestSupport

/// The state of a subscription during and between its periods (Apple's data: status values, traps
/// 11 to 22).
@Suite struct RenewalStateScenarioTests {
    @Test func `a renewal charged early has succeeded until it starts`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @03-20 renewal of=04-20 auto=1 next=monthly
            @04-19T08:00 purchase monthly 04-20..05-20 woli=2 reason=RENEWAL
            ---
            paid monthly 03-20..04-20 expired
            paid monthly 04-20..05-20 open
            active 03-20..05-20
            --- renewal_states
            active waiting 03-20..04-19T08:00:00 on next=monthly
            active succeeded 04-19T08:00:00..04-20 on next=monthly
            active waiting 04-20..05-20 on next=monthly
            """
        )
    }

    @Test func `turning auto-renewal off ends only the next charge`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @03-20 renewal of=04-20 auto=1
            @04-01 renewal of=04-20 auto=0
            @04-20 notice EXPIRED VOLUNTARY uuid=n1 status=2
            @04-20 renewal of=04-20 auto=0 intent=1
            --- renewal_states
            active waiting 03-20..04-01 on
            active closed 04-01..04-20 off
            expired closed 04-20.. off because=customer
            """
        )
    }

    @Test func `turned on again before the end, the charge is waiting again`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-01 renewal of=04-20 auto=0
            @04-02 renewal of=04-20 auto=1
            --- renewal_states
            active waiting 03-20..04-01
            active closed 04-01..04-02 off
            active waiting 04-02..04-20 on
            """
        )
    }

    @Test func `billing retry lasts until the recovery`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-20 notice DID_FAIL_TO_RENEW uuid=n1 status=3
            @04-20 renewal of=04-20 auto=1 retry
            @05-05 purchase monthly 05-05..06-05 woli=2 reason=RENEWAL
            @05-05 renewal of=06-05 auto=1
            --- renewal_states
            active waiting 03-20..04-20
            billing_retry failed 04-20..05-05 on
            active waiting 05-05..06-05 on
            """
        )
    }

    @Test func `renewal info at the instant of the purchase overrides what the purchase implies`()
        throws
    {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @03-20 renewal of=04-20 auto=0
            --- renewal_states
            active closed 03-20..04-20 off
            """
        )
    }

    @Test func `in a grace with auto-renewal off no charge follows`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-20 renewal of=04-20 grace=05-06 auto=0 retry
            --- renewal_states
            active waiting 03-20..04-20
            grace_period closed 04-20..05-06 off
            """
        )
    }

    @Test func `grace and then retry until Apple gives up`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-20 notice DID_FAIL_TO_RENEW GRACE_PERIOD uuid=n1 status=4
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            @05-06 notice GRACE_PERIOD_EXPIRED uuid=n2 status=3
            @05-06 renewal of=04-20 grace=05-06 auto=1 retry
            @06-19 notice EXPIRED BILLING_RETRY uuid=n3 status=2
            @06-19 renewal of=04-20 auto=1 intent=2
            --- renewal_states
            active waiting 03-20..04-20
            grace_period failed 04-20..05-06 on
            billing_retry failed 05-06..06-19 on
            expired closed 06-19.. on because=billing
            """
        )
    }

    @Test func `cancelling in retry ends it at once`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-20 renewal of=04-20 auto=1 retry
            @04-28 renewal of=04-20 auto=0 intent=1
            --- renewal_states
            active waiting 03-20..04-20
            billing_retry failed 04-20..04-28 on
            expired closed 04-28.. off because=customer
            """
        )
    }

    @Test func `cancelling in grace leaves no retry`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            @04-28 renewal of=04-20 grace=05-06 auto=0 retry
            --- renewal_states
            active waiting 03-20..04-20
            grace_period failed 04-20..04-28 on
            expired closed 04-28.. off
            """
        )
    }

    @Test func `an expiry by billing error reported late implies sixty days of retry`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @08-01 renewal of=04-20 auto=0 intent=2
            --- renewal_states
            active waiting 03-20..04-20
            billing_retry failed 04-20..06-19
            expired closed 06-19..08-01 because=billing
            expired closed 08-01.. off because=billing
            """
        )
    }

    @Test func `an expiry by a billing error ends no later than it was reported`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @05-01 notice EXPIRED BILLING_RETRY uuid=n1 status=2
            @05-01T00:00:01 renewal of=04-20 intent=2
            --- renewal_states
            active waiting 03-20..04-20
            billing_retry failed 04-20..05-01
            expired closed 05-01.. because=billing
            """
        )
    }

    @Test func `a retry without a stated end lasts sixty days`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-20 renewal of=04-20 auto=1 retry
            @09-01 purchase monthly 09-01..10-01 woli=2 reason=PURCHASE
            --- renewal_states
            active waiting 03-20..04-20
            billing_retry failed 04-20..06-19 on
            expired closed 06-19..09-01 because=billing
            active waiting 09-01..10-01
            """
        )
    }

    @Test func `a status alone shows a retry`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-20T00:10 notice DID_FAIL_TO_RENEW uuid=n1 status=3
            @06-19 notice EXPIRED BILLING_RETRY uuid=n2 status=2
            --- renewal_states
            active waiting 03-20..04-20
            billing_retry failed 04-20..06-19
            expired closed 06-19..
            """
        )
    }

    @Test func `a renewal setting between the expiry and the first charge allows retry or expiry`()
        throws
    {
        let between = """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-20T00:00:03 renewal of=04-20 auto=1

            """
        try expect(
            between + """
                @04-20T00:04 renewal of=04-20 auto=1 retry
                --- renewal_states
                active waiting 03-20..04-20
                billing_retry failed 04-20..04-20T00:00:03
                billing_retry failed 04-20T00:00:03..06-19 on
                expired closed 06-19.. because=billing
                """
        )
        try expect(
            between + """
                @04-20T00:04 renewal of=04-20 auto=1 intent=5
                --- renewal_states
                active waiting 03-20..04-20
                expired closed 04-20..04-20T00:00:03 because=other
                expired closed 04-20T00:00:03.. on because=other
                """
        )
    }

    @Test func `a retry reported before the expiry begins with it`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-01 renewal of=04-20 auto=1
            @04-19 renewal of=04-20 auto=1 retry
            @04-21 notice DID_FAIL_TO_RENEW uuid=n1 status=3
            --- renewal_states
            active waiting 03-20..04-01
            active waiting 04-01..04-20 on
            billing_retry failed 04-20..06-19 on
            expired closed 06-19.. because=billing
            """
        )
    }

    @Test func `a refund is revoked until the next purchase`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-01 purchase monthly 03-20..04-20 woli=1 revoked=03-31
            @04-01 renewal of=04-20 auto=0
            @04-10 purchase monthly 04-10..05-10 woli=2 reason=PURCHASE
            --- renewal_states
            active waiting 03-20..03-31
            revoked closed 03-31..04-01
            revoked closed 04-01..04-10 off
            active waiting 04-10..05-10
            """
        )
    }

    @Test func `a renewal refunded before its start is revoked from there`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-19 purchase monthly 04-20..05-20 woli=2 reason=RENEWAL
            @04-19T06:00 purchase monthly 04-20..05-20 woli=2 revoked=04-19T06:00
            @04-21 renewal of=05-20 auto=0
            --- renewal_states
            active waiting 03-20..04-19
            active succeeded 04-19..04-19T06:00:00
            active closed 04-19T06:00:00..04-20
            revoked closed 04-20..04-21
            revoked closed 04-21.. off
            """
        )
    }

    @Test func `an upgrade leaves no gap`() throws {
        try expect(
            """
            @03-20 purchase basic 03-20..04-20 woli=1
            @03-25 purchase basic 03-20..04-20 woli=1 upgraded
            @03-25 purchase premium 03-25..04-25 woli=2 reason=PURCHASE
            @03-25 renewal of=04-25 auto=1 next=premium
            --- renewal_states
            active waiting 03-20..03-25
            active waiting 03-25..04-25 on next=premium
            """
        )
    }

    @Test func `a renewal reported early implies an earlier purchase that never reached us`()
        throws
    {
        try expect(
            """
            @04-19T08:00 purchase monthly 04-20..05-20 woli=2 reason=RENEWAL
            --- renewal_states
            active succeeded 04-19T08:00:00..04-20
            active waiting 04-20..05-20
            """
        )
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @05-19 purchase monthly 05-20..06-20 woli=3 reason=RENEWAL
            --- renewal_states
            active waiting 03-20..04-20
            expired closed 04-20..05-19
            active succeeded 05-19..05-20
            active waiting 05-20..06-20
            """
        )
    }

    @Test func `an answer to a price increase lasts as long as Apple reports it`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-01 renewal of=04-20 auto=1 consent=0
            @04-05 renewal of=04-20 auto=1 consent=1
            @04-20 purchase monthly 04-20..05-20 woli=2
            @04-20 renewal of=05-20 auto=1
            --- renewal_states
            active waiting 03-20..04-01
            active waiting 04-01..04-05 on pending
            active waiting 04-05..04-20 on accepted
            active waiting 04-20..05-20 on
            """
        )
    }

    @Test func `a period that extends past Apple's last statement ends without a state after it`()
        throws
    {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            --- renewal_states
            active waiting 03-20..04-20
            """
        )
        try expect(
            """
            @04-20 purchase monthly 03-20..04-20 woli=1
            --- renewal_states
            active waiting 03-20..04-20
            expired closed 04-20..
            """
        )
    }

    @Test func `a row cites the events that determined it`() throws {
        let ledger = try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-20 renewal of=04-20 auto=1 retry
            @04-28 renewal of=04-20 auto=0 intent=1
            --- renewal_states
            active waiting 03-20..04-20
            billing_retry failed 04-20..04-28 on
            expired closed 04-28.. off because=customer
            """
        )
        let rows = RenewalStates(ledger.timeline(of: TimelineText.stream)).rows
        #expect(rows.map { $0.positions.map(\.offset) } == [[1], [1, 2, 3], [1, 2, 3]])
    }
}
