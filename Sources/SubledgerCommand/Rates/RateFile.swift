import EventLog
import Subledger

/// Reads a list of exchange rates: the columns date, currency, base_currency and rate, in this
/// order or as named by a header; `-` is stdin.
struct RateFile {
    private var table: CSVTable

    private static let columns = CSVTable.Columns(
        names: ["date", "currency", "base_currency", "rate"],
        requiredCount: 4,
        headerCountMin: 1,
        expected: "date,currency,base_currency,rate"
    )

    init(_ path: String) throws {
        table = try CSVTable(path, RateFile.columns)
    }

    /// The next lines; nil at the end.
    mutating func next() throws -> [Result<RateLine, RefusedLine>]? {
        try table.next { row throws(RefusedLine) in
            RateLine(number: row.line, rate: try RateFile.rate(of: row))
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
        guard let key = CurrencyRate.Key(pair, day: day) else {
            throw row.refused("invalid date '\(day)': expected a day such as 2026-01-31")
        }
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
