internal import Events
internal import Projections

extension ReportDocument {
    /// The report as CSV for Excel: money in units of its currency, times and days as Excel reads
    /// them, all other text as text.
    package var excelCSV: String {
        let header = columns.map { $0.name.replacing("_milliunits", with: "") }
        let lines = rows.map { row in columns.map { excelField(of: $0, in: row) } }
        let plain = columns.filter { $0.kind != .text || ["day", "week"].contains($0.name) }.map {
            $0.name.replacing("_milliunits", with: "")
        }
        return ([header] + lines).excelCSV(plain: Set(plain))
    }

    private func excelField(
        of column: Report.Column,
        in row: [String: ReportValue]
    ) -> String {
        let value = row[column.jsonName] ?? .none
        return switch (column.kind, value) {
        case (.money, .integer(let amount)): exact(amount, currency(of: row))
        case (.instant, .integer(let time)): Instant(milliseconds: time).clock(in: .utc)
        default: column.field(value)
        }
    }
}

extension ReportDocument {
    // Not rounded, so that sums in Excel are exact: a part of a price can have a third decimal.
    private func exact(_ amount: Int64, _ currency: String?) -> String {
        let written = CurrencyAmount(amount, currency)
        return written.rounded == amount ? written.number : CurrencyAmount(amount, nil).number
    }
}

extension GapsDocument {
    /// The gaps as CSV for Excel.
    package var excelCSV: String { rows.excelCSV(plain: ["since", "seconds"]) }
}

extension [[String]] {
    /// A header and lines as CSV for Excel, with the byte order mark by which it recognises UTF-8.
    ///
    /// - Parameter plain: The names of the columns whose values Excel may convert.
    /// - Returns: The text of the file.
    package func excelCSV(plain: Set<String>) -> String {
        let header = first ?? []
        let lines = dropFirst().map { line in
            zip(header, line).map { plain.contains($0) ? $1 : $1.excelText }
        }
        return "\u{FEFF}" + ([header] + lines).csv
    }
}

extension String {
    // The longest text that Excel accepts in a formula.
    private static let excelTextMax = 255

    /// The cell that Excel shows as this text: a formula, unless it consists of words.
    ///
    /// Otherwise Excel could read an id as a number or a date, and run what begins like a formula.
    package var excelText: String {
        let isWords =
            first?.isLetter == true && allSatisfy { $0.isLetter || " ._".contains($0) }
            && !["true", "false"].contains(lowercased())
        guard !isEmpty, !isWords else { return self }
        guard utf16.count <= String.excelTextMax else { return "'" + self }
        return "=\"" + replacing("\"", with: "\"\"") + "\""
    }
}
