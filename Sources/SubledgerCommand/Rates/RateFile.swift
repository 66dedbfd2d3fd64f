import CommandSupport
import EventLog
import Foundation
import Subledger

/// Reads a list of exchange rates: the columns date, currency, base_currency and rate, in this
/// order or as named by a header; `-` is stdin.
struct RateFile {
    private var file: CSVFile
    private var columns: [String]?

    private static let names = ["date", "currency", "base_currency", "rate"]

    init(_ path: String) throws {
        file = try CSVFile(path)
    }

    /// The next lines; nil at the end.
    mutating func next() throws -> [Result<RateLine, RefusedLine>]? {
        try file.next()?.compactMap { try line(of: $0) }
    }

    // Nil for the header.
    private mutating func line(
        of record: CSVParser.Record
    ) throws -> Result<RateLine, RefusedLine>? {
        guard let fields = record.fields?.map({ $0.trimmingCharacters(in: .whitespaces) }) else {
            return .failure(RateFile.refused(record, CSVFile.malformedLine))
        }
        guard let columns else {
            let header = try header(fields)
            columns = header ?? RateFile.names
            return header == nil ? try line(of: record) : nil
        }
        guard fields.count == columns.count else {
            return .failure(
                RateFile.refused(
                    record,
                    "the line has \(counted(fields.count, "field")); expected "
                        + columns.joined(separator: ", ")
                )
            )
        }
        let values = Dictionary(zip(columns, fields)) { first, _ in first }
        do throws(RefusedLine) {
            return .success(
                RateLine(number: record.line, rate: try RateFile.rate(of: values, record))
            )
        } catch {
            return .failure(error)
        }
    }

    private static func rate(
        of values: [String: String],
        _ record: CSVParser.Record
    ) throws(RefusedLine) -> CurrencyRate {
        let (currency, base) = (values["currency"] ?? "", values["base_currency"] ?? "")
        for code in [currency, base] where !CurrencyRate.isCode(code) {
            throw refused(
                record,
                "invalid currency '\(code)': expected three capital letters (ISO 4217), as in EUR"
            )
        }
        guard let pair = CurrencyRate.Pair(currency, in: base) else {
            throw refused(
                record,
                "\(currency) is both the currency and the base currency; expected two different "
                    + "ones"
            )
        }
        let (day, number) = (values["date"] ?? "", values["rate"] ?? "")
        guard let key = CurrencyRate.Key(pair, day: day) else {
            throw refused(record, "invalid date '\(day)': expected a day such as 2026-01-31")
        }
        guard let rate = ExactDecimal(number) else {
            throw refused(
                record,
                "invalid rate '\(number)': expected a positive decimal number such as 1.0842, at "
                    + "most \(ExactDecimal.integerDigitsMax) digits before the point and "
                    + "\(ExactDecimal.decimalsMax) after it"
            )
        }
        return CurrencyRate(key, rate)
    }

    private static func refused(_ record: CSVParser.Record, _ message: String) -> RefusedLine {
        RefusedLine(line: record.line, reason: "malformed-line", message: message)
    }

    // Nil if the first line is data.
    private func header(_ fields: [String]) throws -> [String]? {
        let words = fields.map { $0.lowercased().replacing(" ", with: "_") }
        guard words.contains(where: RateFile.names.contains) else { return nil }
        guard words.sorted() == RateFile.names.sorted() else {
            throw Failure(
                Exit.badInput,
                "the header of \(file.place) is \(fields.joined(separator: ",")); expected "
                    + RateFile.names.joined(separator: ",")
            )
        }
        return words
    }
}
