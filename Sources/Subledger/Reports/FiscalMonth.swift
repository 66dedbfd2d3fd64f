internal import Events

/// A month of Apple's fiscal calendar, by which Apple pays.
///
/// A fiscal year ends on the last Saturday of September. Its quarters have months of five, four and
/// four weeks, which begin on a Sunday. In a year of 53 weeks (2012, 2017, 2023, 2028) the third month
/// has five weeks, too.
package struct FiscalMonth: Comparable, Sendable {
    /// Counted from the first month of fiscal year 0.
    let number: Int

    private static let weeksBefore = [0, 5, 9, 13, 18, 22, 26, 31, 35, 39, 44, 48, 52]

    init(number: Int) {
        self.number = number
    }

    /// The fiscal month that Apple names for a calendar month: `October` of 2025 is the first of fiscal
    /// year 2026.
    ///
    /// - Parameters:
    ///   - month: From 1 to 12.
    ///   - year: The year of the calendar.
    package init(named month: Int, of year: Int) {
        number = (month >= 10 ? year + 1 : year) * 12 + (month + 2) % 12
    }

    /// The month of a value of the column `fiscal_month`; nil for any other.
    init?(_ value: ReportValue) {
        guard case .text(let text) = value, text.hasPrefix("FY"),
            let month = Month(.text(String(text.dropFirst(2))))
        else { return nil }
        number = month.number
    }

    /// The fiscal month of a day, UTC; nil if the text does not begin with a day.
    package init?(_ day: String) {
        guard let instant = Instant(day), let year = Month(day).map({ $0.number / 12 }) else {
            return nil
        }
        let days = Int(instant.dayStart.milliseconds / Instant.dayLength)
        let last = FiscalMonth(number: (year + 1) * 12 + 11)
        guard
            let found = (0..<24).lazy.map({ FiscalMonth(number: last.number - $0) })
                .first(where: { $0.start <= days })
        else { return nil }
        self = found
    }

    /// Apple's name in the App Store Connect API, with FY before it: `FY2026-01`.
    package var text: String {
        "FY" + Month(number: number).text
    }

    /// Its days, UTC.
    package var days: [String] {
        (start..<next.start).map(FiscalMonth.day)
    }

    /// The month after it.
    var next: FiscalMonth { FiscalMonth(number: number + 1) }

    /// The months from one to another, as values of the column `fiscal_month`.
    static func values(_ first: FiscalMonth, through last: FiscalMonth) -> [ReportValue] {
        (first.number...last.number).map { .text(FiscalMonth(number: $0).text) }
    }

    var firstDay: String { FiscalMonth.day(start) }

    // Days since 1970.
    private var start: Int {
        let (year, place) = (number / 12, number % 12)
        let first = FiscalMonth.end(ofYear: year - 1) + 1
        let isLong = FiscalMonth.end(ofYear: year) - first >= 53 * 7 - 1
        return first + 7 * (FiscalMonth.weeksBefore[place] + (isLong && place >= 3 ? 1 : 0))
    }

    // The last Saturday of September.
    private static func end(ofYear year: Int) -> Int {
        let next = Month(number: year * 12 + 9).start ?? .epoch
        let day = Int(next.milliseconds / Instant.dayLength) - 1
        // The first day of 1970 was a Thursday.
        return day - ((day + 5) % 7 + 7) % 7
    }

    private static func day(_ number: Int) -> String {
        Instant(milliseconds: Int64(number) * Instant.dayLength).day
    }

    package static func < (left: FiscalMonth, right: FiscalMonth) -> Bool {
        left.number < right.number
    }
}
