/// What the picture of a report shows: lines over an axis, cohorts as a heat map, or bars.
///
/// Pages draw it as SVG, a terminal with blocks.
struct ReportChart {
    /// The report.
    let report: ReportDocument
    /// The column that is drawn.
    let column: Report.Column
    /// What that column says, as the beginning of a title.
    let title: String
    /// How it is drawn.
    let shape: Shape
    /// The column of the axis; nil for bars.
    let axis: Report.Column?
    /// Whether the axis counts periods since the first payment.
    let isOfCohorts: Bool
    /// The columns that name a panel.
    let common: [Report.Column]
    /// The columns that name a line, a row of a heat map, or a bar.
    let labels: [Report.Column]
    /// The beginning that all products share, which their names leave out; empty if there is none.
    let prefix: String

    /// A way to draw.
    enum Shape { case lines, heatMap, bars }

    /// What has one scale: rows of one currency, and of periods of one length.
    struct Panel {
        /// The values of the columns that name it.
        let names: [Report.Column: String]
        /// The places on its axis, from the first to the last; one for bars.
        let places: [ReportValue]
        /// The lines and bars, greatest first, or the rows of a heat map, oldest first.
        let series: [Series]
        /// How many more there are, which have no sum.
        let omitted: Int
        /// The scale.
        let scale: ReportScale
        /// What decides which panels are drawn: how many things they are about.
        let weight: Int64
    }

    /// A line, a row of a heat map, or a bar.
    struct Series {
        /// What its rows have in common; empty if it is the only one.
        let name: String
        /// Its value at each place; nil if there is none, or if the time of the place has not come.
        let values: [Int64?]
        /// The places with a value of a day, a week or a month that is not whole.
        let partial: Set<Int>
        /// What decides which are drawn: the total, of shares that of the things in them.
        let weight: Int64
        /// Whether it is the sum of all that have no line of their own.
        var isRest = false
    }

    /// The columns with numbers of periods, which can be an axis.
    static let numberedAxes = ["period_number", "month_number"]

    /// The most lines of a panel that can be distinguished.
    static let seriesMax = 8
    /// The most bars of a panel.
    static let barsMax = 30
    /// The most panels, each of another currency, length or product.
    static let panelsMax = 12
    // A weekly subscription of 38 years; a longer axis is not filled.
    private static let placesMax: Int64 = 2_000

    /// The picture of a report; nil if it has no rows or no numbers.
    init?(_ report: ReportDocument) {
        let axes = ReportChart.numberedAxes + ["day", "week", "fiscal_month", "month"]
        let axis = axes.lazy.compactMap { name in report.columns.first { $0.name == name } }.first
        guard !report.rows.isEmpty, let drawn = report.drawn else { return nil }
        self.report = report
        self.axis = axis
        isOfCohorts = axis.map { ReportChart.numberedAxes.contains($0.name) } ?? false
        shape = axis == nil ? .bars : isOfCohorts && report.by.contains(.month) ? .heatMap : .lines
        (column, title) = axis == nil ? report.comparable(drawn) : drawn
        let (isMap, isMoney) = (shape == .heatMap, column.kind == .money)
        let names = report.columns.filter { $0.isLabel && $0 != axis }
        let shared = names.filter { label in
            label.name == "period_length" || isMoney && label.name == "currency"
                || isMap && label.name != "month"
        }
        common = shared
        labels = names.filter { !shared.contains($0) }
        prefix = report.productPrefix
    }
}

extension ReportChart {
    /// The panels, those of the most things first, and how many more there are.
    var panels: (drawn: [Panel], omitted: Int) {
        let groups = Dictionary(grouping: report.rows) { row in common.map { name($0, row) } }
        let all = groups.map { names, rows -> ([String], Panel) in
            let places = places(of: rows)
            let (series, omitted) = limited(series(of: rows, at: places))
            let scale = ReportScale(
                series.flatMap(\.values).compactMap { $0 },
                of: column.kind,
                isWhole: shape == .bars || shape == .lines && isOfCohorts
            )
            let panel = Panel(
                names: Dictionary(uniqueKeysWithValues: zip(common, names)),
                places: places,
                series: series,
                omitted: omitted,
                scale: scale,
                weight: weight(of: rows, report.countedThings)
            )
            return (names, panel)
        }.sorted { ($1.1.weight, $0.0.joined()) < ($0.1.weight, $1.0.joined()) }
        let drawn = all.prefix(ReportChart.panelsMax).map(\.1)
        return (drawn, all.count - drawn.count)
    }

    // With the months, weeks and numbers that have no row. Panels share months, but not the number of
    // periods: there are four times as many weeks as months.
    private func places(of rows: [[String: ReportValue]]) -> [ReportValue] {
        let sorted = Set((isOfCohorts ? rows : report.rows).map(place)).sorted { $0.isBefore($1) }
        guard let first = sorted.first, let last = sorted.last else { return [] }
        if axis?.name == "week" {
            return ReportSpan(from: first.words, to: last.words, asOf: report.asOf).weeks
        }
        if let first = FiscalMonth(first), let last = FiscalMonth(last), first <= last,
            last.number - first.number < ReportChart.placesMax
        {
            return FiscalMonth.values(first, through: last)
        }
        if let first = Month(first), let last = Month(last), first <= last,
            last.number - first.number < ReportChart.placesMax
        {
            return (first.number...last.number).map { .text(Month(number: $0).text) }
        }
        guard case .integer(let first) = first, case .integer(let last) = last, 0 <= first,
            last - first < ReportChart.placesMax
        else { return sorted }
        return (first...last).map { .integer($0) }
    }

