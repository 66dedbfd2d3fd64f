extension ReportPicture {
    private static let cellHeight = 20
    // The widest cell; a narrower one than its number needs has only its colour.
    private static let cellMax = 44
    private static let digitWidth = 5.8
    // Narrower cells have no edges, which would hide their colours.
    private static let edgedMin = 12
    private static let heading = 20

    /// A row of cells for each cohort, and its height.
    func heatMap(_ panel: ReportChart.Panel) -> (height: Int, parts: [HTML]) {
        let width = max(1, min(Self.cellMax, Self.width / panel.places.count))
        let numbers = panel.series.flatMap(\.values).compactMap { $0 }.map(panel.scale.short)
        let hasNumbers =
            Double(numbers.map(\.count).max() ?? 0) * Self.digitWidth + 1 <= Double(width)
        let edge = width < Self.edgedMin ? " thin" : ""
        let digits = panel.places.last?.words.count ?? 1
        let room = 16 * (digits + 1) * Self.width / (width * panel.places.count)
        let labels = labelled(panel, every: room).map { place, words -> HTML in
            let x = Self.left + place * width + width / 2
            return "<text class=\"axis\" text-anchor=\"middle\" x=\"\(x)\" y=\"13\">\(words)</text>"
        }
        let corner: HTML = """
            <text class="axis" text-anchor="end" x="\(Self.left - 8)" y="13">first paid</text>
            """
        let rows = panel.series.enumerated().flatMap { index, cohort -> [HTML] in
            let y = Self.heading + index * Self.cellHeight
            let name = Month(cohort.name)?.words ?? cohort.name
            return [
                """
                <text class="axis" text-anchor="end" x="\(Self.left - 8)" y="\(y + 14)">\(name)</text>
                """
            ]
                + cohort.values.enumerated().compactMap { place, value -> HTML? in
                    guard let value else { return nil }
                    let x = Self.left + place * width
                    let isPartial = cohort.partial.contains(place)
                    let words =
                        "\(cohort.name)\(isPartial ? "*" : ""), \(panel.places[place].words): "
                        + chart.words(value, in: panel)
                    let number: HTML =
                        hasNumbers
                        ? """
                        <text class="number" text-anchor="middle" x="\(x + width / 2)" \
                        y="\(y + 14)">\(panel.scale.short(value))</text>
                        """ : ""
                    return """
                        <g><title>\(words)</title><rect class="cell\(isPartial ? " hollow" : edge)" \
                        x="\(x)" y="\(y)" width="\(width)" height="\(Self.cellHeight)" \
                        fill-opacity="\(opacity(Double(value), panel))"/>\(number)</g>
                        """
                }
        }
        return (Self.heading + panel.series.count * Self.cellHeight + 4, [corner] + labels + rows)
    }

    /// How dark a cell is: never so dark that its number cannot be read, and zero is not white.
    func opacity(_ value: Double, _ panel: ReportChart.Panel) -> String {
        let part = min(max(value / max(panel.scale.top, 1), 0), 1)
        return "\((5 + part * 60).rounded() / 100)"
    }

    private static let barHeight = 24
    // A longer name leaves no room for its bar.
    private static let nameMax = 60
    private static let valueWidth = 120

    /// A bar for each row, and their height.
    func bars(_ panel: ReportChart.Panel) -> (height: Int, parts: [HTML]) {
        let names = panel.series.map { bar in
            bar.name.count > Self.nameMax ? bar.name.prefix(Self.nameMax - 1) + "…" : bar.name[...]
        }
        let left = 8 + TimelineDrawing.characterWidth * max(8, names.map(\.count).max() ?? 0)
        let room = Self.left + Self.width - left - Self.valueWidth
        let parts = panel.series.enumerated().map { index, bar -> HTML in
            let y = index * Self.barHeight + 3
            let value = bar.values[0]
            let greatest = chart.column.kind == .percent ? panel.scale.top : greatest(panel)
            let part = max(0, Double(value ?? 0) / greatest)
            let width = Int((part * Double(room)).rounded())
            let words = value.map { chart.words($0, in: panel) } ?? "–"
            let box: HTML = """
                <rect class="bar" x="\(left)" y="\(y)" width="\(max(1, width))" height="18"/>
                """
            return """
                <g><title>\(bar.name): \(words)</title>\
                <text text-anchor="end" x="\(left - 8)" y="\(y + 14)">\(String(names[index]))</text>\
                \(part > 0 ? [box] : [])\
                <text class="axis" x="\(left + width + 6)" y="\(y + 14)">\(words)</text></g>
                """
        }
        return (panel.series.count * Self.barHeight + 4, parts)
    }

    private func greatest(_ panel: ReportChart.Panel) -> Double {
        Double(max(1, panel.series.compactMap { $0.values[0] }.max() ?? 1))
    }
}
