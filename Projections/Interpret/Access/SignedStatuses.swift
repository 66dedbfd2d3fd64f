internal import Events

/// The statuses that Apple signed, which decide where a rule has to guess
/// (Apple's data: status values).
struct SignedStatuses {
    /// How far apart the parts of one payload may be signed, in milliseconds: a second.
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

    /// The status as of an instant, or the first one after it; nil where Apple signed none.
    ///
    /// Of several signed at once it is the least, so that no order of arrival decides.
    func status(at instant: Instant) -> SubscriptionStatus? {
        let earliest = Instant(milliseconds: instant.milliseconds - SignedStatuses.signingSpread)
        let later = statements.drop { $0.asOf < earliest }
        return later.prefix { $0.asOf == later.first?.asOf }.map(\.status)
            .min { $0.rawValue < $1.rawValue }
    }
}
