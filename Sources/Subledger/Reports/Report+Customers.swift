extension Report {
    /// Reports about what customers did.
    static let ofCustomers: [Report] = [
        Report(
            "retention",
            version: 2,
            """
            Of the subscriptions whose first payment falls in the months of the report, how many \
            have paid access n periods of their product later. Only subscriptions that have \
            reached that instant count (had_opportunity, retained); those in retained_pending have \
            not reached it yet.
            """,
            by: [.month, .product],
            usual: [.product],
            keys: [.count("period_number")],
            columns: [
                .count("had_opportunity"), .count("retained"), .percent("retained_percent"),
                .count("retained_pending"),
            ],
            sql: """
                SELECT {{by}}x.period_number::bigint AS period_number,
                    sum(x.had_opportunity)::bigint AS had_opportunity,
                    sum(x.retained)::bigint AS retained,
                    round(10000.0 * sum(x.retained) / nullif(sum(x.had_opportunity), 0))::bigint
                        AS retained_percent,
                    sum(x.retained_pending)::bigint AS retained_pending
                FROM \(cohortRows) x
                GROUP BY {{keys}} HAVING sum(x.had_opportunity) > 0
                """
        ),
        Report(
            "cancelled-in-period",
            version: 2,
            """
            Of the subscriptions whose first payment falls in the months of the report, how many \
            entered the nth period after it (entered_period), how many of these switched \
            auto-renewal off in that period, and, if the period is over (completed_period), how \
            many ended with it.
            """,
            by: [.month, .product],
            usual: [.product],
            keys: [.count("period_number")],
            columns: [
                .count("entered_period"), .count("auto_renew_off_in_period"),
                .percent("auto_renew_off_percent"), .count("completed_period"),
                .count("ended_in_period"), .percent("ended_percent"),
            ],
            sql: """
                SELECT {{by}}x.period_number::bigint AS period_number,
                    sum(x.entered_period)::bigint AS entered_period,
                    sum(x.auto_renew_off_in_period)::bigint AS auto_renew_off_in_period,
                    round(10000.0 * sum(x.auto_renew_off_in_period)
                        / nullif(sum(x.entered_period), 0))::bigint AS auto_renew_off_percent,
                    sum(x.completed_period)::bigint AS completed_period,
                    sum(x.ended_in_period)::bigint AS ended_in_period,
                    round(10000.0 * sum(x.ended_in_period)
                        / nullif(sum(x.completed_period), 0))::bigint AS ended_percent
                FROM \(cohortRows) x
                GROUP BY {{keys}} HAVING sum(x.entered_period) > 0
                """
        ),
        Report(
            "payments",
            version: 2,
            """
            Payments per customer and currency in the days of the report: how many, how many of \
            them are refunded, and the amounts paid, given back and kept. A purchase whose price \
            Apple did not state is a payment; free purchases and those of family members are not.
            """,
            by: [.month, .product, .country, .offer],
            usual: [],
            keys: [.text("customer_id"), .text("currency")],
            columns: [
                .count("payments_count"), .count("refunds_count"), .money("gross_milliunits"),
                .money("given_back_milliunits"), .money("net_milliunits"),
                .instant("first_paid_time"), .instant("last_paid_time"),
            ],
            greatestFirst: "payments_count",
            sql: """
                SELECT {{by}}x.customer_id, x.currency, count(*) AS payments_count,
                    count(x.refunded_at) AS refunds_count,
                    coalesce(sum(x.gross), 0)::bigint AS gross_milliunits,
                    coalesce(sum(x.gross - x.net), 0)::bigint AS given_back_milliunits,
                    coalesce(sum(x.net), 0)::bigint AS net_milliunits,
                    \(milliseconds("min(x.start_time)")) AS first_paid_time,
                    \(milliseconds("max(x.start_time)")) AS last_paid_time{{totals}}
                FROM (\(paymentRows) AND \(isAskedDay)) x
                GROUP BY {{keys}}
                """
        ),
        Report(
            "renewals",
            version: 2,
            """
            Payments for subscriptions in the days of the report: original ones, made by the \
            customer, and automatic ones. Apple's transactionReason decides; if it is missing \
            (inferred), the first purchase, one after a lapse and a change of plan are original.
            """,
            by: [.month, .product, .country, .offer],
            usual: [.month],
            columns: [
                .count("payments_count"), .count("original_payments"),
                .count("automatic_payments"), .percent("automatic_percent"), .count("inferred"),
            ],
            sql: """
                SELECT {{by}}count(*) AS payments_count,
                    count(*) FILTER (WHERE NOT x.is_automatic) AS original_payments,
                    count(*) FILTER (WHERE x.is_automatic) AS automatic_payments,
                    round(10000.0 * count(*) FILTER (WHERE x.is_automatic)
                        / nullif(count(*), 0))::bigint AS automatic_percent,
                    count(*) FILTER (WHERE x.transaction_reason IS NULL) AS inferred
                FROM (
                    SELECT \(purchaseColumns), t.transaction_reason, coalesce(
                        t.transaction_reason = 'RENEWAL',
                        t.renewal_number > 1 AND t.plan_change IS NULL) AS is_automatic
                    FROM analytics.transactions t
                    WHERE t.environment = $3 AND t.is_paid AND \(isAskedDay)
                ) x
                GROUP BY {{keys}}
                """
        ),
        Report(
            "switches",
            version: 2,
            """
            Changes of plan that took effect in the days of the report, by the product before and \
            after: upgrade, downgrade or crossgrade, or plan_change if no catalog ranks the \
            products. Those of family members do not count.
            """,
            by: [.month, .country, .offer],
            usual: [],
            keys: [
                .text("previous_product_identifier"), .text("product_identifier"),
                .text("plan_change"),
            ],
            columns: [.count("plan_changes_count"), .count("subscriptions_count")],
            greatestFirst: "plan_changes_count",
            sql: """
                SELECT {{by}}x.previous_product_identifier, x.product_identifier, x.plan_change,
                    count(*) AS plan_changes_count,
                    count(DISTINCT x.original_transaction_id) AS subscriptions_count
                FROM (
                    SELECT \(purchaseColumns), t.previous_product_identifier, t.plan_change,
                        t.original_transaction_id
                    FROM analytics.transactions t
                    WHERE t.environment = $3 AND t.plan_change IS NOT NULL
                        AND NOT t.is_shared AND \(isAskedDay)
                ) x
                GROUP BY {{keys}}
                """
        ),
    ]

    // The rows of retention for the requested months.
    private static let cohortRows = """
        (SELECT r.cohort::timestamp AS month, r.*
            FROM analytics.retention_at($4) r
            WHERE r.environment = $3
                AND r.cohort BETWEEN date_trunc('month', $1::date::timestamp)::date AND $2::date)
        """
}

