package import Events

/// An interval of time laid out over columns: of text, or of a picture's points.
package struct TimelineAxis {
    /// The first instant of the first column.
    package let start: Instant
    /// The first instant after the last column.
    package let end: Instant
    /// Number of columns.
    package let columns: Int

    private let tickColumns: Int

    /// The fewest columns between two ticks: the longest label and a space.
    package static let tickColumnsMin = 12

    /// The longest interval that a picture shows, thirteen months: in a longer one the columns are
    /// too coarse for grace periods, so it is cut around the instant asked about.
    static let spanMax: Int64 = 400 * day

    static let minute: Int64 = 60_000
    static let hour = 60 * minute
    static let day = 24 * hour

    /// The axis for some intervals and an instant, with some room on both sides.
    ///
    /// - Parameters:
    ///   - intervals: What must be visible; cut if it spans more than `spanMax`.
    ///   - asked: An instant that is always on the axis.
    ///   - columns: Number of columns, at least one.
    ///   - tickColumns: The fewest columns between two ticks; by default those of a text.
    package init(
        showing intervals: [Range<Instant>],
        asked: Instant,
        columns: Int,
        tickColumns: Int = TimelineAxis.tickColumnsMin
    ) {
        let first = intervals.map(\.lowerBound).min() ?? asked
        let last = intervals.map(\.upperBound).max() ?? asked
        var low = min(first, asked).milliseconds
        var high = max(last, asked).milliseconds
        if high - low > TimelineAxis.spanMax {
            let half = TimelineAxis.spanMax / 2
            low = max(low, min(asked.milliseconds - half, high - TimelineAxis.spanMax))
            high = min(high, low + TimelineAxis.spanMax)
        }
        let room = max((high - low) / 20, TimelineAxis.minute)
        start = Instant(milliseconds: low - room)
        end = Instant(milliseconds: high + room)
        self.columns = max(1, columns)
        self.tickColumns = tickColumns
    }

    /// The column of an instant; 0 before the first, `columns` after the last.
    package func column(of instant: Instant) -> Int {
        if instant <= start { return 0 }
        if instant >= end { return columns }
        let offset = Double(instant.milliseconds - start.milliseconds)
        return Int(offset / Double(end.milliseconds - start.milliseconds) * Double(columns))
    }

    /// The instant in the middle of a column.
    func middle(of column: Int) -> Instant {
        let width = Double(end.milliseconds - start.milliseconds) / Double(columns)
        return Instant(milliseconds: start.milliseconds + Int64((Double(column) + 0.5) * width))
    }

    /// A label at a column.
    package struct Tick: Hashable {
        /// The column of its instant.
        package let column: Int
        /// Its text.
        package let label: String
    }

    /// Labelled instants, as many as fit: whole minutes, hours, days, months or years.
    package var ticks: [Tick] {
        let perColumn = (end.milliseconds - start.milliseconds) / Int64(columns)
        let least = perColumn * Int64(tickColumns)
        let units =
            [1, 5, 15].map { $0 * TimelineAxis.minute }
            + [1, 3, 6, 12].map { $0 * TimelineAxis.hour } + [1, 7].map { $0 * TimelineAxis.day }
        if let unit = units.first(where: { $0 >= least }) { return ticks(every: unit) }
        let months = [1, 3, 6, 12].first { Int64($0) * 28 * TimelineAxis.day >= least } ?? 12
        return ticks(everyMonths: months)
    }

    private func ticks(every unit: Int64) -> [Tick] {
        var ticks: [Tick] = []
        var next = (start.milliseconds + unit - 1) / unit * unit
        while next < end.milliseconds {
            let text = Instant(milliseconds: next).description
            let (date, time) = (text.dropFirst(5).prefix(5), text.dropFirst(11).prefix(5))
            let isNew = ticks.isEmpty || next % TimelineAxis.day == 0
            let label =
                unit % TimelineAxis.day == 0 ? String(date) : isNew ? "\(date) \(time)" : "\(time)"
            ticks.append(Tick(column: column(of: Instant(milliseconds: next)), label: label))
            next += unit
        }
        return ticks
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private func ticks(everyMonths step: Int) -> [Tick] {
        var ticks: [Tick] = []
        let parts = start.description.split(separator: "-")
        guard var year = Int(parts[0]), var month = Int(parts[1]) else { return [] }
        while true {
            month += 1
            if month > 12 { (year, month) = (year + 1, 1) }
            let text = "\(year)-\(month < 10 ? "0" : "")\(month)-01"
            guard let instant = Instant(text), instant < end else { return ticks }
            guard (month - 1) % step == 0 else { continue }
            let isNew = ticks.isEmpty || month == 1
            let name = TimelineAxis.months[month - 1]
            ticks.append(
                Tick(column: column(of: instant), label: isNew ? "\(name) \(year)" : name)
            )
        }
    }
}
