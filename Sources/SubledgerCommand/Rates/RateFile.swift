import EventLog
import Subledger

/// A list of rates that is read line by line.
protocol RateFile {
    associatedtype Rate: ImportedRate

    /// The next lines; nil at the end.
    mutating func next() throws -> [Result<RateLine<Rate>, RefusedLine>]?
}

/// Exchange rates: the columns date, currency, base_currency and rate, in this order or as named by
/// a header; `-` is stdin.
struct CurrencyRateFile: RateFile {
    private var table: CSVTable

    private static let columns = CSVTable.Columns(
        names: ["date", "currency", "base_currency", "rate"],
        requiredCount: 4,
        headerCountMin: 1,
        expected: "date,currency,base_currency,rate"
    )

    init(_ path: String) throws {
        table = try CSVTable(path, CurrencyRateFile.columns)
    }

    mutating func next() throws -> [Result<RateLine<CurrencyRate>, RefusedLine>]? {
        try table.next { row throws(RefusedLine) in
            RateLine(number: row.line, rate: try CurrencyRateFile.rate(of: row))
        }
    }

    private static func rate(of row: CSVTable.Row) throws(RefusedLine) -> CurrencyRate {
        let (currency, base) = (row["currency"], row["base_currency"])
        for code in [currency, base] where !CurrencyRate.isCode(code) {
            throw row.refused(
                "invalid currency '\(code)': expected three capital letters (ISO 4217), as in EUR"
            )
        }
        guard let pair = CurrencyRate.Pair(currency, in: base) else {
            throw row.refused(
                "\(currency) is both the currency and the base currency; expected two different "
                    + "ones"
            )
        }
        let (day, number) = (row["date"], row["rate"])
        guard let key = CurrencyRate.Key(pair, day: day) else { throw row.invalid(day: day) }
        guard let rate = ExactDecimal(number) else {
            throw row.refused(
                "invalid rate '\(number)': expected a positive decimal number such as 1.0842, at "
                    + "most \(ExactDecimal.integerDigitsMax) digits before the point and "
                    + "\(ExactDecimal.decimalsMax) after it"
            )
        }
        return CurrencyRate(key, rate)
    }
}

/// Rates of commission and tax: the columns storefront, from, commission_percent, tax_percent and, if
/// needed, commission_after_year_percent.
struct ProceedsRateFile: RateFile {
    private var table: CSVTable

    private static let columns = CSVTable.Columns(
        names: [
            "storefront", "from", "commission_percent", "tax_percent",
            "commission_after_year_percent",
        ],
        requiredCount: 4,
        headerCountMin: 1,
        expected: "storefront,from,commission_percent,tax_percent"
            + "[,commission_after_year_percent]"
    )

    init(_ path: String) throws {
        table = try CSVTable(path, ProceedsRateFile.columns)
    }

    mutating func next() throws -> [Result<RateLine<ProceedsRate>, RefusedLine>]? {
        try table.next { row throws(RefusedLine) in
            RateLine(number: row.line, rate: try ProceedsRateFile.rate(of: row))
        }
    }

    private static func rate(of row: CSVTable.Row) throws(RefusedLine) -> ProceedsRate {
        let (storefront, day) = (row["storefront"], row["from"])
        let every = ProceedsRate.Key.everyStorefront
        guard storefront == every || CurrencyRate.isCode(storefront) else {
            throw row.refused(
                "invalid storefront '\(storefront)': expected its country, three capital letters "
                    + "(ISO 3166-1) as in DEU, or \(every) for all others"
            )
        }
        guard let key = ProceedsRate.Key(storefront: storefront, day: day) else {
            throw row.invalid(day: day)
        }
        let later = "commission_after_year_percent"
        return ProceedsRate(
            key,
            ProceedsRate.Value(
                commissionPercent: try percent("commission_percent", of: row),
                commissionAfterYearPercent: row[later].isEmpty
                    ? nil : try percent(later, of: row),
                taxPercent: try percent("tax_percent", of: row)
            )
        )
    }

    private static func percent(
        _ name: String,
        of row: CSVTable.Row
    ) throws(RefusedLine) -> Percent {
        guard let percent = Percent(row[name]) else {
            throw row.refused(
                "invalid \(name) '\(row[name])': expected a decimal number from 0 to less than 100, "
                    + "such as 15.97"
            )
        }
        return percent
    }
}

extension CSVTable.Row {
    /// The refusal of this row for its day.
    func invalid(day: String) -> RefusedLine {
        refused("invalid date '\(day)': expected a day such as 2026-01-31")
    }
}