extension Report {
    /// The dimensions of a purchase `t`, with its day.
    static let purchaseColumns = """
        (t.start_time AT TIME ZONE 'UTC')::date AS day,
                        date_trunc('month', t.start_time AT TIME ZONE 'UTC') AS month,
                        t.product_identifier, t.country, t.offer_type
        """

    /// Whether a purchase `t` began on one of the requested days.
    static let isAskedDay = """
        t.start_time >= $1::date::timestamp AT TIME ZONE 'UTC'
                        AND t.start_time < ($2::date + 1)::timestamp AT TIME ZONE 'UTC'
        """

    /// Purchases with a price other than zero, or without a price from Apple, with their customer.
    ///
    /// The customer is that of `analytics.customers`, which also lists customers without any other
    /// id: reading it takes longer than reading all purchases.
    static let paymentRows = """
        SELECT \(purchaseColumns),
            coalesce(c.customer, lower(c.app_account_token), t.original_transaction_id)
                AS customer_id, t.currency, t.start_time, t.refunded_at,
            t.purchase_price_milliunits AS gross, t.price_milliunits AS net{{of_purchase}}
        FROM {{transactions}} t
        LEFT JOIN projection.customers c ON c.lane = t.lane AND c.environment = t.environment
            AND c.original_transaction_id = t.original_transaction_id
            AND c.valid_from <= t.start_time AND (c.valid_to IS NULL OR t.start_time < c.valid_to)
        WHERE t.environment = $3 AND t.start_time <= $4 AND NOT t.is_trial_period
            AND NOT t.is_shared
            AND t.offer_discount_type IS DISTINCT FROM 'FREE_TRIAL'
            AND t.purchase_price_milliunits IS DISTINCT FROM 0
        """

    /// An instant as milliseconds since 1970.
    static func milliseconds(_ instant: String) -> String {
        "(extract(epoch FROM \(instant)) * 1000)::bigint"
    }
}
