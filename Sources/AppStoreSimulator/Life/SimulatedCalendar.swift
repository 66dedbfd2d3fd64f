package import Events

/// The Gregorian calendar in UTC, to the extent that billing and Apple's texts need it.
///
/// The App Store bills by the calendar: a subscription that starts on 31 January renews on the last
/// day of February and then on 31 March, because the billing day is remembered.
enum SimulatedCalendar {
    static let second: Int64 = 1000
    static let minute: Int64 = 60 * second
    static let hour: Int64 = 60 * minute
    static let day: Int64 = 24 * hour

    /// The end of a period of that length; `billingDay` is the preferred day of the month, that of
    /// the start unless given.
    static func end(
        of duration: SubscriptionDuration,
        from start: Instant,
        billingDay: Int64? = nil
    ) -> Instant {
        let billingDay = billingDay ?? dayOfMonth(start)
        return switch duration {
        case .days(let count):
            start.advanced(by: count * day)
        case .weeks(let count):
            start.advanced(by: count * 7 * day)
        case .months(let count):
            adding(months: count, to: start, billingDay: billingDay)
        case .years(let count):
            adding(months: 12 * count, to: start, billingDay: billingDay)
        }
    }

    /// The day of the month of an instant, 1 to 31.
    static func dayOfMonth(_ instant: Instant) -> Int64 {
        civil(daysSinceEpoch: instant.milliseconds / day).day
    }

    /// The year of an instant.
    static func year(_ instant: Instant) -> Int64 {
        civil(daysSinceEpoch: instant.milliseconds / day).month / 12
    }

    /// Midnight of the first Sunday not before a day of a month, 1 to 12.
    static func sunday(onOrAfter dayOfMonth: Int64, month: Int64, year: Int64) -> Instant {
        let days = daysSinceEpoch(month: year * 12 + month - 1, day: dayOfMonth)
        // The first day of 1970 was a Thursday, so day 3 was a Sunday.
        return Instant(milliseconds: (days + (10 - days % 7) % 7) * day)
    }

    private static func adding(
        months: Int64,
        to start: Instant,
        billingDay: Int64
    ) -> Instant {
        let timeOfDay = start.milliseconds % day
        let month = civil(daysSinceEpoch: start.milliseconds / day).month + months
        let length =
            daysSinceEpoch(month: month + 1, day: 1) - daysSinceEpoch(month: month, day: 1)
        let days = daysSinceEpoch(month: month, day: min(billingDay, length))
        return Instant(milliseconds: days * day + timeOfDay)
    }

    // Counting from 1 March puts the leap day last, so the days before a month are a linear
    // function of its number. Months are counted from January of the year 0; dates are after 1970.
    private static func daysSinceEpoch(month: Int64, day: Int64) -> Int64 {
        let (year, marchMonth) = ((month - 2) / 12, (month - 2) % 12)
        return year * 365 + year / 4 - year / 100 + year / 400 + (153 * marchMonth + 2) / 5
            + day - 1 - 719_468
    }

    // The calendar repeats every 146 097 days, which are 400 years.
    private static func civil(daysSinceEpoch days: Int64) -> (month: Int64, day: Int64) {
        let (era, dayOfEra) = (days + 719_468).quotientAndRemainder(dividingBy: 146_097)
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        return (
            (era * 400 + yearOfEra) * 12 + marchMonth + 2,
            dayOfYear - (153 * marchMonth + 2) / 5 + 1
        )
    }
}

extension Instant {
    /// The instant that many milliseconds later.
    package func advanced(by milliseconds: Int64) -> Instant {
        Instant(milliseconds: self.milliseconds + milliseconds)
    }

    /// The instant that many days of 24 hours later.
    func advanced(days: Int64) -> Instant { advanced(by: days * SimulatedCalendar.day) }
}
