internal import Events

/// The time that a report covers, and the rows of its days, weeks and months.
///
/// A day, a week or a month that is not over at the last counted instant, or that the report cuts,
/// is partial: its numbers cannot be compared with those of whole ones.
struct ReportSpan {
    /// The first day, UTC, as `2026-03-03`.
    let from: String
    /// The last day with anything to count.
    let last: String
    /// The instant after which nothing counts.
    let asOf: Instant

    init(_ report: ReportDocument) {
        self.init(from: report.from, to: report.to, asOf: report.asOf)
    }

    /// The time from one day to another, as far as an instant.
    init(from: String, to: String, asOf: Instant) {
        self.from = from
        self.asOf = asOf
        last = min(to, asOf.day)
    }
}

extension ReportSpan {
    /// The column whose days, weeks or months can be partial; nil if a report has no such column.
    static func axis(of columns: [Report.Column]) -> Report.Column? {
        ["day", "month_number", "week", "fiscal_month", "month"].lazy
            .compactMap { name in columns.first { $0.name == name } }.first
    }

    /// Whether a row is about a day, a week or a month that is not whole.
    func isPartial(_ row: [String: ReportValue]) -> Bool {
        if case .text(let day) = row["day"] { return !isOver(dayAfter: day, by: 1) }
        if case .text(let week) = row["week"] {
            return week < from || !isOver(dayAfter: week, by: 7)
        }
        if let month = row["fiscalMonth"].flatMap(FiscalMonth.init) {
            return month.firstDay < from || !isOver(dayAfter: month.next.firstDay, by: 0)
        }
        guard let end = lastMonth(of: row) else { return false }
        let first = row["month"].flatMap(Month.init)
        return !isOver(dayAfter: end.adding(1).firstDay, by: 0)
            || first.map { $0.firstDay < from } ?? false
    }

    /// Whether the time of a place on an axis has come, for the rows of a cohort.
    func hasCome(_ row: [String: ReportValue]) -> Bool {
        guard let month = firstMonth(of: row), let end = Month(last) else { return true }
        return month <= end
    }

    /// The months from the first day to the last.
    var months: [ReportValue] {
        guard let first = Month(from), let end = Month(last), first <= end else { return [] }
        return (first.number...end.number).map { .text(Month(number: $0).text) }
    }

    /// The Mondays of the weeks from the first day to the last.
    var weeks: [ReportValue] {
        guard let first = Instant(from), let end = Instant(last), first <= end else { return [] }
        let day = first.milliseconds / Instant.dayLength
        // The first day of 1970 was a Thursday.
        let monday = (day - ((day + 3) % 7 + 7) % 7) * Instant.dayLength
        return stride(from: monday, through: end.milliseconds, by: 7 * Int(Instant.dayLength)).map {
            .text(Instant(milliseconds: $0).day)
        }
    }

    /// The months of Apple's fiscal calendar from the first day to the last.
    var fiscalMonths: [ReportValue] {
        guard let first = FiscalMonth(from), let end = FiscalMonth(last), first <= end else {
            return []
        }
        return FiscalMonth.values(first, through: end)
    }

    /// SQL for the first instants of the months from that of the first day to the one after the last
    /// day.
    func starts(isFiscal: Bool) -> String {
        var days: [String] = []
        if isFiscal, let first = FiscalMonth(from), let end = FiscalMonth(max(from, last)) {
            days = (first.number...end.next.number).map { FiscalMonth(number: $0).firstDay }
        } else if let first = Month(from), let end = Month(max(from, last)) {
            days = (first.number...end.number + 1).map { Month(number: $0).firstDay }
        }
        return "'{\(days.joined(separator: ","))}'::timestamp[]"
    }

    /// The last day of each month, and the last day.
    var monthEnds: [ReportValue] {
        guard let first = Month(from), let end = Month(last), first <= end else { return [] }
        return (first.number...end.number).map { number in
            let day = Month(number: number + 1).start.map {
                Instant(milliseconds: $0.milliseconds - Instant.dayLength).day
            }
            return .text(min(day ?? last, last))
        }
    }

    // Of the nth month of a cohort, that month.
    private func lastMonth(of row: [String: ReportValue]) -> Month? {
        guard case .integer(let place)? = row["monthNumber"] else {
            return row["month"].flatMap(Month.init)
        }
        // Without months, a row is about all cohorts; the last one reaches its month last.
        return (row["month"].flatMap(Month.init) ?? Month(last))?.adding(Int(place))
    }

    private func firstMonth(of row: [String: ReportValue]) -> Month? {
        guard case .integer(let place)? = row["monthNumber"] else { return nil }
        return (row["month"].flatMap(Month.init) ?? Month(from))?.adding(Int(place))
    }

    private func isOver(dayAfter day: String, by days: Int64) -> Bool {
        Instant(day).map { $0.milliseconds + days * Instant.dayLength <= asOf.milliseconds } ?? true
    }
}

/// A month, UTC.
struct Month: Comparable {
    /// Counted from year 0.
    let number: Int

    init(number: Int) {
        self.number = number
    }

    /// The month of a text that begins as `2026-03`; nil for any other text.
    init?(_ text: String) {
        let parts = text.prefix(7).split(separator: "-").map { Int($0) }
        guard text.utf8.count >= 7, parts.count == 2, let year = parts[0], let month = parts[1],
            (1...12).contains(month)
        else { return nil }
        number = year * 12 + month - 1
    }

    /// The month of a value of the column `month`; nil for any other, a day included.
    init?(_ value: ReportValue) {
        guard case .text(let text) = value, text.utf8.count == 7 else { return nil }
        self.init(text)
    }

    var text: String {
        let year = "\(number / 12)"
        return String(repeating: "0", count: max(0, 4 - year.count)) + year
            + "-\(("0" + "\(number % 12 + 1)").suffix(2))"
    }

    private static let names = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The month in words: `Jan 2026`.
    var words: String { "\(Month.names[number % 12]) \(number / 12)" }

    var firstDay: String { text + "-01" }

    /// Its first instant.
    var start: Instant? { Instant(firstDay) }

    func adding(_ months: Int) -> Month { Month(number: number + months) }

    static func < (left: Month, right: Month) -> Bool { left.number < right.number }
}

extension Instant {
    /// The length of a day in milliseconds.
    static let dayLength: Int64 = 86_400_000

    /// The first instant of its day, UTC.
    var dayStart: Instant {
        let rest = milliseconds % Instant.dayLength
        return Instant(milliseconds: milliseconds - (rest < 0 ? rest + Instant.dayLength : rest))
    }

    /// Its day, UTC, as `2026-03-03`.
    var day: String { String(description.prefix(10)) }
}