    /// The column that decides which lines and bars are drawn.
    var weighed: Report.Column? { column.kind == .percent ? report.countedThings : column }

    private func series(
        of rows: [[String: ReportValue]],
        at places: [ReportValue]
    ) -> [Series] {
        let span = ReportSpan(report)
        let groups = Dictionary(grouping: rows) { row in labels.map { name($0, row) } }
        return groups.map { names, rows in
            let found = Dictionary(rows.map { row in (place(of: row), row) }) { $1 }
            let values = places.map { place -> Int64? in
                if let row = found[place] { return row[column.jsonName]?.number }
                // A missing row means zero, except for a share, which is then undefined, and for
                // the future.
                guard let axis, column.kind != .percent,
                    span.hasCome(rows[0].merging([axis.jsonName: place]) { $1 })
                else { return nil }
                return 0
            }
            // A place without a row is as whole as its row would be.
            let partial = places.indices.filter { index in
                guard let axis, values[index] != nil else { return false }
                return span.isPartial(rows[0].merging([axis.jsonName: places[index]]) { $1 })
            }
            return Series(
                name: names.joined(separator: ", "),
                values: values,
                partial: Set(partial),
                weight: weight(of: rows, weighed)
            )
        }
    }

    // All cohorts of a heat map; otherwise as many as can be told apart, and the sum of the rest.
    private func limited(_ all: [Series]) -> (series: [Series], omitted: Int) {
        if shape == .heatMap { return (all.sorted { $0.name < $1.name }, 0) }
        let sorted = all.sorted { ($1.weight, $0.name) < ($0.weight, $1.name) }
        let most = shape == .bars ? ReportChart.barsMax : ReportChart.seriesMax
        let (drawn, rest) = (Array(sorted.prefix(most)), sorted.dropFirst(most))
        guard shape == .lines, column.kind != .percent, !rest.isEmpty else {
            return (drawn, rest.count)
        }
        let sums = rest[most].values.indices.map { place -> Int64? in
            let values = rest.compactMap { $0.values[place] }
            return values.isEmpty ? nil : values.reduce(0) { $0.addingSaturated($1) }
        }
        let others = Series(
            name: counted(rest.count, "other"),
            values: sums,
            partial: rest.reduce(into: []) { $0.formUnion($1.partial) },
            weight: 0,
            isRest: true
        )
        return (drawn + [others], 0)
    }

    private func place(of row: [String: ReportValue]) -> ReportValue {
        axis.flatMap { row[$0.jsonName] } ?? .none
    }

    private func weight(of rows: [[String: ReportValue]], _ column: Report.Column?) -> Int64 {
        guard let column else { return 0 }
        return rows.reduce(0) { $0.addingSaturated($1[column.jsonName]?.number ?? 0) }
    }

    // A product without what all products begin with.
    private func name(_ column: Report.Column, _ row: [String: ReportValue]) -> String {
        let text = report.text(column, in: row)
        return column.isProduct && text.hasPrefix(prefix)
            ? String(text.dropFirst(prefix.count)) : text
    }
}

extension ReportDocument {
    /// The column that a picture shows, with the beginning of its title: as the report declares,
    /// otherwise its closing balance, a share, money, or a number of things.
    var drawn: (Report.Column, String)? {
        let declared = Report.named(name)?.drawn
        if let declared, let column = columns.first(where: { $0.name == declared.column }) {
            return (column, declared.title)
        }
        let numbers = columns.filter {
            [.percent, .money, .count].contains($0.kind)
                && !ReportChart.numberedAxes.contains($0.name)
        }
        let column =
            numbers.first { $0.name.hasPrefix("closing_") }
            ?? numbers.first { $0.kind == .percent } ?? numbers.first { $0.kind == .money }
            ?? numbers.first
        return column.map { ($0, "\(name.replacing("-", with: " ").capitalised): \($0.title)") }
    }

    /// The column, or the number of things if no two of its amounts can be compared.
    fileprivate func comparable(_ drawn: (Report.Column, String)) -> (Report.Column, String) {
        let currencies = Set(rows.map { currency(of: $0) })
        guard drawn.0.kind == .money, currencies.count > 1, currencies.count == rows.count,
            let column = countedThings
        else { return drawn }
        return (column, column.title.replacing(" count", with: "").capitalised)
    }

    /// The column with the number of things that a row is about: the whole of a share.
    fileprivate var countedThings: Report.Column? {
        columns.first { $0.kind == .count && !ReportChart.numberedAxes.contains($0.name) }
    }

    /// What all names of products have in common, up to a dot; empty if there is a single one.
    fileprivate var productPrefix: String {
        let products = columns.filter(\.isProduct)
        let names = Set(rows.flatMap { row in products.map { text($0, in: row) } })
            .filter { $0 != "–" }
        guard names.count > 1, let first = names.min(), let last = names.max() else { return "" }
        let common = zip(first, last).prefix { $0 == $1 }.map(\.0)
        return common.lastIndex(of: ".").map { String(common[...$0]) } ?? ""
    }
}

extension Report.Column {
    fileprivate var isProduct: Bool { name.hasSuffix("product_identifier") }
}

extension Int64 {
    // Sums for a picture; the numbers themselves are those of PostgreSQL.
    fileprivate func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}

extension String {
    fileprivate var capitalised: String { prefix(1).uppercased() + dropFirst() }
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
