import Events
import Projections
import Testing

/// Renewals that have original ids of their own: one course of several subscriptions (Decisions).
@Suite struct ContinuationScenarioTests {
    private static let after = #"extra={"continuesOriginalTransactionId":"1"}"#
    private static let before = #"extra={"continuedByOriginalTransactionId":"2"}"#

    @Test func `the first of them starts, and does not end`() throws {
        try expect(
            """
            @01-10 purchase pro 01-01..02-01 via=receipt
            @03-02 purchase pro 01-01..02-01 via=receipt \(Self.before)
            @03-03 purchase pro 01-01..02-01 via=receipt
            ---
            paid pro 01-01..02-01 expired
            active 01-01..02-01
            --- movements
            01-01 paid_start pro "Subscribe"
            """
        )
    }

    @Test func `a later one is a renewal, and ends if no other continues it`() throws {
        try expect(
            """
            @03-02 purchase pro 02-01..03-01 via=receipt \(Self.after)
            @03-03 purchase pro 02-01..03-01 via=receipt
            --- movements
            02-01 renewal pro "Renew"
            03-01 churn_unknown pro "Cancel"
            """
        )
    }

    @Test func `one that was extended ends where no other continues it`() throws {
        try expect(
            """
            @03-02 purchase pro 01-01..02-01 via=receipt woli=1 \(Self.before)
            @03-03 purchase pro 01-01..02-15 via=receipt woli=1
            @03-04 purchase pro 03-01..04-01 via=receipt woli=2
            @05-01 purchase pro 03-01..04-01 via=receipt woli=2
            --- movements
            01-01 paid_start pro "Subscribe"
            02-15 churn_unknown pro "Cancel"
            03-01 paid_start pro again "Reactivate"
            03-03 extension pro
            04-01 churn_unknown pro "Cancel"
            """
        )
    }
}
