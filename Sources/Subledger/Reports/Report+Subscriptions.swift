extension Report {
    /// What happened to subscriptions.
    static let ofSubscriptions: [Report] = [
        Report(
            "active",
            version: 2,
            """
            Subscriptions at the end of each month and of the last day of the report, UTC: with a \
            running paid purchase (active_paid), of these in billing grace and with auto-renewal \
            off (set_to_expire), with a running free trial, and in billing retry without access.
            """,
            by: [.product, .country, .offer],
            usual: [],
            keys: [.text("day")],
            columns: [
                .count("active_paid"), .count("active_trial"), .count("in_grace"),
                .count("in_retry"), .count("set_to_expire"),
            ],
            sql: """
                SELECT {{by}}x.day::text AS day, count(*) FILTER (WHERE x.is_paid AND NOT x.is_retried) AS active_paid,
                    count(*) FILTER (WHERE x.is_trial_period AND NOT x.is_retried)
                        AS active_trial,
                    count(*) FILTER (WHERE x.is_paid AND NOT x.is_retried AND x.end_time < x.until)
                        AS in_grace,
                    count(*) FILTER (WHERE x.is_retried) AS in_retry,
                    count(*) FILTER (WHERE x.is_paid AND x.is_switched_off) AS set_to_expire
                FROM (
                    SELECT s.*, false AS is_retried, EXISTS (
                        SELECT FROM projection.renewal_states r
                        WHERE r.lane = s.lane AND r.environment = $3
                            AND r.original_transaction_id = s.original_transaction_id
                            AND r.valid_from < s.until
                            AND (r.valid_to IS NULL OR r.valid_to >= s.until)
                            AND NOT r.is_auto_renew_on) AS is_switched_off
                    FROM (\(standing)) s
                    UNION ALL
                    (SELECT DISTINCT ON (b.day, t.lane, t.original_transaction_id)
                        \(standingColumns), true, false
                    FROM \(monthEnds)
                    JOIN projection.renewal_states r
                        ON r.environment = $3 AND r.status = 'billing_retry'
                            AND r.valid_from < b.until
                            AND (r.valid_to IS NULL OR r.valid_to >= b.until)
                    JOIN analytics.transactions t ON t.lane = r.lane AND t.environment = $3
                        AND t.original_transaction_id = r.original_transaction_id
                        AND t.start_time < b.until AND t.is_auto_renewable
                    ORDER BY b.day, t.lane, t.original_transaction_id, t.start_time DESC,
                        t.ordinal DESC)
                ) x
                GROUP BY {{keys}}
                """
        ),
        Report(
            "churn",
            version: 3,
            """
            Subscriptions that had a running paid purchase at the end of a day and none at the end \
            of the next (lost), less those that came back (resubscribed), as a share of those \
            active before the first day; and all subscriptions that ended, trials included, by \
            Apple's reason.
            """,
            by: [.month, .product, .country, .offer],
            usual: [.month],
            columns: [
                .count("active_at_start"), .count("lost"), .count("resubscribed"),
                .percent("churn_percent"), .count("churned_voluntary"),
                .count("churned_involuntary"), .count("churned_unknown"),
            ],
            sql: """
                SELECT {{by}}sum(x.at_start)::bigint AS active_at_start, sum(x.lost)::bigint AS lost,
                    sum(x.resubscribed)::bigint AS resubscribed,
                    round(10000.0 * sum(x.lost - x.resubscribed)
                        / nullif(sum(x.at_start), 0))::bigint AS churn_percent,
                    sum(x.churned_voluntary)::bigint AS churned_voluntary,
                    sum(x.churned_involuntary)::bigint AS churned_involuntary,
                    sum(x.churned_unknown)::bigint AS churned_unknown
                FROM (\(churnRows)) x
                WHERE NOT x.is_stock OR {{begins}}
                GROUP BY {{keys}}
                """
        ),
        Report(
            "trial-conversion",
            version: 2,
            """
            Free trials that began in the days of the report, and how many continued with a \
            purchase that is not a trial. The percentage leaves out trials that are still running \
            and may yet convert.
            """,
            by: [.month, .product, .country, .offer],
            usual: [.month],
            columns: [
                .count("trial_starts"), .count("trial_conversions"), .count("running"),
                .percent("converted_percent"),
            ],
            sql: """
                SELECT {{by}}count(*) AS trial_starts,
                    count(*) FILTER (WHERE x.is_converted) AS trial_conversions,
                    count(*) FILTER (WHERE x.is_running) AS running,
                    round(10000.0 * count(*) FILTER (WHERE x.is_converted)
                        / nullif(count(*) FILTER (WHERE NOT x.is_running), 0))::bigint
                        AS converted_percent
                FROM (
                    SELECT \(purchaseColumns), coalesce(n.is_trial_conversion, false) AS is_converted,
                        n.start_time IS NULL AND t.effective_end_time > $4 AS is_running
                    FROM analytics.transactions t
                    LEFT JOIN LATERAL (
                        SELECT y.is_trial_conversion, y.start_time FROM analytics.transactions y
                        WHERE y.lane = t.lane AND y.environment = t.environment
                            AND y.original_transaction_id = t.original_transaction_id
                            AND y.ordinal > t.ordinal AND y.start_time <= $4
                        ORDER BY y.ordinal LIMIT 1
                    ) n ON true
                    WHERE t.environment = $3 AND t.is_trial_period
                        AND NOT t.is_shared AND \(isAskedDay)
                ) x
                GROUP BY {{keys}}
                """
        ),
        Report(
            "recovery",
            version: 2,
            """
            Failed renewals that entered billing grace or billing retry in the days of the report, \
            and how many of them recovered next. The percentage leaves out those that are still \
            open. A grace period that ends in billing retry counts in both.
            """,
            by: [.month, .product],
            usual: [],
            keys: [.text("billing_issue")],
            columns: [
                .count("entered"), .count("recovered"), .count("open"),
                .percent("recovered_percent"),
            ],
            sql: """
                SELECT {{by}}x.billing_issue, count(*) AS entered,
                    count(*) FILTER (WHERE x.next = 'billing_issue_recovered') AS recovered,
                    count(*) FILTER (WHERE x.next IS NULL) AS open,
                    round(10000.0 * count(*) FILTER (WHERE x.next = 'billing_issue_recovered')
                        / nullif(count(x.next), 0))::bigint AS recovered_percent
                FROM (
                    SELECT date_trunc('month', m.occurred_at AT TIME ZONE 'UTC') AS month,
                        m.product_identifier, n.movement AS next,
                        CASE WHEN m.apple_event_sub_type LIKE 'Grace Period%' THEN 'grace'
                            ELSE 'retry' END AS billing_issue
                    FROM analytics.movements m
                    LEFT JOIN LATERAL (
                        SELECT o.movement FROM analytics.movements o
                        WHERE o.lane = m.lane AND o.environment = m.environment
                            AND o.original_transaction_id = m.original_transaction_id
                            AND o.ordinal > m.ordinal AND o.occurred_at <= $4
                            AND (o.movement LIKE 'churn%' OR o.movement LIKE 'billing_issue%')
                        ORDER BY o.ordinal LIMIT 1
                    ) n ON true
                    WHERE m.environment = $3 AND m.movement = 'billing_issue_entered'
                        AND NOT m.is_shared
                        AND m.occurred_at >= $1::date::timestamp AT TIME ZONE 'UTC'
                        AND m.occurred_at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC'
                ) x
                GROUP BY {{keys}}
                """
        ),
    ]

    /// The last days of the requested months, and the last requested day, as `b.day`, each with the
    /// midnight after it.
    static let monthEnds = """
        (SELECT e.day, (e.day + 1)::timestamp AT TIME ZONE 'UTC' AS until
                    FROM (SELECT least((m + interval '1 month')::date - 1, $2::date) AS day
                        FROM generate_series(date_trunc('month', $1::date::timestamp),
                            $2::date::timestamp, interval '1 month') AS m) e) b
        """

    /// The purchases running at those midnights, as the daily snapshot counts them: the newest of
    /// several; of a period to which seats were added, all transactions together.
    ///
    /// Each purchase selects the few month ends that it covers; a call of the daily snapshot, or a
    /// join of days with purchases, is far slower.
    static let standing = """
        SELECT DISTINCT ON (b.day, t.lane, t.original_transaction_id) \(standingColumns){{of_purchase}}
                    FROM {{transactions}} t
                    CROSS JOIN LATERAL (
                        SELECT (u AT TIME ZONE 'UTC')::date - 1 AS day, u AS until
                        FROM (
                            SELECT m AT TIME ZONE 'UTC' AS u FROM generate_series(
                                interval '1 month' + date_trunc('month', greatest(
                                    t.start_time AT TIME ZONE 'UTC', $1::date::timestamp)),
                                least(t.effective_end_time AT TIME ZONE 'UTC',
                                    ($2::date + 1)::timestamp), interval '1 month') m
                            UNION ALL SELECT ($2::date + 1)::timestamp AT TIME ZONE 'UTC'
                            WHERE extract(day FROM $2::date + 1) <> 1
                        ) e
                        WHERE t.start_time < u AND t.effective_end_time >= u
                    ) b
                    WHERE t.environment = $3 AND t.start_time < t.effective_end_time
                        AND (t.is_paid OR t.is_trial_period
                            AND NOT t.is_shared)
                    ORDER BY b.day, t.lane, t.original_transaction_id, t.start_time DESC,
                        t.ordinal DESC
        """

    private static let standingColumns = """
        b.day, b.until, t.lane, t.original_transaction_id, t.product_identifier, t.country,
                        t.offer_type, t.currency, t.is_paid, t.is_trial_period, t.end_time,
                        CASE WHEN t.added_to_purchase_date_ms IS NULL THEN t.mrr_milliunits ELSE (
                            SELECT sum(x.mrr_milliunits)::bigint FROM {{transactions}} x
                            WHERE x.lane = t.lane AND x.environment = t.environment
                                AND x.original_transaction_id = t.original_transaction_id
                                AND t.added_to_purchase_date_ms
                                    IN (x.purchase_date_ms, x.added_to_purchase_date_ms)
                                AND x.start_time < b.until AND x.effective_end_time >= b.until
                        ) END AS mrr_milliunits
        """
}
