import Events
import Projections
import TestSupport
import Testing

/// Bundles, suites, retention offers and suspended commitments (Apple's data: bundles).
struct BundleScenarioTests {
    @Test func `a move to a bundle is a change of plan, not a refund`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 price=990
            @03-11 purchase basic 03-01..04-01 price=990 revoked=03-11 because=2
            @03-11 notice REVOKE uuid=n1 about=03-01..04-01
            ---
            paid basic 03-01..03-11 upgraded
            active 03-01..03-11
            --- active_periods never-bought
            paid basic 03-01..03-11 upgraded
            active 03-01..03-11
            --- refunds
            revoked bundled current basic 03-01 revoked=03-11 ?/990 net
            --- transactions
            basic 03-01..04-01 until=03-11 n=1 paid=1 990/990
            --- movements
            03-01 paid_start basic 990 "Subscribe"
            03-11 exit_plan_change basic
            """
        )
    }

    @Test func `a subscription in a bundle names the bundle, and says why it ended`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 bundle=suite price=500 previous=900
            @04-02 renewal of=04-01 auto=0 intent=6
            ---
            paid basic 03-01..04-01 expired because=unbundled bundle=suite
            active 03-01..04-01
            --- transactions
            basic 03-01..04-01 n=1 paid=1 500/500 bundle=suite
            --- movements
            03-01 paid_start basic 500 "Subscribe"
            04-01 churn_voluntary basic because=unbundled "Cancel"
            04-02 auto_renew_off basic
            """
        )
    }

    @Test func `a move to a bundle in billing grace ends the grace`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 price=990
            @04-01 renewal of=04-01 grace=04-17 auto=1 retry
            @04-05 purchase basic 03-01..04-01 price=990 revoked=04-05 because=2
            ---
            paid basic 03-01..04-01 expired
            grace basic 04-01..04-05 upgraded
            active 03-01..04-05
            """
        )
    }

    @Test func `previousOriginalTransactionId joins a bundle and what was sold alone, either way`()
        throws
    {
        let ids = ["1000", "2000", "3000"]
        let texts = [
            """
            @03-01 purchase basic 03-01..04-01
            @03-11 purchase basic 03-01..04-01 revoked=03-11 because=2
            """,
            """
            @03-11 purchase basic 03-11..04-11 bundle=suite previous=1000
            @04-12 renewal of=04-11 auto=0 intent=6
            """,
            "@04-15 purchase basic 04-15..05-15 previous=2000",
        ]
        let facts = try zip(ids, texts).map { id, text in
            try TimelineText(
                text,
                stream: StreamID(environment: .production, originalTransactionId: id)
            ).facts
        }
        let ledger = MemoryLedger(facts)
        let changes = PlanChanges.acrossStreams(
            ledger.streams.map { ledger.timeline(of: $0) },
            scenarioCatalogs
        )
        let lines = changes.map { change in
            "\(change.fromOriginalTransactionId)→\(change.toOriginalTransactionId) "
                + "\(change.fromBundleProductId ?? "alone")→\(change.toBundleProductId ?? "alone") "
                + TimelineText.text(change.effective)
        }
        #expect(lines == ["1000→2000 alone→suite 03-11", "2000→3000 suite→alone 04-15"])
    }

    @Test func `renewal info says what renews in a bundle, and what leaves it`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 bundle=suite price=500
            @03-10 renewal of=04-01 auto=1 next=basic bundle=suite unbundles
            --- renewal_states
            active waiting 03-01..03-10
            active waiting 03-10..04-01 on next=basic leaves=suite
            """
        )
    }

    @Test func `a retention offer is an offer, which Apple's reports have no name for yet`()
        throws
    {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 price=990
            @04-01 purchase basic 04-01..05-01 price=490 offer=5 reason=RENEWAL
            @05-01 purchase basic 05-01..06-01 price=990 reason=RENEWAL
            ---
            paid basic 03-01..04-01 expired
            offer basic 04-01..05-01 expired
            paid basic 05-01..06-01 open
            active 03-01..06-01
            --- movements
            03-01 paid_start basic 990 "Subscribe"
            04-01 offer_start basic 490
            05-01 conversion basic 990
            """
        )
    }

    @Test func `a missed instalment of a commitment is what Apple states: billing retry`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 plan=MONTHLY \
            commitment={"billingPeriodNumber":5,"totalBillingPeriods":12}
            @04-01 renewal of=04-01 auto=1 retry intent=2
            ---
            paid basic 03-01..04-01 expired because=billing plan=MONTHLY 5/12
            active 03-01..04-01
            --- renewal_states
            active waiting 03-01..04-01
            billing_retry failed 04-01..05-31 on because=billing
            expired closed 05-31.. because=billing
            """
        )
    }

    @Test func `a period with added seats that moves to a bundle is one exit`() throws {
        try expect(
            """
            @03-01 purchase basic 03-01..04-01 id=11 woli=1 seats=3x1000
            @03-05 purchase basic 03-05..04-01 id=12 woli=2 seats=2x1000 added
            @03-11 purchase basic 03-01..04-01 id=11 woli=1 seats=3x1000 added revoked=03-11 because=2
            @03-11 purchase basic 03-05..04-01 id=12 woli=2 seats=2x1000 added revoked=03-11 because=2
            ---
            paid basic 03-01..03-11 upgraded seats=0
            active 03-01..03-11
            --- movements
            03-01 paid_start basic 3000 seats=3 "Subscribe"
            03-05 seats_added basic 2000 seats=2
            03-11 exit_plan_change basic
            """
        )
    }
}
