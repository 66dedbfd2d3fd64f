/// The picture of a report in a terminal: a bar for each row, for its share, otherwise its money,
/// otherwise its first number.
struct ReportBars {
    private let column: Report.Column?
    /// The greatest number by currency, which fills a bar.
    private var greatest: [ReportValue: Int64] = [:]

    /// The length of the longest bar, in columns of a terminal.
    private static let width: Int64 = 20

    private static let eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

    /// The bars of a report, for that column.
    init(_ report: ReportDocument, _ column: Report.Column?) {
        self.column = column
        guard let column else { return }
        for row in report.rows {
            guard let number = row[column.jsonName]?.number else { continue }
            let currency = row["currency"] ?? .none
            // 100 percent.
            let whole = column.kind == .percent ? 10_000 : number
            greatest[currency] = max(greatest[currency] ?? 0, whole)
        }
    }

    /// The share of the longest bar for a row: 0 for zero and for negative numbers.
    func share(of row: [String: ReportValue]) -> Double {
        part(of: row).map { Double($0.part) / Double($0.whole) } ?? 0
    }

    /// The bar of a row; empty for zero and for negative numbers.
    func bar(of row: [String: ReportValue]) -> String {
        guard let (part, whole) = part(of: row) else { return "" }
        // Multiplied in full width, because sums of money are large.
        let (high, low) = part.multipliedFullWidth(by: ReportBars.width * 8)
        let eighths = Int(whole.dividingFullWidth((high, low)).quotient)
        return String(repeating: "█", count: eighths / 8) + ReportBars.eighths[eighths % 8]
    }

    private func part(of row: [String: ReportValue]) -> (part: Int64, whole: Int64)? {
        guard let column, let whole = greatest[row["currency"] ?? .none], whole > 0,
            let number = row[column.jsonName]?.number
        else { return nil }
        return (min(max(number, 0), whole), whole)
    }
}

extension ReportDocument {
    /// The column that a picture shows: shares, otherwise money, otherwise the first count that is
    /// not a key.
    var drawnColumn: Report.Column? {
        [Report.Column.Kind.percent, .money, .count].lazy
            .compactMap { kind in
                columns.first { $0.kind == kind && !ReportChart.numberedAxes.contains($0.name) }
            }.first
    }
}
