import Events
import Postgres
import Subledger
import TestSupport
import Testing

/// RevenueCat's published definitions of its charts, written as its customers write them over the
/// exported transactions: they give the same numbers as our views.
@Suite(.enabled { await TestServer.isAvailable })
struct RevenueCatTests {
    @Test(arguments: RevenueCatTests.pairs)
    func `a RevenueCat chart has the same numbers as our view`(pair: Pair) async throws {
        try await Analytics.withTables { session in
            let theirs = try await session.query(Self.common + pair.theirs)
                .map { try $0.text(0) }
            let ours = try await session.query(Self.common + pair.ours).map { try $0.text(0) }
            #expect(ours == theirs)
            #expect(ours.count >= pair.rowsMin, "\(ours.count) rows")
        }
    }

    @Test(arguments: RevenueCatTests.pairs.filter { $0.report != nil })
    func `a report has the numbers of RevenueCat's chart`(pair: Pair) async throws {
        try await Analytics.withLedger { session, ledger in
            try await Self.expectReport(of: pair, session, ledger)
        }
    }

    /// Compares the report of a pair with the chart, over the tables of a ledger.
    static func expectReport(
        of pair: Pair,
        _ session: PostgresSession,
        _ ledger: Ledger
    ) async throws {
        let asked = try #require(pair.report)
        let theirs = try await session.query(common + pair.theirs).map { try $0.text(0) }
        var question = ReportQuestion(try #require(Report.named(asked.name)))
        question.dimensions = asked.by
        question.limit = ReportQuestion.limitMax
        question.from = Instant(asked.isBounded ? "2024-02-01" : "2020-01-01")
        question.to = Instant(asked.isBounded ? "2026-09-30" : "2027-12-31")
        let report = try await ledger.report(question)
        let ours = report.rows.compactMap { asked.line(ReportRow(values: $0)) }
        #expect(ours.sorted() == theirs.map(asked.theirs).sorted(), "\(pair)")
        #expect(ours.count >= pair.rowsMin, "\(pair): \(ours.count) rows")
    }

    /// The same chart three times.
    struct Pair: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var rowsMin = 20
        var report: AskedReport?
        let theirs: String
        let ours: String
    }

    /// The report that draws a chart, and how its rows are written as chart lines.
    struct AskedReport: Sendable {
        let name: String
        var by: [Report.Dimension] = [.month]
        /// Whether the chart covers the months in `common`.
        var isBounded = true
        var theirs: @Sendable (String) -> String = { $0 }
        /// A line; nil for a row that the chart leaves out.
        let line: @Sendable (ReportRow) -> String?
    }

    // A share has more decimals in the chart than in the report.
    private static let withoutShare: @Sendable (String) -> String = {
        $0.split(separator: " ").dropLast().joined(separator: " ")
    }

    // The filters at the start of all of RevenueCat's sample queries, and the ends of months.
    private static let common = """
        WITH paid AS (
            SELECT * FROM analytics.transactions
            WHERE is_auto_renewable AND NOT is_trial_period AND end_time > start_time
                AND ownership_type <> 'FAMILY_SHARED' AND NOT is_sandbox
                AND purchase_price_milliunits > 0
        ), month AS (
            SELECT m::date AS month, m AT TIME ZONE 'UTC' AS since,
                (m + interval '1 month') AT TIME ZONE 'UTC' AS until
            FROM generate_series('2024-02-01', '2026-09-01', interval '1 month') AS m
        )

        """

