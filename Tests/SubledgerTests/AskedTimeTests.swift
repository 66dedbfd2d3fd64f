import EventLog
import Events
import Subledger
import Testing

/// Times as people write them, with a clock that the test sets.
struct AskedTimeTests {
    // 2026-03-29T10:30:00Z.
    private let now = Instant(milliseconds: 1_774_780_200_000)

    private func read(_ text: String, _ zone: String = "UTC") throws -> String {
        let zone = try #require(QuestionZone(zone))
        return try #require(AskedTime(text), "\(text)").instant(now: now, in: zone).description
    }

    @Test(arguments: [
        ("2026-03-03T09:00:00Z", "2026-03-03T09:00:00Z"),
        ("2026-03-03T09:00:00.5+01:00", "2026-03-03T08:00:00.500Z"),
        ("2026-03-03 09:00", "2026-03-03T09:00:00Z"), ("2026-03-03", "2026-03-03T00:00:00Z"),
        ("1772528400000", "2026-03-03T09:00:00Z"), ("now", "2026-03-29T10:30:00Z"),
        ("NOW", "2026-03-29T10:30:00Z"), ("today", "2026-03-29T00:00:00Z"),
        ("yesterday", "2026-03-28T00:00:00Z"), ("2 days ago", "2026-03-27T10:30:00Z"),
        ("a week ago", "2026-03-22T10:30:00Z"), ("90 minutes ago", "2026-03-29T09:00:00Z"),
        ("1 month ago", "2026-02-28T10:30:00Z"), ("3 years ago", "2023-03-29T10:30:00Z"),
    ])
    func `every form of a time is read in UTC`(text: String, expected: String) throws {
        #expect(try read(text) == expected)
    }

    // In Berlin clocks go from 02:00 to 03:00 on 29 March 2026, in Cairo from 00:00 to 01:00 on 24
    // April 2026.
    @Test(arguments: [
        ("2026-03-03", "Europe/Berlin", "2026-03-02T23:00:00Z"),
        ("2026-03-03", "europe/berlin", "2026-03-02T23:00:00Z"),
        ("2026-03-03T09:00", "+05:30", "2026-03-03T03:30:00Z"),
        ("2026-03-03T09:00Z", "Asia/Tokyo", "2026-03-03T09:00:00Z"),
        ("yesterday", "Asia/Tokyo", "2026-03-27T15:00:00Z"),
        ("1 day ago", "Europe/Berlin", "2026-03-28T11:30:00Z"),
        ("24 hours ago", "Europe/Berlin", "2026-03-28T10:30:00Z"),
        ("2026-03-29T02:30", "Europe/Berlin", "2026-03-29T01:30:00Z"),
        ("2026-04-24", "Africa/Cairo", "2026-04-23T22:00:00Z"),
    ])
    func `a zone applies only to a time without one`(
        text: String,
        zone: String,
        expected: String
    ) throws {
        #expect(try read(text, zone) == expected)
        let needsZone = try #require(AskedTime(text)).needsZone
        #expect(needsZone == !["2026-03-03T09:00Z", "24 hours ago"].contains(text))
    }

    @Test(arguments: [
        "", "yesterdy", "1772528400", "99999999999", "-1772528400000", "99999999999999999999",
        "999999999999999", "2026-02-30", "2026-03-03T25:00Z", "2 days", "two days ago",
        "-2 days ago", "999999999 days ago", "2026-03-03Z", "1772528400000ms",
    ])
    func `any other form is refused`(text: String) {
        #expect(AskedTime(text) == nil)
    }

    @Test func `a number of twelve digits is milliseconds, a shorter one a position`() throws {
        #expect(AskedKnowledge("99999999999") == .positions([0: 99_999_999_999]))
        let time = try #require(AskedKnowledge("100000000000"))
        #expect(
            time.knownAt(now: now, in: .utc) == .time(Instant(milliseconds: 100_000_000_000))
        )
        #expect(AskedKnowledge("0:17,1:4") == .positions([0: 17, 1: 4]))
        #expect(
            AskedKnowledge("yesterday")?.knownAt(now: now, in: .utc)
                == .time(
                    try #require(Instant("2026-03-28"))
                )
        )
        #expect(AskedKnowledge("1:2:3") == nil && AskedKnowledge("0:17,0:18") == nil)
        #expect(KnownAt("100000000000") == nil)
    }

    @Test func `sentences name a zone as people write it`() throws {
        for (name, words) in [
            ("UTC", "UTC"), ("Europe/Berlin", "Berlin time"), ("-08:00", "UTC-08:00"),
            ("America/Sao_Paulo", "Sao Paulo time"), ("Etc/GMT+3", "Etc/GMT+3"),
            ("America/Argentina/Buenos_Aires", "Buenos Aires time"),
        ] {
            #expect(try #require(QuestionZone(name)).words == words)
        }
    }

    @Test func `only zone names, local and offsets from UTC are zones`() {
        for name in ["UTC", "utc", "Europe/Berlin", "local", "-08:00"] {
            #expect(QuestionZone(name) != nil, "\(name)")
        }
        for name in ["", "Europe/Atlantis", "+5", "25:00", "Z0"] {
            #expect(QuestionZone(name) == nil, "\(name)")
        }
    }

    @Test(
        arguments: [
            ("2026-03-29T01:59:59", "Europe/Berlin", nil),
            ("2026-03-29T02:00", "Europe/Berlin", .skipped),
            ("2026-03-29T02:59", "Europe/Berlin", .skipped),
            ("2026-03-29T03:00", "Europe/Berlin", nil),
            ("2026-10-25T01:59", "Europe/Berlin", nil),
            ("2026-10-25T02:00", "Europe/Berlin", .shownTwice),
            ("2026-10-25T02:59", "Europe/Berlin", .shownTwice),
            ("2026-10-25T03:00", "Europe/Berlin", nil),
            ("2026-04-05T01:45", "Australia/Lord_Howe", .shownTwice),
            ("2026-03-29T02:30", "UTC", nil), ("2026-03-29T02:30Z", "Europe/Berlin", nil),
        ] as [(String, String, AskedTime.ClockChange?)]
    )
    func `a time that clocks skip or show twice is recognised`(
        text: String,
        zone: String,
        change: AskedTime.ClockChange?
    ) throws {
        let time = try #require(AskedTime(text))
        #expect(time.clockChange(in: try #require(QuestionZone(zone))) == change)
    }
}
