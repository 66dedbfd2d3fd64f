import Events
import Foundation
import TestSupport
import Testing

/// Points in time as text, compared with Foundation.
@Suite struct InstantTests {
    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()

    private static func foundation(_ instant: Instant) -> Date {
        Date(timeIntervalSince1970: Double(instant.milliseconds) / 1000)
    }

    @Test func `every day of four centuries is printed and read as by Foundation`() {
        // 1900 is not a leap year, 2000 is one; both are in the range.
        for day in stride(from: Int64(-35_000), to: 111_000, by: 1) {
            let instant = Instant(milliseconds: day * 86_400_000)
            let parts = InstantTests.calendar.dateComponents(
                [.year, .month, .day],
                from: InstantTests.foundation(instant)
            )
            let text = [parts.year, parts.month, parts.day].map { part in
                let digits = String(part ?? 0)
                return digits.count < 2 ? "0" + digits : digits
            }.joined(separator: "-")
            let isSame = instant.description == text + "T00:00:00Z" && Instant(text) == instant
            #expect(isSame, "\(text) \(instant)")
        }
    }

    @Test func `random instants with milliseconds survive a round trip through Foundation`()
        throws
    {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        for seed in UInt64(1)...3000 {
            var random = SeededGenerator(seed: seed)
            let instant = Instant(
                milliseconds: .random(in: -2_000_000_000_000...7_258_118_400_000, using: &random)
            )
            #expect(Instant(instant.description) == instant, "seed \(seed)")
            // Foundation truncates its binary fraction, which may be just below the millisecond.
            let text = (InstantTests.foundation(instant) + 0.000_2).formatted(style)
            #expect(Instant(text) == instant, "seed \(seed) \(text)")
        }
    }

    @Test func `offsets from UTC are subtracted`() {
        for seed in UInt64(1)...500 {
            var random = SeededGenerator(seed: seed)
            let utc = Int64.random(in: 1_000_000_000...4_000_000_000, using: &random) / 60 * 60
            let minutes = Int.random(in: -840...840, using: &random)
            let local = Instant(milliseconds: (utc + Int64(minutes) * 60) * 1000)
            let magnitude = abs(minutes)
            let offset =
                (minutes < 0 ? "-" : "+") + two(magnitude / 60) + ":" + two(magnitude % 60)
            let text = local.description.dropLast() + offset
            #expect(Instant(String(text))?.milliseconds == utc * 1000, "seed \(seed) \(text)")
        }
    }

    @Test(
        arguments: [
            ("2026-03-03", 1_772_496_000_000), ("2026-03-03T09:00Z", 1_772_528_400_000),
            ("2026-03-03 09:00:00", 1_772_528_400_000),
            ("2026-03-03T09:00:00.5Z", 1_772_528_400_500),
            ("2026-03-03T09:00:00.1239Z", 1_772_528_400_123), ("1969-12-31T23:59:59.999Z", -1),
            ("2024-02-29", 1_709_164_800_000), ("0001-01-01", -62_135_596_800_000),
        ] as [(String, Int64)]
    )
    func `accepted forms are read`(text: String, milliseconds: Int64) {
        #expect(Instant(text)?.milliseconds == milliseconds)
    }

    @Test(arguments: [
        "", "2026", "2026-3-3", "2026-02-29", "2026-13-01", "2026-00-01", "2026-04-31",
        "2026-03-03T", "2026-03-03T24:00", "2026-03-03T09:60", "2026-03-03T09:00:60",
        "2026-03-03T09:00:00.", "2026-03-03T09:00+0100", "2026-03-03T09:00Z ", "03/03/2026",
        "2026-03-03T09:00:00.1", "२०२६-03-03",
    ])
    func `other forms are refused, and a time without a zone is UTC`(text: String) {
        #expect(
            Instant(text) == (text.hasSuffix(".1") ? Instant(milliseconds: 1_772_528_400_100) : nil)
        )
    }

    @Test func `seconds are rounded down, also before 1970`() {
        for (raw, floored) in [(612, 0), (1000, 1000), (-1, -1000), (-1000, -1000), (0, 0)] {
            #expect(
                Instant(milliseconds: Int64(raw)).flooredToSecond.milliseconds == Int64(floored)
            )
        }
    }

    @Test func `plausible instants lie between 2008 and the end of 2199`() throws {
        let edges = [
            "2007-12-31T23:59:59.999Z", "2008-01-01", "2199-12-31T23:59:59.999Z", "2200-01-01",
        ]
        let plausible = try edges.map { try #require(Instant($0)).isPlausible }
        #expect(plausible == [false, true, true, false])
    }

    private func two(_ number: Int) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
