internal import EventLog
internal import Events
internal import Subledger

/// The notifications of the last 24 hours, and how many are usual.
struct NotificationTraffic: Sendable {
    /// One line: a type, or an hour of the day.
    struct Line: Hashable, Sendable {
        let name: String
        /// In the last 24 hours.
        let count: Int64
        /// The mean of a day before; nil if no whole day before is known.
        let usual: Double?
    }

    /// By type, most first.
    let types: [Line]
    /// By hour, the current one first.
    let hours: [Line]
    /// All of them.
    let all: Line
    /// Whether more events arrived in the last 24 hours than are read, so that not all are counted.
    let isPartial: Bool
    /// The number of whole days before the last 24 hours that are compared.
    let days: Int64

    /// The most days that are compared: weekends count as often as they occur.
    static let daysMax: Int64 = 14
    /// An app that gets fewer notifications a day may get none on some day without a fault.
    private static let usualMin = 20.0
    /// Below this share of what is usual, something is wrong on the way from Apple.
    private static let shareMin = 0.2

    /// The instant from which on notifications are needed.
    static func start(now: Instant) -> Instant {
        Instant(milliseconds: (hour(of: now) - 24 * (daysMax + 1) + 1) * 3_600_000)
    }

    private static func hour(of instant: Instant) -> Int64 {
        instant.milliseconds / 3_600_000
    }

    /// The traffic of a ledger.
    ///
    /// - Parameters:
    ///   - arrivals: The notifications since `start`.
    ///   - firstCommit: When the ledger began; nil if it is empty.
    ///   - now: Our clock.
    init(_ arrivals: NotificationArrivals, firstCommit: Instant?, now: Instant) {
        let current = NotificationTraffic.hour(of: now)
        // The first hour that is known whole.
        let known = max(arrivals.since, firstCommit ?? now).milliseconds
        let first = (known + 3_599_999) / 3_600_000
        let days = min(NotificationTraffic.daysMax, max(0, (current - 23 - first) / 24))
        let before = (current - 23 - 24 * days)..<(current - 23)
        let last = (current - 23)...current

        func line(_ name: String, _ counts: [NotificationArrivals.Count]) -> Line {
            func sum(_ isCounted: (Int64) -> Bool) -> Int64 {
                counts.filter { isCounted($0.hour) }.reduce(0) { $0 + $1.count }
            }
            return Line(
                name: name,
                count: sum(last.contains),
                usual: days == 0 ? nil : Double(sum(before.contains)) / Double(days)
            )
        }
        self.days = days
        isPartial = arrivals.since.milliseconds > (current - 23) * 3_600_000
        all = line("all", arrivals.counts)
        types = Dictionary(grouping: arrivals.counts, by: \.type)
            .map { line($0.key.isEmpty ? "without a type" : $0.key, $0.value) }
            .sorted { ($1.count, $0.name) < ($0.count, $1.name) }
        hours = last.reversed().map { hour in
            let start = Instant(milliseconds: hour * 3_600_000)
            return line(start.clock, arrivals.counts.filter { ($0.hour - hour) % 24 == 0 })
        }
    }

    /// Whether as many arrive as usual.
    var check: DoctorCheck {
        guard !isPartial else {
            return .notChecked(
                "notifications",
                "too many events arrived to count the notifications of 24 hours"
            )
        }
        let recorded = "\(counted(all.count, "notification")) in the last 24 hours"
        guard let usual = all.usual else {
            return .ok("notifications", "\(recorded); no whole day before to compare with")
        }
        let words =
            "\(recorded); the mean of \(counted(days, "day")) before is "
            + NotificationTraffic.words(usual)
        guard usual >= NotificationTraffic.usualMin,
            Double(all.count) < usual * NotificationTraffic.shareMin
        else { return .ok("notifications", words) }
        return .warning(
            "notifications",
            words,
            "check the URL in App Store Connect, the certificate and the firewall"
        )
    }

    /// A mean, with one decimal.
    static func words(_ mean: Double) -> String {
        let tenths = Int64((mean * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}
