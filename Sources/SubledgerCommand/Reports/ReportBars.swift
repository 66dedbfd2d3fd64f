import Subledger

/// The picture of a report in a terminal: a bar for each row, of its share, else of its money, else
/// of its first number.
struct ReportBars {
    private let column: Report.Column?
    /// The greatest number by currency, which fills a bar.
    private var greatest: [ReportValue: Int64] = [:]

    /// Columns of a terminal that the longest bar takes.
    private static let width: Int64 = 20

    private static let eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

    /// The bars of a report.
    init(_ report: ReportDocument) {
        column =
            [Report.Column.Kind.percent, .money, .count].lazy
            .compactMap { kind in report.columns.first { $0.kind == kind } }.first
        guard let column else { return }
        for row in report.rows {
            let currency = row["currency"] ?? .none
            switch row[column.jsonName] {
            // All of something.
            case .hundredths: greatest[currency] = 10_000
            case .integer(let number):
                greatest[currency] = max(greatest[currency] ?? 0, number)
            default: break
            }
        }
    }

    /// The bar of a row; empty for nothing, and for less than nothing.
    func bar(of row: [String: ReportValue]) -> String {
        guard let column, let whole = greatest[row["currency"] ?? .none], whole > 0 else {
            return ""
        }
        let part: Int64
        switch row[column.jsonName] {
        case .hundredths(let number), .integer(let number): part = min(max(number, 0), whole)
        default: return ""
        }
        // Multiplied in full width: sums of money are great.
        let (high, low) = part.multipliedFullWidth(by: ReportBars.width * 8)
        let eighths = Int(whole.dividingFullWidth((high, low)).quotient)
        return String(repeating: "█", count: eighths / 8) + ReportBars.eighths[eighths % 8]
    }
}
