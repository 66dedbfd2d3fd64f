internal import Events

/// The statuses that Apple signed, which decide if a rule has to guess (Apple's data: status
/// values).
struct SignedStatuses {
    // By as-of.
    private let statements: [(asOf: Instant, status: SubscriptionStatus)]

    init(_ timeline: Timeline) {
        statements = timeline.announcements.compactMap { keyed in
            keyed.assertion.signedStatus.map { (keyed.assertion.asOf, $0) }
        }.sorted { $0.asOf < $1.asOf }
    }

    /// The status as of an instant, or the first one after it; nil if Apple signed none.
    ///
    /// If several were signed at once, the lowest counts, so the order of arrival has no effect.
    func status(at instant: Instant) -> SubscriptionStatus? {
        let earliest = Instant(
            milliseconds: instant.milliseconds - ServerNotification.signingSpread
        )
        let later = statements.drop { $0.asOf < earliest }
        return later.prefix { $0.asOf == later.first?.asOf }.map(\.status)
            .min { $0.rawValue < $1.rawValue }
    }
}

extension Assertion {
    /// The status that a notification states or, if it is of version 2 and has none, as before
    /// 2023-06, the one that its type implies (Apple's data: version 2 types, status values).
    var signedStatus: SubscriptionStatus? {
        if let raw = content.integer(.status) {
            return fields.contains(.status) ? SubscriptionStatus(rawValue: raw) : nil
        }
        guard content.format == .signedNotification, fields.contains(.notificationType) else {
            return nil
        }
        let isGrace = content.carries(.subtype, "GRACE_PERIOD")
        if content.carries(.notificationType, "DID_FAIL_TO_RENEW") {
            return isGrace ? .gracePeriod : .billingRetry
        }
        if content.carries(.notificationType, "GRACE_PERIOD_EXPIRED") { return .billingRetry }
        return content.carries(.notificationType, "EXPIRED") ? .expired : nil
    }
}
