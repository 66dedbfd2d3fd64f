package import EventLog
package import Events

/// How much of the log a question may use, as a user writes it: a position, positions of lanes, or
/// a time.
///
/// A number of twelve or more digits is milliseconds, a shorter one a position.
package enum AskedKnowledge: Hashable, Sendable {
    /// Offsets, by lane.
    case positions([Int: Int64])
    /// What was committed up to then, on our clock.
    case time(AskedTime)

    /// The accepted forms, for errors and help.
    package static let forms =
        "a position (1391877, or 0:17,1:4 where there are several lanes) or a time: "
        + AskedTime.forms

    /// Parses a bound; nil if the text has none of the ``forms``.
    package init?(_ text: String) {
        if let time = AskedTime(text) {
            self = .time(time)
        } else if case .offsets(let offsets)? = KnownAt(text) {
            self = .positions(offsets)
        } else {
            return nil
        }
    }

    /// The bound, resolved with the clock and the time zone of the question.
    package func knownAt(now: Instant, in zone: QuestionZone) -> KnownAt {
        switch self {
        case .positions(let offsets): .offsets(offsets)
        case .time(let time): .time(time.instant(now: now, in: zone))
        }
    }
}
