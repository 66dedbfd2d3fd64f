import Events
import Projections
import TestSupport
import Testing

/// The fold compared with Apple's own statements (Apple's data: status values, renewal info).
@Suite struct DriftTests {
    @Test func `statements that agree are counted and not listed`() throws {
        let report = try drift(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @03-20 notice SUBSCRIBED INITIAL_BUY uuid=n1 status=1 about=03-20
            @03-20 renewal of=04-20 auto=1 product=monthly
            @04-20 notice DID_FAIL_TO_RENEW GRACE_PERIOD uuid=n2 status=4
            @04-20 renewal of=04-20 auto=1 product=monthly grace=05-06 retry
            @05-06 notice GRACE_PERIOD_EXPIRED uuid=n3 status=3
            @05-06 renewal of=04-20 auto=1 product=monthly grace=05-06 retry
            """
        )
        // The last renewal info only repeats the one before it and is not an event.
        #expect(report.checked == 5)
        #expect(report.agreeing == 5)
        #expect(report.disagreements.isEmpty)
    }

    @Test func `a difference from Apple is reported with both values`() throws {
        let report = try drift(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-01 notice REFUND uuid=n1 status=5
            @04-02 renewal of=05-20 auto=1 product=yearly
            """
        )
        #expect(report.checked == 2)
        #expect(report.agreeing == 0)
        #expect(
            report.disagreements.map { "\($0.position) \($0.subject) \($0.apple) \($0.ours)" } == [
                "2 status revoked active",
                "3 renewalDate 2026-05-20T00:00:00Z 2026-04-20T00:00:00Z",
                "3 productId yearly monthly",
            ]
        )
    }

    @Test func `if Apple's status decides a grace, the fold agrees with status and renewal info`()
        throws
    {
        let report = try drift(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-20 notice DID_FAIL_TO_RENEW GRACE_PERIOD uuid=n1 status=4
            @04-20 renewal of=04-20 auto=1 product=monthly grace=05-06 retry
            @04-25 notice DID_CHANGE_RENEWAL_STATUS uuid=n2 status=4
            @04-25 renewal of=04-20 auto=0 product=monthly grace=05-06 retry
            @04-27 notice REFUND uuid=n3 status=5
            @04-27 purchase monthly 03-20..04-20 woli=1 revoked=04-26
            """
        )
        #expect(report.checked == 5)
        #expect(report.disagreements.isEmpty)
    }

    @Test func `a grace status without a date is a grace, and the fold agrees with it`()
        throws
    {
        let report = try drift(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-22 notice DID_CHANGE_RENEWAL_STATUS uuid=n1 status=4
            """
        )
        #expect(report.disagreements.isEmpty)
        #expect(report.checked == 1)
    }

    @Test func `a revocation that is dated later afterwards agrees with its signed status`() throws
    {
        let report = try drift(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @04-01 notice REFUND uuid=n1 status=5 about=03-20
            @04-01 purchase monthly 03-20..04-20 woli=1 revoked=04-01
            @04-10 purchase monthly 03-20..04-20 woli=1 revoked=04-05
            """
        )
        #expect(report.disagreements.isEmpty)
        #expect(report.agreeing == 1)
    }

    @Test func `a later signed change does not count against an earlier statement`() throws {
        let report = try drift(
            """
            @03-20 purchase monthly 03-20..04-20 woli=1
            @03-25 notice DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED uuid=n1 status=1
            @04-01 purchase monthly 03-20..04-20 woli=1 revoked=03-22
            """
        )
        #expect(report.checked == 1)
        #expect(report.agreeing == 1)
    }

    @Test func `a statement about an unknown purchase is not checked`() throws {
        let report = try drift("@03-20 renewal of=04-20 auto=1 product=monthly")
        #expect(report.checked == 0)
    }

    // Each line is separate evidence: only statements in one payload count together.
    private func drift(_ text: String) throws -> DriftReport {
        var history = MemoryLedger([try TimelineText(text).facts]).history(of: TimelineText.stream)
        history.events = history.events.map { event in
            Event(
                position: event.position,
                recordedAt: event.recordedAt,
                fact: event.fact,
                evidence: event.position.offset
            )
        }
        return Drift.check(history)
    }
}
