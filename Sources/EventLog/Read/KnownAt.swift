public import Events

/// How much of the log a question may use: the second time axis.
public enum KnownAt: Hashable, Sendable {
    /// Everything committed.
    case latest
    /// What was committed up to these offsets, one per lane; a lane that is not named counts whole,
    /// and so does the commit that contains an offset (`EventLog.wholeCommits`).
    case offsets([Int: Int64])
    /// What was committed up to an instant on our clock.
    case time(Instant)
}

extension KnownAt: CustomStringConvertible {
    /// The first number that is not parsed as an offset: more events than a lane ever has.
    private static let offsetsEnd: Int64 = 100_000_000_000

    /// `latest`, `lane:offset` pairs, or an instant.
    public var description: String {
        switch self {
        case .latest: "latest"
        case .offsets(let offsets):
            offsets.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }
                .joined(separator: ",")
        case .time(let instant): instant.description
        }
    }

    /// Parses an offset, `lane:offset` pairs separated by commas, or an instant; nil for anything
    /// else.
    ///
    /// Offsets have at most eleven digits here: a longer number may be meant as milliseconds.
    public init?(_ text: String) {
        if let offset = Int64(text) {
            guard offset < KnownAt.offsetsEnd else { return nil }
            self = .offsets([0: offset])
            return
        }
        if let instant = Instant(text) {
            self = .time(instant)
            return
        }
        var offsets: [Int: Int64] = [:]
        for pair in text.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = pair.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, let lane = Int(parts[0]), let offset = Int64(parts[1]),
                lane >= 0, offset >= 0, offsets.updateValue(offset, forKey: lane) == nil
            else { return nil }
        }
        self = .offsets(offsets)
    }
}
