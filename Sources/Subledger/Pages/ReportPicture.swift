/// The picture of a report as SVG: a figure for each panel.
///
/// No line depends on its colour alone: each has points and dashes of its own, and a title at every
/// point.
struct ReportPicture {
    let chart: ReportChart

    static let left = 84
    static let width = 880
    private static let right = 26
    private static let top = 10
    private static let height = 240
    // Between an end of the axis and the first or last point.
    private static let inset = 14
    private static let monthWidth = 66
    // More points than these are dots, and only those with a label have the shape of their line.
    private static let shapesMax = 60

    /// The figures, and notes on them.
    var html: [HTML] {
        let (panels, omitted) = chart.panels
        return panels.map(figure) + chart.notes(omitting: omitted).map(quiet)
    }

    private func quiet(_ note: String) -> HTML { "<p class=\"quiet\">\(note)</p>" }

    private func figure(_ panel: ReportChart.Panel) -> HTML {
        let title = chart.title(of: panel)
        let drawing: (height: Int, parts: [HTML]) =
            switch chart.shape {
            case .lines: (Self.top + Self.height + 26, lines(panel))
            case .heatMap: heatMap(panel)
            case .bars: bars(panel)
            }
        return """
            <div class="figure" tabindex="0"><h2>\(title)</h2>
            <svg viewBox="0 0 \(Self.left + Self.width + Self.right) \(drawing.height)" role="img" \
            aria-label="\(title)">
            \(HTML.joined(drawing.parts))
            </svg>
            \(legend(panel))\([chart.omission(panel)].compactMap { $0 }.map(quiet))</div>
            """
    }

    // The lines, the colours of a heat map, and what is hollow.
    private func legend(_ panel: ReportChart.Panel) -> [HTML] {
        let isNamed = chart.shape == .lines && panel.series.contains { !$0.name.isEmpty }
        var items = isNamed ? panel.series.enumerated().map { key($1, $0) } : []
        if chart.shape == .heatMap {
            items = panel.scale.ticks.filter { $0 >= 0 }.map { tick in
                item(
                    """
                    <rect class="cell" x="4" y="1" width="26" height="10" \
                    fill-opacity="\(opacity(tick, panel))"/>
                    """,
                    panel.scale.words(tick)
                )
            }
        }
        if panel.series.contains(where: { !$0.partial.isEmpty }) && chart.shape != .bars {
            let sample: HTML =
                chart.shape == .lines
                ? "<circle class=\"partial key-line\" cx=\"17\" cy=\"6\" r=\"3\"/>"
                : "<rect class=\"cell hollow\" x=\"4\" y=\"1\" width=\"26\" height=\"10\"/>"
            items.append(item(sample, "hollow: only a part of the \(chart.timeUnit) is counted"))
        }
        return items.isEmpty ? [] : ["<ul class=\"series\">\(items)</ul>"]
    }

    private func item(_ sample: HTML, _ words: String) -> HTML {
        """
        <li><svg viewBox="0 0 34 12" aria-hidden="true">\(sample)</svg>\(words)</li>
        """
    }

    private func key(_ line: ReportChart.Series, _ index: Int) -> HTML {
        let path: HTML = "<path class=\"\(style("line", line, index))\" d=\"M0 6 H34\"/>"
        return item("\(path)\(point(style("point", line, index), index, (17, 6), ""))", line.name)
    }

    private func style(_ kind: String, _ line: ReportChart.Series, _ index: Int) -> String {
        let dashes = kind == "line" && index >= ReportChart.seriesMax / 2 && !line.isRest
        return kind + (line.isRest ? " series-rest" : " series-\(index)")
            + (dashes ? " dashed" : "")
    }
}

extension ReportPicture {
    private func lines(_ panel: ReportChart.Panel) -> [HTML] {
        let isAlone = panel.series.count == 1
        return grid(panel) + axisLabels(panel)
            + panel.series.enumerated().reversed().flatMap { index, line -> [HTML] in
                let path = path(line, panel)
                let end =
                    "L\(x(panel.places.count - 1, panel)) \(y(0, panel)) L\(x(0, panel)) \(y(0, panel)) Z"
                let isWhole = isAlone && line.values.count > 1 && !line.values.contains(nil)
                let area: HTML = "<path class=\"area series-\(index)\" d=\"\(path) \(end)\"/>"
                return (isWhole ? [area] : [])
                    + ["<path class=\"\(style("line", line, index))\" d=\"\(path)\"/>"]
                    + points(line, index, panel)
            }
    }

    private func grid(_ panel: ReportChart.Panel) -> [HTML] {
        panel.scale.ticks.map { tick in
            """
            <line class="tick\(tick == 0 ? " zero" : "")" x1="\(Self.left)" y1="\(y(tick, panel))" \
            x2="\(Self.left + Self.width)" y2="\(y(tick, panel))"/>\
            <text class="axis" text-anchor="end" x="\(Self.left - 8)" \
            y="\(y(tick, panel) + 4)">\(panel.scale.words(tick))</text>
            """
        }
    }

