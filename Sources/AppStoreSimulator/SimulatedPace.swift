package import Events

/// How the calendar of a life maps to real time.
///
/// A life is computed in calendar time, with Apple's months. A pace maps each calendar instant to a
/// real one: the same instant, or one in a life whose months take minutes, as in Apple's sandbox.
/// Only instants in payloads are converted; the life and its truth stay in calendar time.
package struct SimulatedPace: Hashable, Sendable {
    private let origin: Instant
    private let start: Instant
    private let monthMilliseconds: Int64

    /// Real time is calendar time.
    package static let calendar = SimulatedPace(
        origin: .epoch,
        start: .epoch,
        monthMilliseconds: SimulatedPace.calendarMonth
    )

    /// A calendar month as counted here: thirty days.
    package static let calendarMonth = 30 * SimulatedCalendar.day

    /// The shortest month: a day then takes one second, the resolution of the keys of periods.
    package static let monthMillisecondsMin = 30 * SimulatedCalendar.second

    /// A pace that maps a calendar instant to a real one.
    ///
    /// - Parameters:
    ///   - origin: The calendar instant.
    ///   - start: The real instant.
    ///   - monthMilliseconds: How long thirty days of the calendar take.
    package init(origin: Instant, start: Instant, monthMilliseconds: Int64) {
        precondition(
            (SimulatedPace.monthMillisecondsMin...SimulatedPace.calendarMonth)
                .contains(monthMilliseconds),
            "a month takes from 30 seconds to 30 days: \(monthMilliseconds) ms"
        )
        self.origin = origin
        self.start = start
        self.monthMilliseconds = monthMilliseconds
    }

    /// The real instant of a date; whole seconds if the date is in whole seconds, as Apple's are.
    package func date(_ instant: Instant) -> Instant {
        let isWhole = instant == instant.flooredToSecond
        return isWhole ? real(instant).flooredToSecond : real(instant)
    }

    /// The real instant of a calendar instant.
    package func real(_ instant: Instant) -> Instant {
        start.advanced(by: real(milliseconds: instant.milliseconds - origin.milliseconds))
    }

    /// The real length of a calendar span.
    package func real(milliseconds: Int64) -> Int64 {
        SimulatedPace.scale(milliseconds, by: monthMilliseconds, over: SimulatedPace.calendarMonth)
    }

    /// The calendar instant at a real one: the last that is not after it.
    package func calendar(_ instant: Instant) -> Instant {
        let milliseconds = instant.milliseconds - start.milliseconds
        let (month, calendarMonth) = (monthMilliseconds, SimulatedPace.calendarMonth)
        return origin.advanced(
            by: SimulatedPace.scale(milliseconds, by: calendarMonth, over: month)
        )
    }

    // Rounded down, also before the start, to preserve order. Years times a month exceed 64 bits.
    private static func scale(_ value: Int64, by factor: Int64, over divisor: Int64) -> Int64 {
        let (quotient, remainder) =
            (Int128(value) * Int128(factor)).quotientAndRemainder(dividingBy: Int128(divisor))
        return Int64(quotient) - (remainder < 0 ? 1 : 0)
    }
}
