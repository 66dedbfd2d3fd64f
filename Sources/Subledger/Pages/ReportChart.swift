/// The rows of a report as lines, over time or over numbers of periods.
struct ReportChart {
    /// The column that the lines show.
    let column: Report.Column
    /// The column of the axis.
    let axis: Report.Column
    /// The places on the axis, from the first to the last.
    let places: [ReportValue]
    /// The lines, greatest first; at most `seriesMax` for each currency.
    let series: [Series]
    /// Lines that are left out.
    let omitted: Int

    /// A line.
    struct Series {
        /// What its rows have in common; empty if it is the only line.
        let name: String
        /// The currency of its money; nil if it shows no money.
        let currency: String?
        /// Its value at each place; nil if there is none, or if the time of the place has not come.
        let values: [Int64?]
        /// The places of days and months that are not whole.
        let partial: Set<Int>
    }

    /// The columns with numbers of periods, which can be an axis.
    static let numberedAxes = ["period_number", "month_number"]

    /// The most lines that can be distinguished.
    static let seriesMax = 6

    /// The lines of a report; nil if its rows have no axis.
    init?(_ report: ReportDocument) {
        let axes = ReportChart.numberedAxes + ["day", "week", "month"]
        let found = axes.lazy.compactMap { name in report.columns.first { $0.name == name } }.first
        guard let axis = found, let column = report.drawnColumn, !report.rows.isEmpty else {
            return nil
        }
        self.axis = axis
        self.column = column
        let places = ReportChart.places(report.rows.map { $0[axis.jsonName] ?? .none })
        let isMoney = column.kind == .money
        let keys = report.columns.filter { $0.isLabel && $0 != axis }
        let named = keys.indices.filter { !isMoney || keys[$0].name != "currency" }
        var groups: [[String]: [[String: ReportValue]]] = [:]
        for row in report.rows {
            groups[keys.map { report.text($0, in: row) }, default: []].append(row)
        }
        let span = ReportSpan(report)
        let all = groups.map { name, rows -> Series in
            let found = Dictionary(rows.map { ($0[axis.jsonName] ?? .none, $0) }) { $1 }
            return Series(
                name: named.map { name[$0] }.joined(separator: ", "),
                currency: isMoney ? report.currency(of: rows[0]) : nil,
                values: places.map { place in
                    if let row = found[place] { return row[column.jsonName]?.number }
                    // A missing row means zero, except for a share, which is then undefined, and
                    // for the future.
                    let isZero =
                        column.kind != .percent
                        && span.hasCome(rows[0].merging([axis.jsonName: place]) { $1 })
                    return isZero ? 0 : nil
                },
                partial: Set(
                    places.indices.filter { found[places[$0]].map(\.isPartial) ?? false }
                )
            )
        }.sorted { ($0.total, $1.name) > ($1.total, $0.name) }
        var counts: [String?: Int] = [:]
        self.places = places
        series = all.filter { line in
            counts[line.currency, default: 0] += 1
            return counts[line.currency, default: 0] <= ReportChart.seriesMax
        }
        omitted = all.count - series.count
    }

    // Adds the months without any row.
    private static func places(_ found: [ReportValue]) -> [ReportValue] {
        let sorted = Set(found).sorted { $0.isBefore($1) }
        guard let first = sorted.first.flatMap(Month.init),
            let last = sorted.last.flatMap(Month.init), first <= last
        else { return sorted }
        return (first.number...last.number).map { .text(Month(number: $0).text) }
    }

    /// What the axis counts: months if each of its days is of another month.
    var axisTitle: String {
        guard axis.name == "day", places.count > 1 else { return axis.title }
        let months = Set(places.map { $0.words.prefix(7) })
        return months.count == places.count ? "month" : axis.title
    }

    /// Whether there are more rows than a table shows at a glance.
    var isLong: Bool { places.count > 12 }
}

extension ReportChart.Series {
    fileprivate var total: Int64 {
        values.reduce(0) { $0.addingReportingOverflow($1 ?? 0).partialValue }
    }
}

extension ReportChart {
    private static let eighths = Array("▁▂▃▄▅▆▇█")

    /// A row of blocks for each line, from zero to its greatest value.
    var sparklines: [String] {
        let words =
            "\(column.title) by \(axisTitle), \(places.first?.words ?? "") to "
            + "\(places.last?.words ?? "")"
            + (series.contains { $0.partial.contains(places.count - 1) } ? "*" : "")
        return [words + (omitted > 0 ? "; \(omitted) more not drawn" : "")]
            + series.map { line in
                let greatest = max(line.values.compactMap { $0 }.max() ?? 0, 1)
                let blocks = line.values.map { value in
                    value.map { ReportChart.block($0, of: greatest) } ?? " "
                }
                let name = [line.currency, line.name].compactMap { $0 }.filter { !$0.isEmpty }
                return " \(String(blocks))  \(name.joined(separator: " "))"
            }
    }

    private static func block(_ value: Int64, of greatest: Int64) -> Character {
        let share = Double(max(value, 0)) / Double(greatest)
        return eighths[min(eighths.count - 1, Int(share * Double(eighths.count)))]
    }
}

extension ReportValue {
    /// The value as a number; nil for text and for no value.
    var number: Int64? {
        switch self {
        case .integer(let number), .hundredths(let number): number
        case .none, .text, .flag: nil
        }
    }

    /// The value as a place on an axis.
    var words: String {
        switch self {
        case .none: "–"
        case .text(let text): text
        case .integer(let number), .hundredths(let number): "\(number)"
        case .flag(let isSo): "\(isSo)"
        }
    }

    /// Whether it comes before another one of the same column; no value comes last.
    func isBefore(_ other: ReportValue) -> Bool {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): left < right
        case (.none, _): false
        case (_, .none): true
        default: words.utf8.lexicographicallyPrecedes(other.words.utf8)
        }
    }
}
