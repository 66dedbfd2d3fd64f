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
        (money.commission == nil ? [] : [.number("proceeds_estimate_milliunits")])
            + (money.commission == .rates ? [.number("net_without_rate_milliunits")] : [])
            + (money.currency == nil ? [] : [.key("rate_first_day"), .key("rate_last_day")])
    }

    /// Fills in a report's query: the placeholders in braces for tables, and for columns with a
    /// comma before each.
    func filling(_ query: String) -> String {
        let words = [
            "{{transactions}}": transactions(of: "analytics.transactions"),
            "{{purchases_until}}": transactions(
                of: ReportSQL.text(embeddedFile("part-purchases-until.sql"))
            ),
            "{{movements}}": money.isAsked
                ? ReportSQL.text(embeddedFile("part-converted-movements.sql"))
                : "analytics.movements",
            "{{plan_changes}}": planChanges,
            // What one unit of a purchase's currency is worth, for amounts that it comes with.
            "{{rate}}": money.isAsked ? "coalesce(t.rate, 1)" : "1",
            "{{of_purchase}}": estimate("t.proceeds_estimate", without: "t.net_without_rate")
                + days("t.rate_day", "t.rate_day"),
            "{{of_movement}}": estimate("0", without: "0") + days("m.rate_day", "m.rate_day"),
            "{{of_plan_change}}": estimate("0", without: "0") + days("c.rate_day", "c.rate_day"),
            "{{of_cohort}}": days("t.rate_first_day", "t.rate_last_day"),
            "{{of_customer}}": days("min(y.rate_first_day)", "max(y.rate_last_day)"),
            "{{totals}}": estimate(
                "sum(x.proceeds_estimate_milliunits)::bigint",
                without: "sum(x.net_without_rate_milliunits)::bigint"
            )
                + days("min(x.rate_first_day)::text", "max(x.rate_last_day)::text"),
        ]
        return words.reduce(query) { $0.replacing($1.key, with: $1.value) }
    }

    private var planChanges: String {
        let changes = ReportSQL.text(ReportSQL.shared("{{upgrade_refunds}}").file)
        guard money.isAsked else { return changes }
        return ReportSQL.text(embeddedFile("part-converted-plan-changes.sql"))
            .replacing("{{source}}", with: changes)
    }

    /// Tables for the query's WITH clause, each with a comma before it.
    var tables: String {
        money.isAsked ? ReportSQL.text(embeddedFile("part-rates.sql")) : ""
    }

    private func estimate(_ value: String, without net: String) -> String {
        guard let commission = money.commission else { return "" }
        return ", \(value) AS proceeds_estimate_milliunits"
            + (commission == .rates ? ", \(net) AS net_without_rate_milliunits" : "")
    }

    private func days(_ first: String, _ last: String) -> String {
        money.currency == nil ? "" : ", \(first) AS rate_first_day, \(last) AS rate_last_day"
    }

    private func transactions(of source: String) -> String {
        guard money.isAsked else { return source }
        var (proceeds, service) = ("", "")
        if let commission = money.commission {
            let isAfterYear = "s.paid_seconds >= 365 * 86400"
            let share =
                switch commission {
                case .standard: "CASE WHEN \(isAfterYear) THEN 85 ELSE 70 END"
                case .smallBusiness: "85"
                case .rates:
                    "(100 - CASE WHEN \(isAfterYear) THEN x.commission_after_year_percent "
                        + "ELSE x.commission_percent END)"
                }
            proceeds = ReportSQL.text(embeddedFile("part-proceeds.sql"))
                .replacing("{{share}}", with: share)
                .replacing(
                    "{{has_rate}}",
                    with: commission == .rates ? "x.storefront IS NOT NULL" : "true"
                )
            let taxes =
                commission == .rates
                ? ReportSQL.text(embeddedFile("part-proceeds-rate.sql"))
                : "LEFT JOIN tax x ON x.country = t.country"
            let years =
                commission == .smallBusiness
                ? "" : ReportSQL.text(embeddedFile("part-paid-service.sql"))
            service = "\n\(taxes)\n\(years)"
        }
        return ReportSQL.text(embeddedFile("part-converted-transactions.sql"))
            .replacing("{{source}}", with: source)
            .replacing("{{proceeds}}", with: proceeds).replacing("{{service}}", with: service)
    }
}
