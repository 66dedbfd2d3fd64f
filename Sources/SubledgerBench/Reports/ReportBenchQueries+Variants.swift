import EventLog
import Events
import Subledger

extension ReportBenchQueries {
    /// Reports with another breakdown, with rates, and as a view.
    static let variants: [ReportBenchCase] = [
        ReportBenchCase(
            "revenue",
            as: "revenue-fiscal",
            { $0.dimensions = [.fiscalMonth] },
            fiscal
        ),
        ReportBenchCase("revenue", as: "revenue-rates", { $0.money.commission = .rates }, proceeds),
        // Until the newest signature, like the view.
        ReportBenchCase("deferred-revenue", as: "recognised", { $0.to = .benchEnd }, view),
    ]

    /// Rates of commission and tax for `revenue-rates`: none at first, then one for all storefronts,
    /// then two for that of the log.
    static let proceedsRates: [(storefront: String, day: String, commission: String, tax: String)] =
        [
            ("*", "2021-06-01", "30", "0"), ("USA", "2022-01-01", "30", "8.25"),
            ("USA", "2023-01-01", "12.5", "7"),
        ]

    // Purchases and refunds, which is all that the bench's tables have but for upgrades.
    private static let fiscal = """
        , fiscal AS (
            SELECT concat('FY', y, '-', to_char(m.n, 'FM00')) AS month, (s.first + 7 * (m.weeks
                + CASE WHEN e.last - s.first > 364 AND m.n > 3 THEN 1 ELSE 0 END))::date AS since
            FROM generate_series(2015, 2035) y,
                (VALUES (1, 0), (2, 5), (3, 9), (4, 13), (5, 18), (6, 22), (7, 26), (8, 31), (9, 35),
                    (10, 39), (11, 44), (12, 48)) m (n, weeks),
                LATERAL (SELECT max(d)::date + 1 AS first FROM generate_series(
                    make_date(y - 1, 9, 24), make_date(y - 1, 9, 30), interval '1 day') d
                    WHERE extract(dow FROM d) = 6) s,
                LATERAL (SELECT max(d)::date AS last FROM generate_series(
                    make_date(y, 9, 24), make_date(y, 9, 30), interval '1 day') d
                    WHERE extract(dow FROM d) = 6) e
        ), day AS (
            SELECT t.start_time::date AS day, t.currency, t.purchase_price_milliunits AS gross,
                \(kept) AS net, 0 AS back, 0 AS estimate
            FROM projection.transactions t
            WHERE t.environment = $3 AND \(asked) AND NOT t.is_shared
            UNION ALL
            SELECT m.occurred_at::date, m.currency, 0, 0, -m.amount_milliunits, 0
            FROM projection.movements m
            WHERE m.environment = $3 AND NOT m.is_shared AND m.movement = 'exit_refund'
                AND m.occurred_at >= $1::date AND m.occurred_at < $2::date + 1
            UNION ALL
            SELECT c.effective_at::date, c.estimated_refund_currency, 0, 0, 0,
                least(c.estimated_refund_milliunits, (
                    SELECT \(kept) FROM projection.transactions t
                    WHERE t.lane = c.lane AND t.environment = c.environment
                        AND t.original_transaction_id = c.original_transaction_id
                        AND t.product_identifier = c.previous_product_identifier
                        AND t.start_time <= c.effective_at AND t.end_time > c.effective_at
                    ORDER BY t.start_time DESC, t.ordinal DESC LIMIT 1))
            FROM projection.plan_changes c
            WHERE c.environment = $3 AND c.estimated_refund_milliunits IS NOT NULL
                AND c.effective_at >= $1::date AND c.effective_at < $2::date + 1
        ), sums AS (
            SELECT d.day, d.currency, sum(d.gross) AS gross, sum(d.net) AS net, sum(d.back) AS back,
                sum(d.estimate) AS estimate
            FROM day d GROUP BY d.day, d.currency
        )
        SELECT concat(f.month, '|', d.currency, '|', sum(d.gross), '|', sum(d.gross - d.net), '|',
            sum(d.net), '|', sum(d.back), '|', sum(d.gross - d.back), '|', sum(d.estimate))
        FROM sums d, LATERAL (
            SELECT f.month FROM fiscal f WHERE f.since <= d.day ORDER BY f.since DESC LIMIT 1) f
        GROUP BY f.month, d.currency
        HAVING sum(d.gross) <> 0 OR sum(d.back) <> 0 OR sum(d.estimate) <> 0
        """

