public import Events
public import Foundation

extension Instant {
    /// The instant of a date, rounded to the nearest millisecond.
    ///
    /// A date outside the years 1 to 9999 becomes the nearest instant inside.
    ///
    /// - Precondition: The date is a number, if only an infinite one.
    public init(_ date: Date) {
        let (first, last) = (Instant.calendar.lowerBound, Instant.calendar.upperBound)
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
        precondition(!milliseconds.isNaN, "a date that is not a number is not a point in time")
        switch milliseconds {
        case ...Double(first.milliseconds): self = first
        case Double(last.milliseconds)...: self = last
        default: self.init(milliseconds: Int64(milliseconds))
        }
    }

    /// The same point in time; in the years 1 to 9999 exact to the millisecond, so `Instant(date)`
    /// is this instant again.
    public var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }
}
