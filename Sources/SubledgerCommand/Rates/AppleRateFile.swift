import CommandSupport
import EventLog
import Subledger

/// The exchange rates of Apple's payment for one fiscal month, each for every day of that month.
///
/// The file is `financial_report.csv` of Payments and Financial Reports in App Store Connect, in
/// English. Above the table, a line names the month: `… (September, 2025)`. The table ends with an empty line;
/// there is another one for each further bank account. Currencies that Apple did not pay yet have no
/// rate.
struct AppleRateFile: RateFile {
    private var file: CSVFile
    private var month: FiscalMonth?
    private var columns: [String: Int] = [:]
    private var isTableFound = false
    private var first: [CurrencyRate.Pair: (line: Int, rate: ExactDecimal)] = [:]

    private static let months = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september",
        "october", "november", "december",
    ]
    private static let rateColumn = "exchangerate"
    private static let baseColumn = "bankaccountcurrency"

    init(_ path: String) throws {
        file = try CSVFile(path)
    }

    mutating func next() throws -> [Result<RateLine<CurrencyRate>, RefusedLine>]? {
        guard let records = try file.next() else {
            guard isTableFound || Interrupt.isRequested else {
                throw Failure(
                    Exit.badInput,
                    "\(file.place) has no table with the columns Exchange Rate and Bank Account "
                        + "Currency; expected financial_report.csv from Payments and Financial "
                        + "Reports in App Store Connect, in English"
                )
            }
            return nil
        }
        var lines: [Result<RateLine<CurrencyRate>, RefusedLine>] = []
        for record in records {
            do throws(RefusedLine) {
                lines += try rates(of: record).map { .success($0) }
            } catch {
                lines.append(.failure(error))
            }
        }
        return lines
    }

    private mutating func rates(
        of record: CSVFile.Record
    ) throws(RefusedLine) -> [RateLine<CurrencyRate>] {
        // Between tables there are titles and totals, which are not always well-formed.
        guard let fields = record.fields, let name = fields.first, !name.isEmpty else {
            columns = [:]
            return []
        }
        let names = fields.map(CSVTable.plain)
        if names.contains(AppleRateFile.rateColumn), names.contains(AppleRateFile.baseColumn) {
            columns = Dictionary(zip(names, fields.indices)) { first, _ in first }
            isTableFound = true
            return []
        }
        guard !columns.isEmpty else {
            if month == nil { month = AppleRateFile.month(in: name) }
            return []
        }
        guard let rate = try rate(record.line, name, fields) else { return [] }
        guard let month else {
            throw refusal(
                record.line,
                "no line above the table names the month, as in (September, 2025)"
            )
        }
        return month.days.compactMap { day in
            CurrencyRate.Key(rate.pair, day: day).map { key in
                RateLine(number: record.line, rate: CurrencyRate(key, rate.rate))
            }
        }
    }

    // Nil for a currency without a rate, for that of the bank account, and for one that is repeated.
    private mutating func rate(
        _ line: Int,
        _ name: String,
        _ fields: [String]
    ) throws(RefusedLine) -> (pair: CurrencyRate.Pair, rate: ExactDecimal)? {
        let number = field(AppleRateFile.rateColumn, fields).replacing(",", with: "")
        let base = field(AppleRateFile.baseColumn, fields)
        guard !number.isEmpty else { return nil }
        guard let currency = name.firstMatch(of: #/\(([A-Z]{3})\)$/#).map({ String($0.1) }),
            CurrencyRate.isCode(base), let rate = ExactDecimal(number)
        else {
            throw refusal(
                line,
                "expected a currency in parentheses, an exchange rate and the currency of the bank "
                    + "account; found '\(name)', '\(number)' and '\(base)'"
            )
        }
        guard let pair = CurrencyRate.Pair(currency, in: base) else { return nil }
        if let earlier = first[pair] {
            guard earlier.rate != rate else { return nil }
            throw refusal(
                line,
                "Apple converted \(currency) at \(rate.text) here and at \(earlier.rate.text) in "
                    + "line \(earlier.line); a currency can have one rate on a day"
            )
        }
        first[pair] = (line, rate)
        return (pair, rate)
    }

    private func field(_ name: String, _ fields: [String]) -> String {
        columns[name].flatMap { $0 < fields.count ? fields[$0] : nil } ?? ""
    }

    private func refusal(_ line: Int, _ message: String) -> RefusedLine {
        RefusedLine(line: line, reason: "malformed-line", message: message)
    }

    private static func month(in title: String) -> FiscalMonth? {
        guard let found = title.firstMatch(of: #/\(([A-Za-z]+),? +([0-9]{4})\)/#),
            let month = months.firstIndex(of: found.1.lowercased()), let year = Int(found.2)
        else { return nil }
        return FiscalMonth(named: month + 1, of: year)
    }
}
