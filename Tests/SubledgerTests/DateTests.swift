import Events
import Foundation
import Subledger
import Testing

/// Instants as Foundation's dates, and back.
struct DateTests {
    @Test func `every instant of the calendar is the same after a way through a date`() {
        let bounds = [-62_135_596_800_000, 253_402_300_799_999] as [Int64]
        let step = (bounds[1] - bounds[0]) / 100_003
        for milliseconds in stride(from: bounds[0], through: bounds[1], by: Int(step)) + bounds {
            let instant = Instant(milliseconds: milliseconds)
            #expect(Instant(instant.date) == instant)
        }
    }

    @Test func `a date is rounded to the nearest millisecond`() {
        for (seconds, milliseconds) in [
            (0.0004, 0), (0.0006, 1), (-0.0006, -1), (1_735_689_600.1234, 1_735_689_600_123),
        ] as [(Double, Int64)] {
            #expect(
                Instant(Date(timeIntervalSince1970: seconds))
                    == Instant(milliseconds: milliseconds)
            )
        }
        #expect(Instant("2025-01-01")?.date.description == "2025-01-01 00:00:00 +0000")
    }

    @Test func `a date outside the years 1 to 9999 becomes the nearest instant inside`() throws {
        let (first, last) = (
            try #require(Instant("0001-01-01")), try #require(Instant("9999-12-31T23:59:59.999Z"))
        )
        for (seconds, instant) in [(-1e300, first), (-.infinity, first), (1e300, last)] {
            #expect(Instant(Date(timeIntervalSince1970: seconds)) == instant)
        }
        #expect(Instant(.distantPast) == first)
    }
}
