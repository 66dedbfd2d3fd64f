internal import EventLog
internal import Events
internal import Postgres

/// The SQL that converts and estimates money, which replaces the tables in a report's query.
///
/// Arithmetic is exact: rates and percentages are decimal numbers, and each purchase is rounded to
/// the milliunit, halves away from zero, before anything is summed.
struct ReportConversion {
    let money: ReportMoney
    /// Rates that were imported later do not count; nil for no limit.
    let recordedUntil: Instant?

    /// The parameters that follow those of every report.
    var parameters: [PostgresValue] {
        guard money.isAsked else { return [] }
        let taxes = money.taxPercents.sorted { $0.key < $1.key }
        return [
            money.currency.map { .text($0) } ?? .null,
            recordedUntil.map { .timestamptz(microseconds: $0.milliseconds * 1000) } ?? .null,
            .int4(Int32(money.rateDaysMax)), .textArray(taxes.map(\.key)),
            .textArray(taxes.map(\.value.text)),
        ]
    }

    /// The columns that are added to those of the report.
    var columns: [Report.Column] {
        (money.commission == nil ? [] : [.money("proceeds_estimate_milliunits")])
            + (money.currency == nil ? [] : [.text("rate_first_day"), .text("rate_last_day")])
    }

    /// Fills in a report's query: the placeholders in braces for tables, and for columns with a
    /// comma before each.
    func filling(_ query: String) -> String {
        let words = [
            "{{transactions}}": money.isAsked ? transactions : "analytics.transactions",
            "{{movements}}": money.isAsked ? movements : "analytics.movements",
            "{{of_purchase}}": estimate("t.proceeds_estimate") + days("t.rate_day", "t.rate_day"),
            "{{of_movement}}": estimate("0") + days("m.rate_day", "m.rate_day"),
            "{{of_customer}}": days("min(y.rate_first_day)", "max(y.rate_last_day)"),
            "{{totals}}": estimate("sum(x.proceeds_estimate_milliunits)::bigint")
                + days("min(x.rate_first_day)::text", "max(x.rate_last_day)::text"),
        ]
        return words.reduce(query) { $0.replacing($1.key, with: $1.value) }
    }

    /// Tables for the query's WITH clause, each with a comma before it.
    ///
    /// Days are joined with rates once; a look-up for each purchase is far slower.
    var tables: String {
        guard money.isAsked else { return "" }
        return """
            , rate_of_day AS MATERIALIZED (
                SELECT r.currency, r.day AS rate_day, d::date AS day, r.rate
                FROM (
                    SELECT k.currency, k.day, k.rate,
                        lead(k.day) OVER (PARTITION BY k.currency ORDER BY k.day) AS next_day
                    FROM (
                        SELECT DISTINCT ON (c.currency, c.day) c.currency, c.day, c.rate
                        FROM operation.currency_rate c
                        WHERE c.base_currency = $5::text
                            AND ($6::timestamptz IS NULL OR c.recorded_at <= $6::timestamptz)
                        ORDER BY c.currency, c.day, c.revision DESC
                    ) k
                ) r
                CROSS JOIN LATERAL generate_series(r.day::timestamp,
                    least(r.next_day - 1, r.day + $7::int)::timestamp, interval '1 day') d
            ), tax AS MATERIALIZED (
                SELECT country, percent::numeric
                FROM unnest($8::text[], $9::text[]) AS g (country, percent)
            )
            """
    }

    private func estimate(_ value: String) -> String {
        money.commission == nil ? "" : ", \(value) AS proceeds_estimate_milliunits"
    }

    private func days(_ first: String, _ last: String) -> String {
        money.currency == nil ? "" : ", \(first) AS rate_first_day, \(last) AS rate_last_day"
    }

    private static func rate(of row: String, on instant: String) -> String {
        """
        LEFT JOIN rate_of_day r ON r.currency = \(row).currency
            AND r.day = (\(row).\(instant) AT TIME ZONE 'UTC')::date
        """
    }

    private static func converted(_ amount: String) -> String {
        "CASE WHEN r.rate IS NULL THEN \(amount) ELSE round(\(amount) * r.rate)::bigint END"
    }

    // An amount without a rate keeps its currency.
    private static func currency(of row: String) -> String {
        "CASE WHEN r.rate IS NULL THEN \(row).currency ELSE $5::text END AS currency"
    }

    private var transactions: String {
        """
        (SELECT t.lane, t.environment, t.original_transaction_id, t.ordinal, t.purchase_date_ms,
                t.start_time, t.end_time, t.effective_end_time, t.product_identifier, t.country,
                t.offer_type, t.offer_discount_type, t.ownership_type, t.is_shared, t.is_paid,
                t.added_to_purchase_date_ms,
                t.is_trial_period, t.refunded_at, r.rate_day,
                \(ReportConversion.currency(of: "t")),
                \(ReportConversion.converted("t.purchase_price_milliunits"))
                    AS purchase_price_milliunits,
                \(ReportConversion.converted("t.price_milliunits")) AS price_milliunits,
                \(ReportConversion.converted("t.mrr_milliunits")) AS mrr_milliunits\(proceeds)
            FROM analytics.transactions t
            \(ReportConversion.rate(of: "t", on: "start_time"))\(service))
        """
    }

    private var movements: String {
        """
        (SELECT m.lane, m.environment, m.original_transaction_id, m.purchase_date_ms, m.movement,
                m.occurred_at, m.product_identifier, m.is_shared, r.rate_day,
                \(ReportConversion.currency(of: "m")),
                \(ReportConversion.converted("m.amount_milliunits")) AS amount_milliunits
            FROM analytics.movements m
            \(ReportConversion.rate(of: "m", on: "occurred_at")))
        """
    }

    private var proceeds: String {
        let share =
            switch money.commission {
            case nil: ""
            case .standard: "CASE WHEN s.paid_seconds >= 365 * 86400 THEN 85 ELSE 70 END"
            case .smallBusiness: "85"
            }
        guard !share.isEmpty else { return "" }
        return """
            , CASE WHEN t.price_milliunits IS NOT NULL THEN round(t.price_milliunits
                    * coalesce(r.rate, 1) * (100 - coalesce(x.percent, 0)) * \(share)
                    / 10000)::bigint ELSE 0 END AS proceeds_estimate
            """
    }

    // Paid service before a purchase, in the chain that no lapse of more than 60 days breaks:
    // without trials, grace periods, and time after a refund.
    private var service: String {
        guard let commission = money.commission else { return "" }
        let tax = "\n\nLEFT JOIN tax x ON x.country = t.country\n"
        guard commission == .standard else { return tax }
        return tax + """
            LEFT JOIN (
                SELECT p.lane, p.original_transaction_id, p.ordinal, sum(p.seconds) OVER (
                        PARTITION BY p.lane, p.original_transaction_id, p.chain ORDER BY p.ordinal
                        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS paid_seconds
                FROM (
                    SELECT y.lane, y.original_transaction_id, y.ordinal,
                        CASE WHEN y.is_paid THEN greatest(0, extract(epoch FROM
                            least(y.effective_end_time, y.end_time) - y.start_time))
                            ELSE 0 END AS seconds,
                        count(*) FILTER (WHERE y.gap_seconds > 60 * 86400) OVER (
                            PARTITION BY y.lane, y.original_transaction_id ORDER BY y.ordinal)
                            AS chain
                    FROM analytics.transactions y
                    WHERE y.environment = $3 AND y.is_auto_renewable
                ) p
            ) s ON s.lane = t.lane AND s.original_transaction_id = t.original_transaction_id
                AND s.ordinal = t.ordinal
            """
    }
}