    private func axisLabels(_ panel: ReportChart.Panel) -> [HTML] {
        labelled(panel, every: Self.monthWidth).map { place, words in
            """
            <text class="axis" text-anchor="middle" x="\(x(place, panel))" \
            y="\(Self.top + Self.height + 19)">\(words)</text>
            """
        }
    }

    /// The places with a label, of which none touches the next, at round numbers.
    ///
    /// - Parameters:
    ///   - panel: The panel.
    ///   - width: The room of the name of a month; numbers need half as much.
    /// - Returns: The places, each with its label.
    func labelled(
        _ panel: ReportChart.Panel,
        every width: Int
    ) -> [(place: Int, words: String)] {
        let found = panel.places.enumerated().compactMap { place, value -> (Int, Int, String)? in
            if case .integer(let number) = value, let count = Int(exactly: number) {
                return (place, count, "\(count)")
            }
            if let month = FiscalMonth(value) { return (place, month.number, month.text) }
            guard case .text(let text) = value, let month = Month(text) else { return nil }
            return (place, month.number, month.words)
        }
        // Of the weeks of a month, the first.
        var months: Set<Int> = []
        let firsts = found.filter { months.insert($0.1).inserted }
        let isMonths = chart.axis?.kind == .text
        let most = Self.width / max(1, isMonths ? width : width / 2)
        let steps =
            isMonths ? [1, 2, 3, 6, 12, 24, 60, 120] : [1, 2, 5, 10, 20, 50, 100, 200, 500]
        let step = steps.first { firsts.count <= most * $0 } ?? 1_000
        return firsts.filter { $0.1 % step == 0 }.map { ($0.0, $0.2) }
    }

    private func points(
        _ line: ReportChart.Series,
        _ index: Int,
        _ panel: ReportChart.Panel
    ) -> [HTML] {
        let shaped = Set(labelled(panel, every: Self.monthWidth).map(\.place))
        let isShort = panel.places.count <= Self.shapesMax
        return line.values.enumerated().compactMap { place, value -> HTML? in
            guard let value else { return nil }
            let isPartial = line.partial.contains(place)
            let words =
                (line.name.isEmpty ? "" : "\(line.name), ") + panel.places[place].words
                + (isPartial ? "*" : "") + ": " + chart.words(value, in: panel)
            let at = (x(place, panel), y(Double(value), panel))
            let style = style("point", line, index)
            guard isShort || isPartial || shaped.contains(place) else {
                return """
                    <circle class="\(style)" cx="\(at.0)" cy="\(at.1)" r="1"><title>\(words)</title>\
                    </circle>
                    """
            }
            return point(style + (isPartial ? " partial" : ""), index, at, words)
        }
    }

    // Four shapes, each with a line of its own and one with dashes.
    private func point(
        _ style: String,
        _ index: Int,
        _ at: (x: Int, y: Int),
        _ words: String
    ) -> HTML {
        let title: HTML = words.isEmpty ? "" : "<title>\(words)</title>"
        let path =
            switch index % 4 {
            case 1: "h7 v7 h-7 Z"
            case 2: "l5 5 l-5 5 l-5 -5 Z"
            case 3: "l5 8 h-10 Z"
            default: ""
            }
        guard !path.isEmpty else {
            return """
                <circle class="\(style)" cx="\(at.x)" cy="\(at.y)" r="3">\(title)</circle>
                """
        }
        let start = index % 4 == 1 ? "M\(at.x - 3) \(at.y - 3)" : "M\(at.x) \(at.y - 5)"
        return "<path class=\"\(style)\" d=\"\(start) \(path)\">\(title)</path>"
    }

    // A gap where there is no value.
    private func path(_ line: ReportChart.Series, _ panel: ReportChart.Panel) -> String {
        var isDrawing = false
        return line.values.enumerated().compactMap { place, value -> String? in
            guard let value else {
                isDrawing = false
                return nil
            }
            defer { isDrawing = true }
            return "\(isDrawing ? "L" : "M")\(x(place, panel)) \(y(Double(value), panel))"
        }.joined(separator: " ")
    }

    private func x(_ place: Int, _ panel: ReportChart.Panel) -> Int {
        let (steps, width) = (panel.places.count - 1, Self.width - 2 * Self.inset)
        return Self.left + Self.inset + (steps == 0 ? width / 2 : place * width / steps)
    }

    private func y(_ value: Double, _ panel: ReportChart.Panel) -> Int {
        let part = min(max(panel.scale.part(value), 0), 1)
        return Self.top + Self.height - Int((part * Double(Self.height)).rounded())
    }
}
