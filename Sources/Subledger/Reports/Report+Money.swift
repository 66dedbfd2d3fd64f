extension Report {
    /// What was paid, refunded, and recurs; before Apple's commission and taxes.
    static let ofMoney: [Report] = [
        Report(
            "mrr",
            version: 2,
            """
            Monthly recurring revenue of the subscriptions that are active at the end of each \
            month and of the last day of the report, UTC: each price converted to one month by \
            RevenueCat's formula, before refunds, taxes and commission. arr is twelve times the \
            same sum before mrr is rounded for display, so it can differ from twelve times the \
            mrr shown.
            """,
            by: [.product, .country, .offer],
            usual: [],
            keys: [.text("day"), .text("currency")],
            columns: [.count("active_paid"), .money("mrr_milliunits"), .money("arr_milliunits")],
            sql: """
                SELECT {{by}}x.day::text AS day, x.currency, count(*) AS active_paid,
                    coalesce(sum(x.mrr_milliunits), 0)::bigint AS mrr_milliunits,
                    coalesce(12 * sum(x.mrr_milliunits), 0)::bigint AS arr_milliunits{{totals}}
                FROM (\(standing)) x
                WHERE x.is_paid
                GROUP BY {{keys}}
                """
        ),
        Report(
            "revenue",
            version: 2,
            """
            What customers paid in the days of the report, including one-time purchases, and what \
            was given back: by the date of the purchase, so that later refunds change it, and by \
            the date of the refund, less reversed refunds.
            """,
            by: [.month, .product, .country, .offer],
            usual: [.month],
            keys: [.text("currency")],
            columns: [
                .money("gross_milliunits"), .money("given_back_milliunits"),
                .money("net_milliunits"), .money("given_back_on_refund_date_milliunits"),
                .money("net_on_refund_date_milliunits"),
            ],
            sql: """
                SELECT {{by}}x.currency, sum(x.gross)::bigint AS gross_milliunits,
                    sum(x.gross - x.net)::bigint AS given_back_milliunits,
                    sum(x.net)::bigint AS net_milliunits,
                    sum(x.given_back)::bigint AS given_back_on_refund_date_milliunits,
                    sum(x.gross - x.given_back)::bigint AS net_on_refund_date_milliunits{{totals}}
                FROM (
                    SELECT \(purchaseColumns), t.currency,
                        coalesce(t.purchase_price_milliunits, 0) AS gross,
                        coalesce(t.price_milliunits, 0) AS net, 0 AS given_back{{of_purchase}}
                    FROM {{transactions}} t
                    WHERE t.environment = $3 AND \(isAskedDay)
                        AND NOT t.is_shared
                    UNION ALL
                    SELECT (m.occurred_at AT TIME ZONE 'UTC')::date,
                        date_trunc('month', m.occurred_at AT TIME ZONE 'UTC'),
                        m.product_identifier, p.country, p.offer_type, m.currency, 0, 0,
                        -coalesce(m.amount_milliunits, 0){{of_movement}}
                    FROM {{movements}} m
                    LEFT JOIN LATERAL (
                        SELECT y.country, y.offer_type FROM analytics.transactions y
                        WHERE y.lane = m.lane AND y.environment = m.environment
                            AND y.original_transaction_id = m.original_transaction_id
                            AND y.purchase_date_ms = m.purchase_date_ms
                        ORDER BY y.product_identifier = m.product_identifier DESC, y.ordinal
                        LIMIT 1
                    ) p ON true
                    WHERE m.environment = $3 AND NOT m.is_shared
                        AND m.movement IN ('exit_refund', 'refund_reversed')
                        AND m.occurred_at >= $1::date::timestamp AT TIME ZONE 'UTC'
                        AND m.occurred_at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC'
                ) x
                GROUP BY {{keys}} HAVING sum(x.gross) <> 0 OR sum(x.given_back) <> 0
                """
        ),
        Report(
            "refund-rate",
            version: 2,
            """
            Of the paid subscription purchases that began in the days of the report, how many are \
            refunded. Reversed refunds do not count, and later refunds change the number.
            """,
            by: [.month, .product, .country, .offer],
            usual: [.month],
            columns: [
                .count("paid_purchases"), .count("paid_purchases_refunded"),
                .percent("refunded_percent"),
            ],
            sql: """
                SELECT {{by}}count(*) AS paid_purchases,
                    count(x.refunded_at) AS paid_purchases_refunded,
                    round(10000.0 * count(x.refunded_at) / nullif(count(*), 0))::bigint
                        AS refunded_percent
                FROM (
                    SELECT \(purchaseColumns), t.refunded_at
                    FROM analytics.transactions t
                    WHERE t.environment = $3 AND t.is_paid AND \(isAskedDay)
                ) x
                GROUP BY {{keys}}
                """
        ),
        Report(
            "ltv",
            version: 2,
            """
            Realised lifetime value per customer, by currency: what customers whose first payment \
            falls in the days of the report have paid since then, less what was given back.
            """,
            by: [.month],
            usual: [],
            keys: [.text("currency")],
            columns: [
                .count("customers_count"), .count("payments_count"), .money("net_milliunits"),
                .money("ltv_milliunits"),
            ],
            sql: """
                SELECT {{by}}x.currency, count(*) AS customers_count,
                    sum(x.payments)::bigint AS payments_count, sum(x.net)::bigint AS net_milliunits,
                    round(sum(x.net) / count(*))::bigint AS ltv_milliunits{{totals}}
                FROM (
                    SELECT y.customer_id, y.currency, min(y.month) AS month, min(y.day) AS day,
                        count(*) AS payments, coalesce(sum(y.net), 0) AS net{{of_customer}}
                    FROM (\(paymentRows)) y GROUP BY 1, 2
                ) x
                WHERE x.day BETWEEN $1::date AND $2::date
                GROUP BY {{keys}}
                """
        ),
        Report(
            "cohorts",
            version: 2,
            """
            Subscriptions by the month of their first payment, in the days of the report: how many \
            made a payment in the nth calendar month after it, how many payments these were, and \
            the amount that was not given back.
            """,
            by: [.month, .product, .country, .offer],
            usual: [.month],
            keys: [.count("month_number"), .text("currency")],
            columns: [
                .count("subscriptions_count"), .count("payments_count"), .money("net_milliunits"),
            ],
            sql: """
                SELECT {{by}}x.month_number, x.currency,
                    count(DISTINCT x.subscription) AS subscriptions_count,
                    count(*) AS payments_count,
                    coalesce(sum(x.price_milliunits), 0)::bigint AS net_milliunits{{totals}}
                FROM (
                    SELECT (f.start_time AT TIME ZONE 'UTC')::date AS day,
                        date_trunc('month', f.start_time AT TIME ZONE 'UTC') AS month,
                        f.product_identifier, f.country, f.offer_type, t.currency,
                        t.original_transaction_id AS subscription, t.price_milliunits,
                        (12 * (date_part('year', t.start_time AT TIME ZONE 'UTC')
                                - date_part('year', f.start_time AT TIME ZONE 'UTC'))
                            + date_part('month', t.start_time AT TIME ZONE 'UTC')
                            - date_part('month', f.start_time AT TIME ZONE 'UTC'))::bigint
                            AS month_number{{of_purchase}}
                    FROM (
                        SELECT DISTINCT ON (y.lane, y.original_transaction_id) y.lane,
                            y.original_transaction_id, y.start_time, y.product_identifier,
                            y.country, y.offer_type
                        FROM analytics.transactions y
                        WHERE y.environment = $3 AND y.is_paid
                        ORDER BY y.lane, y.original_transaction_id, y.start_time, y.ordinal
                    ) f
                    JOIN {{transactions}} t ON t.lane = f.lane AND t.environment = $3
                        AND t.original_transaction_id = f.original_transaction_id
                        AND t.is_paid AND t.start_time <= $4
                ) x
                WHERE x.day BETWEEN $1::date AND $2::date
                GROUP BY {{keys}}
                """
        ),
    ]
}
