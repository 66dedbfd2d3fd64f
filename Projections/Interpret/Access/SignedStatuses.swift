internal import Events

/// The statuses that Apple signed, which decide if a rule has to guess (Apple's data: status
/// values).
struct SignedStatuses {
    /// The largest difference, in milliseconds, between the signing times of the parts of one
    /// payload: a second.
    private static let signingSpread: Int64 = 1000

    // By as-of.
    private let statements: [(asOf: Instant, status: SubscriptionStatus)]

    init(_ timeline: Timeline) {
        statements = timeline.announcements.compactMap { keyed in
            guard keyed.assertion.fields.contains(.status),
                let raw = keyed.assertion.content.integer(.status),
                let status = SubscriptionStatus(rawValue: raw)
            else { return nil }
            return (keyed.assertion.asOf, status)
        }.sorted { $0.asOf < $1.asOf }
    }

    /// The status as of an instant, or the first one after it; nil if Apple signed none.
    ///
    /// If several were signed at once, the lowest counts, so the order of arrival has no effect.
    func status(at instant: Instant) -> SubscriptionStatus? {
        let earliest = Instant(milliseconds: instant.milliseconds - SignedStatuses.signingSpread)
        let later = statements.drop { $0.asOf < earliest }
        return later.prefix { $0.asOf == later.first?.asOf }.map(\.status)
            .min { $0.rawValue < $1.rawValue }
    }
}
