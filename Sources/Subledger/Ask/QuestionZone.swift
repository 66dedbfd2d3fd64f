internal import Events
internal import Foundation

/// The time zone in which a question writes its dates.
public struct QuestionZone: Hashable, Sendable {
    /// Its name in notes: `UTC`, `Europe/Berlin`, `+05:30`.
    public let name: String
    private let zone: TimeZone
    // Nearly every time is written in UTC, so this is decided once.
    private let isUTC: Bool

    /// Coordinated universal time: the default zone of every question.
    public static let utc = QuestionZone(name: "UTC", zone: .gmt)

    /// The zone in which texts write times while a question is answered and printed.
    ///
    /// JSON has milliseconds and does not depend on it, except for the sentences in it.
    @TaskLocal package static var shown: QuestionZone = .utc

    private init(name: String, zone: TimeZone) {
        self.name = name
        self.zone = zone
        isUTC = name == "UTC"
    }

    /// Accepts a name of the time zone database in any letter case, `local` for the zone of this
    /// machine, or an offset from UTC such as `+05:30`; nil for anything else.
    public init?(_ name: String) {
        if ["utc", "z", "gmt"].contains(name.lowercased()) {
            self = .utc
        } else if name.lowercased() == "local" {
            self.init(name: TimeZone.current.identifier, zone: .current)
        } else if let midnight = Instant("2000-01-01T00:00" + name), let first = name.first,
            "+-".contains(first),
            let zone = TimeZone(
                secondsFromGMT: Int((QuestionZone.midnight - midnight.milliseconds) / 1000)
            )
        {
            self.init(name: name, zone: zone)
        } else {
            // The list lacks alias names, such as Asia/Kolkata.
            let known = TimeZone.knownTimeZoneIdentifiers
                .first { $0.lowercased() == name.lowercased() }
            guard let zone = TimeZone(identifier: known ?? name) else { return nil }
            self.init(name: known ?? name, zone: zone)
        }
    }

    /// The zone for sentences, as people write it: `UTC`, `Berlin time`, `UTC+05:30`.
    package var words: String {
        if let first = name.first, "+-".contains(first) { return "UTC" + name }
        let parts = name.split(separator: "/")
        guard parts.count > 1, parts[0] != "Etc", let place = parts.last else { return name }
        return place.replacing("_", with: " ") + " time"
    }

    // 2000-01-01T00:00Z.
    private static let midnight: Int64 = 946_684_800_000

    /// What a clock in this zone shows at an instant, stored as if it were UTC.
    func wallClock(of instant: Instant) -> Instant {
        guard !isUTC else { return instant }
        let date = instant.date
        let offset = Int64(zone.secondsFromGMT(for: date)) * 1000
        return Instant(milliseconds: instant.milliseconds &+ offset)
    }

    var calendar: Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        return calendar
    }
}
