import AppStoreSimulator
import EventLog
import Events
import Postgres
import Projections
import Projector
import Subledger
import TestSupport
import Testing

/// The fifteen steps of an indecisive customer, from signed payloads to tables.
@Suite(.enabled { await TestServer.isAvailable })
struct StoryInDatabaseTests {
    @Test func `fifteen steps are read from six tables as they happened`() async throws {
        let simulator = AppStoreSimulator(seed: 15)
        let life = try SubscriptionLife(
            identity: LifeIdentity(seed: 15, index: 1, storefront: SimulatedStorefront.all[0]),
            store: simulator.store,
            script: LifeStep.fifteenSteps(from: try #require(Instant("2026-01-01")))
        )
        try await TestServer.shared.withDatabase(from: .migrated) { settings in
            let ledger = Ledger(
                log: try await EventLog.open(settings, FilledLedger.options),
                verifier: try simulator.verifier()
            )
            // The latest first, and some twice.
            try await ledger.ingest(life.notifications().reversed())
            try await ledger.ingest(life.notifications().disordered(seed: 15))
            let rebuilt = try await Projector(
                log: ledger.log,
                settings: settings
            ) { FoldContext(catalogs: .simulated) }.rebuild()
            #expect(rebuilt.map(\.rows) == [5, 19, 3, 1, 5, 17, 1])
            let session = try await PostgresSession.connect(settings)
            try await session.execute(Self.functions)
            for (table, query) in Self.queries {
                let rows = try await session.query("\(query) ORDER BY ordinal")
                    .map { try $0.text(0) }
                #expect(rows == Self.expected[table], "\(table)")
            }
            await session.close()
            await ledger.log.close()
        }
    }

    // Days and short names; Apple signs some seconds after each step.
    private static let functions = """
        CREATE FUNCTION pg_temp.day(timestamptz) RETURNS text LANGUAGE sql
            RETURN to_char($1 AT TIME ZONE 'UTC', 'MM-DD');
        CREATE FUNCTION pg_temp.day(bigint) RETURNS text LANGUAGE sql
            RETURN to_char(to_timestamp($1 / 1000.0) AT TIME ZONE 'UTC', 'MM-DD');
        CREATE FUNCTION pg_temp.name(text) RETURNS text LANGUAGE sql
            RETURN split_part($1, '.', 4);
        SET search_path = projection, pg_temp
        """

    private static let queries = [
        "active_periods": """
        SELECT concat_ws(' ', kind, pg_temp.name(product_identifier), pg_temp.day(valid_from),
            pg_temp.day(valid_to), end_reason) FROM active_periods
        """,
        // The seconds until Apple has signed a purchase's change.
        "renewal_states": """
        SELECT concat_ws(' ', status, charge, pg_temp.day(valid_from),
            coalesce(pg_temp.day(valid_to), '…'),
            CASE is_auto_renew_on WHEN true THEN 'on' WHEN false THEN 'off' END,
            pg_temp.name(auto_renew_product_identifier)) FROM renewal_states
        WHERE valid_to IS NULL OR valid_to - valid_from > interval '10 minutes'
        """,
        "plan_changes": """
        SELECT concat_ws(' ', plan_change_state, plan_change_timing, plan_change, pg_temp.name(previous_product_identifier),
            pg_temp.name(product_identifier), pg_temp.day(requested_at), pg_temp.day(effective_at),
            pg_temp.day(withdrawn_at)) FROM plan_changes
        """,
        "refunds": """
        SELECT concat_ws(' ', refund_state, refund_kind, refund_timing, pg_temp.name(product_identifier),
            pg_temp.day(purchase_date_ms), pg_temp.day(requested_at), pg_temp.day(revoked_at),
            refunded_milliunits, purchase_price_milliunits, is_net) FROM refunds
        """,
        "transactions": """
        SELECT concat_ws(' ', pg_temp.name(product_identifier), pg_temp.day(start_time),
            pg_temp.day(end_time), pg_temp.day(effective_end_time), renewal_number,
            consecutive_paid_periods, gap_seconds, plan_change, price_milliunits,
            pg_temp.day(refunded_at), pg_temp.day(unsubscribe_detected_at)) FROM transactions
        """,
        "movements": """
        SELECT concat_ws(' ', pg_temp.day(occurred_at), movement, pg_temp.name(product_identifier),
            pg_temp.name(previous_product_identifier), amount_milliunits, apple_event) FROM movements
        """,
    ]

    private static let expected = [
        "active_periods": [
            "paid plus 01-01 02-01 expired", "paid plus 02-01 03-01 expired",
            "paid plus 03-22 03-27 upgraded", "paid pro 03-27 04-27 expired",
            "paid plus 05-31 06-02 refunded",
        ],
        "renewal_states": [
            "active waiting 01-01 01-31 on plus", "active succeeded 01-31 02-01 on plus",
            "active waiting 02-01 02-10 on plus", "active closed 02-10 03-01 off plus",
            "expired closed 03-01 03-22 off plus", "active waiting 03-22 03-27 on plus",
            "active waiting 03-27 03-28 on pro", "active closed 03-28 03-29 off pro",
            "active waiting 03-29 03-30 on pro", "active waiting 03-30 03-31 on plus",
            "active waiting 03-31 04-01 on pro", "active closed 04-01 04-27 off pro",
            "expired closed 04-27 05-31 off pro", "active waiting 05-31 06-02 on plus",
            "revoked closed 06-02 … off plus",
        ],
        "plan_changes": [
            "effective now upgrade plus pro 03-27",
            "withdrawn next_renewal downgrade pro plus 03-30 03-31",
            "effective resubscribe downgrade pro plus 05-31",
        ],
        "refunds": ["refunded full current plus 05-31 06-01 06-02 9990 9990 t"],
        "transactions": [
            "plus 01-01 02-01 02-01 1 1 9990", "plus 02-01 03-01 03-01 2 2 9990 02-10",
            "plus 03-22 04-22 03-27 1 1 1814400 9990",
            "pro 03-27 04-27 04-27 2 2 upgrade 14990 04-01",
            "plus 05-31 06-30 06-02 1 1 2937600 downgrade 0 06-02 06-02",
        ],
        "movements": [
            "01-01 paid_start plus 9990 Subscribe", "02-01 renewal plus 9990 Renew",
            "02-10 auto_renew_off plus", "03-01 churn_voluntary plus Cancel",
            "03-22 paid_start plus 9990 Reactivate", "03-27 renewal pro plus 14990 Upgrade",
            "03-27 exit_plan_change plus", "03-28 auto_renew_off pro", "03-29 auto_renew_on pro",
            "03-30 plan_change_scheduled plus pro", "03-31 plan_change_cancelled plus pro",
            "04-01 auto_renew_off pro", "04-27 churn_voluntary pro Cancel",
            "05-31 paid_start plus pro 9990 Reactivate with Downgrade",
            "06-01 refund_requested plus", "06-02 exit_refund plus -9990 Refund",
            "06-02 auto_renew_off plus",
        ],
    ]
}
