/// Lines of one currency, or of none, over one axis.
///
/// No line depends on its colour alone: each has dashes of its own, and a title at every point.
struct ReportLinePicture {
    let report: ReportDocument
    let chart: ReportChart
    let series: [ReportChart.Series]
    let currency: String?

    private static let left = 110
    private static let width = 860
    private static let top = 14
    private static let height = 240
    private static let bottom = 26
    private static let right = 20
    private static let dashes = ["", "7 4", "2 3", "10 3 2 3", "4 2", "1 4"]

    /// The most labels on the axis that do not touch each other.
    private static let labelsMax = 9

    /// The figure: the picture, and the legend of its lines.
    var html: HTML {
        let (width, height) = (Self.left + Self.width + Self.right, Self.top + Self.height)
        let title = chart.column.title + (currency.map { ", \($0)" } ?? "")
        let pieces = series.enumerated().flatMap { [area($1, $0), line($1, $0), points($1, $0)] }
        return """
            <div class="figure" tabindex="0"><h2>\(title) by \(chart.axisTitle)</h2>
            <svg viewBox="0 0 \(width) \(height + Self.bottom)" role="img" \
            aria-label="\(title) by \(chart.axisTitle)">
            \(grid)
            \(labels)
            \(pieces)
            </svg>
            \(series.contains { !$0.name.isEmpty } ? [legend] : [])</div>
            """
    }

    private var legend: HTML {
        let items = series.enumerated().map { index, line -> HTML in
            """
            <li><svg viewBox="0 0 34 12" aria-hidden="true"><path class="line series-\(index)" \
            stroke-dasharray="\(Self.dashes[index])" d="M0 6 H34"/></svg>\(line.name)</li>
            """
        }
        return "<ul class=\"series\">\(items)</ul>"
    }

    /// The top of the scale, at a round number.
    private var scale: (top: Int64, step: Int64) {
        if chart.column.kind == .percent { return (10_000, 2_500) }
        let greatest = series.flatMap(\.values).compactMap { $0 }.max() ?? 0
        let unit: Int64 = chart.column.kind == .money ? 1_000 : 1
        var step = unit
        // 1, 2, 5, 10, 20, 50 …
        var index = 0
        while greatest / 4 > step, step < Int64.max / 10 {
            step = index % 3 == 1 ? step / 2 * 5 : step * 2
            index += 1
        }
        return (max(step, (max(greatest, 1) + step - 1) / step * step), step)
    }

    private var grid: [HTML] {
        let (top, step) = scale
        return stride(from: Int64(0), through: top, by: Int64.Stride(step)).map { value in
            """
            <line class="tick" x1="\(Self.left)" y1="\(y(value))" \
            x2="\(Self.left + Self.width)" y2="\(y(value))"/>\
            <text class="axis" text-anchor="end" x="\(Self.left - 8)" \
            y="\(y(value) + 4)">\(words(value))</text>
            """
        }
    }

    private func words(_ value: Int64) -> String {
        let isShare = chart.column.kind == .percent
        return report.text(
            of: chart.column,
            isShare ? .hundredths(value) : .integer(value),
            in: currency
        )
    }

    private var labels: [HTML] {
        let every = max(1, (chart.places.count + Self.labelsMax - 1) / Self.labelsMax)
        return stride(from: 0, to: chart.places.count, by: every).map { index in
            """
            <text class="axis" text-anchor="middle" x="\(x(index))" \
            y="\(Self.top + Self.height + 18)">\(chart.places[index].words)</text>
            """
        }
    }

    private func line(_ line: ReportChart.Series, _ index: Int) -> HTML {
        """
        <path class="line series-\(index)" stroke-dasharray="\(Self.dashes[index])" \
        d="\(path(line))"/>
        """
    }

    // Only if there is a single line without gaps.
    private func area(_ line: ReportChart.Series, _ index: Int) -> HTML {
        guard series.count == 1, line.values.count > 1, !line.values.contains(nil) else {
            return ""
        }
        let ends = "L\(x(line.values.count - 1)) \(y(0)) L\(x(0)) \(y(0)) Z"
        return "<path class=\"area series-\(index)\" d=\"\(path(line)) \(ends)\"/>"
    }

