import Events
import Projections
import Testing

/// What a recovery says about the time before it.
@Suite struct ImpliedRetryScenarioTests {
    @Test(arguments: ["DID_RECOVER uuid=n1", "DID_RENEW BILLING_RECOVERY uuid=n1"])
    func `a recovery implies the billing retry before it, though nobody told of it`(
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

    @Test func `without one the gap has expired`() throws {
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
