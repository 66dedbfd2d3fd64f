public import Events
internal import Foundation

/// A time as a user writes it in a question, before the clock and the time zone of the question are
/// applied.
///
/// Parsing is pure: `now`, `yesterday` and `2 days ago` stay words until ``instant(now:in:)``
/// receives a clock, and a date stays a date until it receives a time zone.
public struct AskedTime: Hashable, Sendable {
    /// What was written.
    public let text: String
    private let form: Form

    /// The forms, with their values.
    private enum Form: Hashable {
        case instant(Instant)
        /// A date, or a date and a time, without a zone: local time, stored as if it were UTC.
        case wallClock(Instant)
        case now
        /// The start of a day; today is 0, yesterday -1.
        case day(Int)
        case ago(Int, Unit)
    }

    /// A unit of "2 days ago"; minutes and hours are lengths, the others follow the calendar.
    private enum Unit: String, CaseIterable {
        case second, minute, hour, day, week, month, year

        var component: Calendar.Component {
            switch self {
            case .second: .second
            case .minute: .minute
            case .hour: .hour
            case .day, .week: .day
            case .month: .month
            case .year: .year
            }
        }
    }

    /// The fewest digits of a number that is read as milliseconds; shorter numbers are positions.
    ///
    /// Twelve digits are milliseconds from 1973 on, and exceed the events of any ledger.
    public static let millisecondDigitsMin = 12

    /// The accepted forms, for errors and help.
    public static let forms =
        "2026-03-03T09:00:00Z, 2026-03-03 (midnight UTC, or of the given tz), 1772528400000 "
        + "(milliseconds), now, today, yesterday or \"2 days ago\""

    /// The last instant of the year 9999: later ones cannot be written with four digits.
    private static let millisecondsMax: Int64 = 253_402_300_799_999
    /// More units than Apple's data can span, and few enough never to overflow.
    private static let unitsMax = 100_000

    /// Parses a time; nil if the text has none of the ``forms``.
    public init?(_ text: String) {
        guard let form = AskedTime.form(of: text) else { return nil }
        self.text = text
        self.form = form
    }

    private static func form(of text: String) -> Form? {
        if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) {
            guard text.utf8.count >= millisecondDigitsMin, let number = Int64(text),
                number <= millisecondsMax
            else { return nil }
            return .instant(Instant(milliseconds: number))
        }
        if let instant = Instant(text) {
            let hasZone = text.utf8.count > 10 && Instant(text + "Z") == nil
            return hasZone ? .instant(instant) : .wallClock(instant)
        }
        switch text.lowercased() {
        case "now": return .now
        case "today": return .day(0)
        case "yesterday": return .day(-1)
        case let words: return ago(words)
        }
    }

    private static func ago(_ words: String) -> Form? {
        let words = words.split(separator: " ")
        guard words.count == 3, words[2] == "ago" else { return nil }
        let unit = Unit.allCases.first { words[1] == $0.rawValue || words[1] == $0.rawValue + "s" }
        let count = words[0] == "a" || words[0] == "an" ? 1 : Int(words[0])
        guard let unit, let count, (0...unitsMax).contains(count) else { return nil }
        return .ago(count, unit)
    }

    /// Whether the time zone of the question decides which instant is meant.
    public var needsZone: Bool {
        switch form {
        case .instant, .now: false
        case .wallClock, .day: true
        case .ago(_, let unit): ![.second, .minute, .hour].contains(unit)
        }
    }

    /// The instant that is meant.
    ///
    /// - Parameters:
    ///   - now: The instant of the question, on our clock.
    ///   - zone: The zone whose midnights and calendar days are meant; a local time that the zone
    ///     skips is moved forward by the length of the gap, and of a local time that occurs twice
    ///     the earlier one is used.
    /// - Returns: The instant.
    public func instant(now: Instant, in zone: QuestionZone) -> Instant {
        let calendar = zone.calendar
        switch form {
        case .instant(let instant): return instant
        case .now: return now
        case .wallClock(let shown): return AskedTime.instant(showing: shown, in: calendar)
        case .day(let days):
            let today = calendar.startOfDay(for: now.date)
            return Instant(calendar.date(byAdding: .day, value: days, to: today) ?? today)
        case .ago(let count, let unit):
            let steps = unit == .week ? -7 * count : -count
            let then = calendar.date(byAdding: unit.component, value: steps, to: now.date)
            return then.map { Instant($0) } ?? now
        }
    }

    /// What the clock change of a time zone does to a time that was written without a zone.
    public enum ClockChange: Hashable, Sendable {
        /// The local time never occurs: clocks are put forward over it.
        case skipped
        /// The local time occurs twice: clocks are put back over it.
        case shownTwice
    }

    /// What the zone's clock change does to the time, where summer time begins or ends; nil for an
    /// ordinary time.
    public func clockChange(in zone: QuestionZone) -> ClockChange? {
        guard case .wallClock(let shown) = form else { return nil }
        let instant = AskedTime.instant(showing: shown, in: zone.calendar)
        let zone = zone.calendar.timeZone
        func offset(at instant: Instant) -> Int64 {
            Int64(zone.secondsFromGMT(for: instant.date)) * 1000
        }
        guard instant.milliseconds + offset(at: instant) == shown.milliseconds else {
            return .skipped
        }
        let nextDay = Instant(milliseconds: instant.milliseconds + 86_400_000)
        let back = offset(at: instant) - offset(at: nextDay)
        let later = Instant(milliseconds: instant.milliseconds + back)
        return back > 0 && offset(at: later) == offset(at: nextDay) ? .shownTwice : nil
    }

    private static func instant(showing shown: Instant, in calendar: Calendar) -> Instant {
        var utc = calendar
        utc.timeZone = .gmt
        let whole = shown.flooredToSecond
        let parts = utc.dateComponents(
            [.year, .month, .day, .hour, .minute, .second],
            from: whole.date
        )
        guard let date = calendar.date(from: parts) else { return shown }
        let rest = shown.milliseconds - whole.milliseconds
        return Instant(milliseconds: Instant(date).milliseconds + rest)
    }
}
