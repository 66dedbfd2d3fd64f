internal import Events

extension ReportChart {
    /// What a panel shows: what, its unit, its scope, and what is counted when.
    func title(of panel: Panel) -> String {
        let names = common.filter { $0.name != "period_length" }.compactMap { panel.names[$0] }
        let words = [title] + names + [report.environment.word, scope] + [timeWords(panel)]
        let lines = shape == .heatMap ? [] : labels.map(\.title)
        let breakdown = lines.isEmpty ? "" : "by " + lines.joined(separator: ", ")
        return (words + [breakdown]).filter { !$0.isEmpty }.joined(separator: ", ")
    }

    /// What a place of an axis with days is: the end of a month, a month or a week.
    var timeUnit: String {
        switch axis?.name {
        case "week": "week"
        case "fiscal_month": "fiscal month"
        default: "month"
        }
    }

    // The months, if the report has the whole of the first and the last.
    private var scope: String {
        let (from, to) = (report.from, report.to)
        let next = Instant(to).map {
            Instant(milliseconds: $0.milliseconds + Instant.dayLength).day
        }
        guard from.hasSuffix("-01"), next?.hasSuffix("-01") ?? false else {
            return "\(from) to \(to)"
        }
        return "\(from.prefix(7)) to \(to.prefix(7))"
    }

    private func timeWords(_ panel: Panel) -> String {
        switch axis?.name {
        case "day": return "at the end of each month"
        case "month", "week", "fiscal_month": return "by " + timeUnit
        case nil: return ""
        default: break
        }
        let length = panel.names.first { $0.key.name == "period_length" }?.value
        let period = length.map { "period of " + ReportChart.lengthWords($0) } ?? "month"
        return shape == .heatMap
            ? "by month of the first payment and \(period) after it"
            : "by \(period) after the first payment"
    }

    // `P3M` is 3 months.
    private static func lengthWords(_ period: String) -> String {
        let units: [Character: String] = ["D": "day", "W": "week", "M": "month", "Y": "year"]
        guard let unit = period.last.flatMap({ units[$0] }),
            let count = Int(period.dropFirst().dropLast())
        else { return period }
        return counted(count, unit)
    }

    /// A value as a person reads it.
    func words(_ value: Int64, in panel: Panel) -> String {
        let currency = panel.names.first { $0.key.name == "currency" }?.value
        let value: ReportValue = column.kind == .percent ? .hundredths(value) : .integer(value)
        return report.text(of: column, value, in: currency)
    }

    /// What a picture leaves out; nil if nothing.
    func omission(_ panel: Panel) -> String? {
        guard panel.omitted > 0 else { return nil }
        let greatest = weighed.map { ", those with the greatest \($0.title)," } ?? ""
        return "\(counted(panel.series.count, shape == .bars ? "bar" : "line"))\(greatest) are "
            + "drawn; the table has \(panel.omitted) more"
    }

    /// What no picture shows, and what names leave out.
    func notes(omitting panels: Int) -> [String] {
        let more = "\(counted(panels, "more picture")) not drawn: the table has all rows"
        let short = "names of products are drawn without \(prefix)"
        return (panels > 0 ? [more] : []) + (prefix.isEmpty ? [] : [short])
    }
}

extension ReportChart {
    private static let eighths = Array("▁▂▃▄▅▆▇█")
    // The most rows of a table that are seen at a glance.
    private static let glanceMax = 12

    /// Blocks for each line or cohort of a panel, on one scale; none where a table shows as much.
    var blocks: [String] {
        let (panels, omitted) = panels
        let lines = panels.flatMap { panel -> [String] in
            let count = shape == .heatMap ? report.rows.count : panel.places.count
            guard count > ReportChart.glanceMax else { return [] }
            let scale = panel.scale
            let range = "▁ is \(scale.words(scale.bottom)), █ is \(scale.words(scale.top))"
            return ["\(title(of: panel)); \(range)"]
                + panel.series.map { " \(ReportChart.blocks($0, on: scale)) \($0.name)" }
                + [omission(panel)].compactMap { $0 }
        }
        return lines.isEmpty ? [] : lines + notes(omitting: omitted)
    }

    // With a sign after the last one, if its month is not whole.
    private static func blocks(_ line: Series, on scale: ReportScale) -> String {
        let end = line.values.lastIndex { $0 != nil } ?? -1
        var blocks = line.values.map { $0.map { block(scale.part(Double($0))) } ?? " " } + [" "]
        if line.partial.contains(end) { blocks[end + 1] = "*" }
        return String(blocks)
    }

    private static func block(_ part: Double) -> Character {
        eighths[min(eighths.count - 1, max(0, Int(part * Double(eighths.count))))]
    }
}

/// A bar for each row of a table in a terminal, for the column that is drawn.
struct ReportBars {
    private let column: Report.Column?
    /// The greatest number, which fills a bar; money has one for each currency.
    private var greatest: [ReportValue: Int64] = [:]

    /// The length of the longest bar, in columns of a terminal.
    private static let width: Int64 = 20

    private static let eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

    /// The bars of a report.
    init(_ report: ReportDocument) {
        column = report.drawn?.0
        guard let column else { return }
        for row in report.rows {
            guard let number = row[column.jsonName]?.number else { continue }
            // 100 percent.
            let whole = column.kind == .percent ? 10_000 : number
            greatest[scale(of: row)] = max(greatest[scale(of: row)] ?? 0, whole)
        }
    }

    /// The bar of a row; empty for zero and for negative numbers.
    func bar(of row: [String: ReportValue]) -> String {
        guard let column, let whole = greatest[scale(of: row)], whole > 0,
            let number = row[column.jsonName]?.number
        else { return "" }
        // Multiplied in full width, because sums of money are large.
        let part = min(max(number, 0), whole).multipliedFullWidth(by: ReportBars.width * 8)
        let eighths = Int(whole.dividingFullWidth((part.high, part.low)).quotient)
        return String(repeating: "█", count: eighths / 8) + ReportBars.eighths[eighths % 8]
    }

    private func scale(of row: [String: ReportValue]) -> ReportValue {
        column?.kind == .money ? row["currency"] ?? .none : .none
    }
}
