public import Events

/// How the calendar of a life is laid upon real time.
///
/// A life is computed in calendar time, whose months are Apple's. A pace says which real instant an
/// instant of the calendar is: the same one, or one of a life whose months take minutes, as those of
/// Apple's sandbox do. Only instants in payloads go through it; the life and its truth stay in
/// calendar time.
public struct SimulatedPace: Hashable, Sendable {
    private let origin: Instant
    private let start: Instant
    private let monthMilliseconds: Int64

    /// Real time is calendar time.
    public static let calendar = SimulatedPace(
        origin: .epoch,
        start: .epoch,
        monthMilliseconds: SimulatedPace.calendarMonth
    )

    /// A month of the calendar as it is counted here: thirty days.
    public static let calendarMonth = 30 * SimulatedCalendar.day

    /// The shortest month: its days then take a second, which is what keys of periods tell apart.
    public static let monthMillisecondsMin = 30 * SimulatedCalendar.second

    /// A pace at which a calendar instant falls on a real one.
    ///
    /// - Parameters:
    ///   - origin: The instant of the calendar.
    ///   - start: The real instant.
    ///   - monthMilliseconds: How long thirty days of the calendar take.
    public init(origin: Instant, start: Instant, monthMilliseconds: Int64) {
        precondition(
            (SimulatedPace.monthMillisecondsMin...SimulatedPace.calendarMonth)
                .contains(monthMilliseconds),
            "a month takes from 30 seconds to 30 days: \(monthMilliseconds) ms"
        )
        self.origin = origin
        self.start = start
        self.monthMilliseconds = monthMilliseconds
    }

    /// The real instant of a date: a whole second, where it is one of the calendar, as Apple's are.
    public func date(_ instant: Instant) -> Instant {
        let isWhole = instant == instant.flooredToSecond
        return isWhole ? real(instant).flooredToSecond : real(instant)
    }

    /// The real instant of an instant of the calendar.
    public func real(_ instant: Instant) -> Instant {
        Instant(
            milliseconds: start.milliseconds
                + real(milliseconds: instant.milliseconds - origin.milliseconds)
        )
    }

    /// The real length of a span of the calendar.
    public func real(milliseconds: Int64) -> Int64 {
        SimulatedPace.scale(milliseconds, by: monthMilliseconds, over: SimulatedPace.calendarMonth)
    }

    /// The instant of the calendar at a real one: the last that is not after it.
    public func calendar(_ instant: Instant) -> Instant {
        let milliseconds = instant.milliseconds - start.milliseconds
        return Instant(
            milliseconds: origin.milliseconds
                + SimulatedPace.scale(
                    milliseconds,
                    by: SimulatedPace.calendarMonth,
                    over: monthMilliseconds
                )
        )
    }

    // Rounded down, also before the start, so that order is kept. Years times a month need more
    // than 64 bits.
    private static func scale(_ value: Int64, by factor: Int64, over divisor: Int64) -> Int64 {
        let (quotient, remainder) =
            (Int128(value) * Int128(factor)).quotientAndRemainder(dividingBy: Int128(divisor))
        return Int64(quotient) - (remainder < 0 ? 1 : 0)
    }
}