    private static let proceeds = """
        , rate (storefront, day, until, commission, later, tax) AS (VALUES
            ('*', '2021-06-01'::date, 'infinity'::date, 30, 15, 0),
            ('USA', '2022-01-01', '2023-01-01', 30, 15, 8.25),
            ('USA', '2023-01-01', 'infinity', 12.5, 12.5, 7)
        ), step AS (
            SELECT t.*, \(paid) AS is_paid, count(*) FILTER (WHERE t.gap_seconds > 60 * 86400) OVER (
                PARTITION BY t.lane, t.original_transaction_id ORDER BY t.ordinal) AS chain
            FROM projection.transactions t WHERE t.environment = $3
        ), served AS (
            SELECT t.*, coalesce(sum(CASE WHEN t.is_paid THEN greatest(0, extract(epoch FROM
                    least(t.effective_end_time, t.end_time) - t.start_time)) ELSE 0 END) OVER (
                PARTITION BY t.lane, t.original_transaction_id, t.chain ORDER BY t.ordinal
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS seconds
            FROM step t
        ), estimated AS (
            SELECT \(month) AS month, t.currency, sum(coalesce(round(t.kept * (100 - r.tax)
                    * (100 - CASE WHEN t.seconds >= 365 * 86400 THEN r.later ELSE r.commission END)
                    / 10000), 0)) AS proceeds,
                sum(CASE WHEN r.storefront IS NULL THEN t.kept ELSE 0 END) AS without
            FROM (SELECT t.*, coalesce(\(kept), 0) AS kept FROM served t) t
            LEFT JOIN LATERAL (
                SELECT r.* FROM rate r WHERE r.storefront IN (t.country, '*')
                    AND r.day <= t.start_time::date AND t.start_time::date < r.until
                ORDER BY r.storefront DESC LIMIT 1) r ON true
            WHERE \(asked) AND NOT t.is_shared
            GROUP BY \(month), t.currency
        ), plain AS (\(ofMoney["revenue", default: ""].replacing("concat(", with: """
            x.month, x.currency, concat(
            """)))
        SELECT concat(p.concat, '|', coalesce(e.proceeds, 0), '|', coalesce(e.without, 0))
        FROM plain p LEFT JOIN estimated e ON e.month = p.month AND e.currency = p.currency
        """

    private static let view = """
        SELECT concat(to_char(r.recognised_month, 'YYYY-MM'), '|', r.currency, '|',
            sum(r.opening_deferred_milliunits), '|', sum(r.gross_milliunits), '|',
            sum(r.given_back_on_refund_date_milliunits), '|',
            sum(r.upgrade_refund_estimate_milliunits), '|', sum(r.recognised_milliunits), '|',
            sum(r.closing_deferred_milliunits))
        FROM analytics.recognised_revenue r WHERE r.environment = $3
        GROUP BY r.recognised_month, r.currency
        """
}

extension ReportBenchCase {
    fileprivate init(
        _ report: String,
        as name: String,
        _ change: (inout ReportQuestion) -> Void,
        _ sql: String
    ) {
        guard let report = Report.named(report) else {
            preconditionFailure("there is no report \(report)")
        }
        self.init(name: name, question: ReportQuestion(report), sql: sql)
        change(&question)
    }
}

extension Instant {
    // After every log of a bench.
    fileprivate static let benchEnd = Instant("2100-01-01") ?? .epoch
}
