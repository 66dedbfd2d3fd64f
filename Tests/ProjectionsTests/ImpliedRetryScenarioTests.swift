import Events
import Projections
import TestSupport
import Testing

/// What a recovery implies about the time before it.
@Suite struct ImpliedRetryScenarioTests {
    @Test(arguments: ["DID_RECOVER uuid=n1", "DID_RENEW BILLING_RECOVERY uuid=n1"])
    func `a recovery implies the billing retry before it, even if none was reported`(
        notice: String
    ) throws {
        try expect(
            """
            @05-05 purchase monthly 03-20..04-20 woli=1
            @05-05 purchase monthly 05-05..06-05 woli=2
            @05-05 notice \(notice) about=05-05..06-05
            --- renewal_states
            active waiting 03-20..04-20
            billing_retry failed 04-20..05-05
            active waiting 05-05..06-05
            """
        )
    }

    @Test func `after an announced grace the retry continues until the sixtieth day`()
        throws
    {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-20 notice DID_FAIL_TO_RENEW GRACE_PERIOD uuid=n1 status=4
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            --- renewal_states
            active waiting 03-20..04-20
            grace_period failed 04-20..05-06 on
            billing_retry failed 05-06..06-19 on
            expired closed 06-19.. because=billing
            --- movements
            03-20 paid_start monthly "Subscribe"
            04-20 billing_issue_entered monthly "Grace Period from Paid Subscription"
            """
        )
    }

    @Test func `after a grace without a retry the state is unknown`() throws {
        try expect(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-20 renewal of=04-20 grace=05-06 auto=1
            --- renewal_states
            active waiting 03-20..04-20
            grace_period failed 04-20..05-06 on
            """
        )
    }

    @Test func `to a poller a charge after an announced grace is failed, not overdue`() throws {
        let history = try TimelineText(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            """
        )
        let timeline = MemoryLedger([history.facts]).timeline(of: TimelineText.stream)
        let due = { (day: String) in
            DueCharge(timeline, at: try TimelineText.instant(day), withinMilliseconds: 0)?.reason
        }
        #expect(try due("05-09") == .failed)
        #expect(try due("06-20") == nil)
    }

    @Test func `without a recovery the gap is expired`() throws {
        try expect(
            """
            @05-05 purchase monthly 03-20..04-20 woli=1
            @05-05 purchase monthly 05-05..06-05 woli=2
            --- renewal_states
            active waiting 03-20..04-20
            expired closed 04-20..05-05
            active waiting 05-05..06-05
            """
        )
    }
}