    static let pairs = [
        Pair(
            testDescription: "active subscriptions",
            report: AskedReport(name: "active", by: []) { row in
                row["activePaid"] == "0"
                    ? nil : "\(row["day"].prefix(7))-01 \(row["activePaid"])"
            },
            theirs: """
                SELECT month || ' ' || count(DISTINCT original_transaction_id)
                FROM month JOIN paid ON start_time < until AND effective_end_time >= until
                GROUP BY month ORDER BY month
                """,
            ours: """
                SELECT month || ' ' || sum(active_paid) FROM month
                JOIN analytics.daily_snapshot ON day = month + interval '1 month' - interval '1 day'
                WHERE environment = 'Production'
                GROUP BY month HAVING sum(active_paid) > 0 ORDER BY month
                """
        ),
        Pair(
            testDescription: "MRR",
            report: AskedReport(name: "mrr", by: []) { row in
                row["activePaid"] == "0"
                    ? nil
                    : "\(row["day"].prefix(7))-01 \(row["currency"]) \(row["mrrMilliunits"])"
            },
            theirs: """
                SELECT concat_ws(' ', month, currency, sum(round(
                    CASE billing_duration WHEN 'P1D' THEN price * 30 WHEN 'P3D' THEN price * 10
                        WHEN 'P1W' THEN price * 4 WHEN 'P2W' THEN price * 2 WHEN 'P1M' THEN price
                        WHEN 'P2M' THEN price / 2 WHEN 'P3M' THEN price / 3
                        WHEN 'P6M' THEN price / 6 WHEN 'P1Y' THEN price / 12 END)::bigint))
                FROM (SELECT DISTINCT ON (month, original_transaction_id) *,
                        purchase_price_milliunits::numeric AS price
                    FROM month JOIN paid ON start_time < until AND effective_end_time >= until
                    ORDER BY month, original_transaction_id, start_time DESC) t
                GROUP BY month, currency ORDER BY month, currency
                """,
            ours: """
                SELECT concat_ws(' ', month, currency, sum(mrr_milliunits)) FROM month
                JOIN analytics.daily_snapshot ON day = month + interval '1 month' - interval '1 day'
                WHERE environment = 'Production'
                GROUP BY month, currency HAVING sum(active_paid) > 0 ORDER BY month, currency
                """
        ),
        Pair(
            testDescription: "churned actives and churn rate",
            report: AskedReport(name: "churn", theirs: withoutShare) { row in
                row["activeAtStart"] == "0"
                    ? nil : "\(row["month"])-01 \(row.number("lost") - row.number("resubscribed"))"
            },
            theirs: """
                , active AS (
                    SELECT month, count(DISTINCT original_transaction_id) FILTER (
                            WHERE start_time < since AND effective_end_time >= since) AS at_start,
                        count(DISTINCT original_transaction_id) FILTER (
                            WHERE start_time < until AND effective_end_time >= until) AS at_end
                    FROM month CROSS JOIN paid GROUP BY month
                ), first AS (
                    SELECT original_transaction_id, min(start_time) AS first_paid
                    FROM paid GROUP BY 1
                ), new AS (
                    -- New is who is there at the midnight after the first payment, by whatever
                    -- purchase: the first may have been upgraded on its day.
                    SELECT month, count(DISTINCT f.original_transaction_id) AS number
                    FROM month JOIN first f ON f.first_paid >= since AND f.first_paid < until
                    JOIN paid p ON p.original_transaction_id = f.original_transaction_id
                        AND p.start_time < date_trunc('day', f.first_paid AT TIME ZONE 'UTC')
                            AT TIME ZONE 'UTC' + interval '1 day'
                        AND p.effective_end_time >= date_trunc('day',
                            f.first_paid AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' + interval '1 day'
                    GROUP BY month
                )
                SELECT concat_ws(' ', a.month, at_start + coalesce(number, 0) - at_end,
                    round(100.0 * (at_start + coalesce(number, 0) - at_end) / at_start, 3))
                FROM active a LEFT JOIN new n ON n.month = a.month
                WHERE at_start > 0 ORDER BY a.month
                """,
            ours: """
                SELECT concat_ws(' ', m.month, sum(lost - resubscribed), round(100.0
                    * sum(lost - resubscribed) / (SELECT sum(active_paid)
                        FROM analytics.daily_snapshot WHERE day = m.month - 1), 3))
                FROM month m JOIN analytics.daily_snapshot
                    ON day >= m.month AND day < m.month + interval '1 month'
                GROUP BY m.month
                HAVING (SELECT sum(active_paid) FROM analytics.daily_snapshot
                    WHERE day = m.month - 1) > 0
                ORDER BY m.month
                """
        ),
        Pair(
            testDescription: "trial conversion rate by month of the trial's start",
            rowsMin: 5,
            report: AskedReport(name: "trial-conversion", isBounded: false) { row in
                row["trialStarts"] == "0"
                    ? nil : "\(row["month"]) \(row["trialStarts"]) \(row["trialConversions"])"
            },
            theirs: """
                SELECT concat_ws(' ', to_char(t.start_time AT TIME ZONE 'UTC', 'YYYY-MM'), count(*),
                    count(c.ordinal))
                FROM analytics.transactions t LEFT JOIN analytics.transactions c
                    ON c.original_transaction_id = t.original_transaction_id
                        AND c.is_trial_conversion AND c.renewal_number = t.renewal_number + 1
                        AND c.start_time >= t.start_time
                        AND c.ordinal = t.ordinal + 1
                WHERE t.is_trial_period AND t.ownership_type <> 'FAMILY_SHARED'
                GROUP BY to_char(t.start_time AT TIME ZONE 'UTC', 'YYYY-MM') ORDER BY 1
                """,
            // The day of a conversion differs from that of the trial: the sums over all time are
            // equal.
            ours: """
                SELECT concat_ws(' ', to_char(t.start_time AT TIME ZONE 'UTC', 'YYYY-MM'), count(*),
                    count(*) FILTER (WHERE (
                        SELECT n.is_trial_conversion FROM analytics.transactions n
                        WHERE n.original_transaction_id = t.original_transaction_id
                            AND n.ordinal > t.ordinal ORDER BY n.ordinal LIMIT 1)))
                FROM analytics.transactions t
                WHERE t.is_trial_period AND t.ownership_type <> 'FAMILY_SHARED'
                GROUP BY to_char(t.start_time AT TIME ZONE 'UTC', 'YYYY-MM') ORDER BY 1
                """
        ),
        Pair(
            testDescription: "trials and conversions over all time",
            rowsMin: 1,
            theirs: """
                SELECT concat_ws(' ', count(*) FILTER (WHERE is_trial_period),
                    count(*) FILTER (WHERE is_trial_conversion))
                FROM analytics.transactions WHERE ownership_type <> 'FAMILY_SHARED'
                """,
            ours: """
                SELECT concat_ws(' ', sum(trial_starts), sum(trial_conversions))
                FROM analytics.daily_snapshot
                """
        ),
        Pair(
            testDescription: "refund rate",
            // Of all refunds, as in the chart: up to a day, fewer count.
            report: AskedReport(name: "refund-rate", isBounded: false) { row in
                guard row["paidPurchases"] != "0", ("2024-02"..."2026-09").contains(row["month"])
                else { return nil }
                return
                    "\(row["month"])-01 \(row["paidPurchases"]) \(row["paidPurchasesRefunded"])"
            },
            theirs: """
                SELECT concat_ws(' ', month, count(*), count(refunded_at))
                FROM month JOIN paid ON start_time >= since AND start_time < until
                GROUP BY month ORDER BY month
                """,
            ours: """
                SELECT concat_ws(' ', month, sum(paid_purchases), sum(paid_purchases_refunded))
                FROM month JOIN analytics.daily_snapshot
                    ON day >= month AND day < month + interval '1 month'
                GROUP BY month HAVING sum(paid_purchases) > 0 ORDER BY month
                """
        ),
        Pair(
            testDescription: "subscription retention of monthly products",
            report: AskedReport(
                name: "retention",
                by: [.month, .product],
                isBounded: false
            ) { row in
                guard row["productId"].hasSuffix(".monthly"), row.number("periodNumber") <= 6 else {
                    return nil
                }
                return "\(row["month"]) \(row["productId"]) \(row["periodNumber"]) "
                    + "\(row["hadOpportunity"]) \(row["retained"])"
            },
            theirs: """
                , first AS (
                    SELECT DISTINCT ON (original_transaction_id) original_transaction_id,
                        product_identifier, start_time AS first_paid
                    FROM paid
                    ORDER BY original_transaction_id, start_time
                )
                SELECT concat_ws(' ', to_char(first_paid AT TIME ZONE 'UTC', 'YYYY-MM'),
                    f.product_identifier, n, count(DISTINCT f.original_transaction_id),
                    count(DISTINCT p.original_transaction_id))
                FROM first f CROSS JOIN generate_series(1, 6) AS n
                LEFT JOIN paid p ON p.original_transaction_id = f.original_transaction_id
                    AND p.start_time <= f.first_paid + n * interval '1 month'
                    AND p.effective_end_time > f.first_paid + n * interval '1 month'
                WHERE f.product_identifier LIKE '%.monthly'
                    AND f.first_paid + n * interval '1 month' <= (SELECT analytics.last_signed_at())
                GROUP BY to_char(first_paid AT TIME ZONE 'UTC', 'YYYY-MM'), f.product_identifier, n
                ORDER BY 1
                """,
            ours: """
                SELECT concat_ws(' ', to_char(cohort, 'YYYY-MM'), product_identifier, period_number,
                    had_opportunity, retained)
                FROM analytics.retention
                WHERE product_identifier LIKE '%.monthly' AND period_number <= 6
                    AND had_opportunity > 0
                ORDER BY 1
                """
        ),
    ]
}

/// A row of a report, its values as text.
struct ReportRow: Sendable {
    let values: [String: ReportValue]

    subscript(_ name: String) -> String {
        switch values[name] {
        case .text(let text): text
        case .integer(let number), .hundredths(let number): "\(number)"
        case .flag(let isSo): "\(isSo)"
        default: ""
        }
    }

    func number(_ name: String) -> Int64 { Int64(self[name]) ?? 0 }
}