    private func points(_ line: ReportChart.Series, _ index: Int) -> HTML {
        HTML.joined(
            line.values.enumerated().compactMap { place, value -> HTML? in
                guard let value else { return nil }
                let name = line.name.isEmpty ? "" : "\(line.name), "
                let isPartial = line.partial.contains(place)
                return """
                    <circle class="series-\(index)\(isPartial ? " partial" : "")" cx="\(x(place))" cy="\(y(value))" r="\(chart.places.count > 60 ? 1 : 3)">\
                    <title>\(name)\(chart.places[place].words)\(isPartial ? "*" : ""): \
                    \(words(value))</title></circle>
                    """
            }
        )
    }

    // A gap where there is no value.
    private func path(_ line: ReportChart.Series) -> String {
        var isDrawing = false
        return line.values.enumerated().compactMap { index, value -> String? in
            guard let value else {
                isDrawing = false
                return nil
            }
            defer { isDrawing = true }
            return "\(isDrawing ? "L" : "M")\(x(index)) \(y(value))"
        }.joined(separator: " ")
    }

    private func x(_ index: Int) -> Int {
        let steps = chart.places.count - 1
        return Self.left + (steps == 0 ? Self.width / 2 : index * Self.width / steps)
    }

    private func y(_ value: Int64) -> Int {
        let share = min(max(Double(value) / Double(scale.top), 0), 1)
        return Self.top + Self.height - Int((share * Double(Self.height)).rounded())
    }
}

/// Rows without an axis, each as a bar.
struct ReportBarPicture {
    private let report: ReportDocument
    private let rows: ArraySlice<[String: ReportValue]>
    private let column: Report.Column?

    private static let left = 330
    private static let width = 560
    private static let rowHeight = 24

    /// The most characters of a name that fit next to its bar.
    private static let nameMax = 46

    /// The bars for the first rows of a report.
    init(_ report: ReportDocument, rowsMax: Int) {
        self.report = report
        rows = report.rows.prefix(rowsMax)
        // Money in several currencies has no common scale; counts have.
        let isMixed = Set(report.rows.map { report.currency(of: $0) }).count > 1
        let count = report.columns.first { $0.kind == .count }
        column = isMixed ? count ?? report.drawnColumn : report.drawnColumn
    }

    /// The figure.
    var html: HTML {
        guard let column else { return "" }
        let bars = ReportBars(report, column)
        let height = rows.count * Self.rowHeight + 4
        let lines = rows.enumerated().map { index, row -> HTML in
            let y = index * Self.rowHeight + 3
            let width = Int(bars.share(of: row) * Double(Self.width))
            let value = report.text(of: column, in: row)
            let name = report.columns.filter { $0.isLabel && $0.name != "currency" }
                .map { report.text(of: $0, in: row) }.joined(separator: ", ")
            let shown = name.count > Self.nameMax ? name.prefix(Self.nameMax - 1) + "…" : name[...]
            return """
                <g><title>\(name): \(value)</title>\
                <text text-anchor="end" x="\(Self.left - 8)" y="\(y + 14)">\(String(shown))</text>\
                <rect class="bar" x="\(Self.left)" y="\(y)" width="\(max(1, width))" height="18"/>\
                <text class="axis" x="\(Self.left + width + 6)" y="\(y + 14)">\(value)</text></g>
                """
        }
        let rest = report.rows.count - rows.count
        let more: [HTML] =
            rest == 0
            ? []
            : ["<p class=\"quiet\">\(counted(rest, "more row")) not drawn; the table lists all</p>"]
        return """
            <div class="figure" tabindex="0"><h2>\(column.title)</h2>
            <svg viewBox="0 0 \(Self.left + Self.width + 110) \(height)" role="img" \
            aria-label="\(column.title)">\(HTML.joined(lines))</svg>\(more)</div>
            """
    }
}
