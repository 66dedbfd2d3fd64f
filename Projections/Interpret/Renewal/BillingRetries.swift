internal import Events

/// Finds how long Apple retried the charge after an expiry.
///
/// A renewal statement is about the expiry it names; one that names none, and a notification's
/// status, are about the gap in which they were said. The retry ends with the first later saying
/// without it, with auto-renewal off (Apple's data: trap 22), or after 60 days
/// (Apple's data: trap 18), which a saying from long after them does not lengthen.
struct BillingRetries {
    // By as-of; of one instant those with retry first.
    private let signals: [Signal]
    // The starts of purchases that were charged in a retry, and what says so.
    private let recoveries: [Instant: Int64]

    /// The longest time for which Apple retries (Apple's data: trap 18), in ms.
    static let retryMax: Int64 = 60 * 86_400_000

    /// How late Apple may tell that it gave up, in ms: a day, for it does so within minutes.
    ///
    /// A later statement arrived late and no longer means retry (Apple's data: trap 18).
    private static let giveUpDelayMax: Int64 = 86_400_000

    private struct Signal {
        let asOf: Instant
        let renewalDate: Instant?
        let isInRetry: Bool
        let isBillingError: Bool
        let isAutoRenewOff: Bool
        /// Whether it leaves open how the expiry will end: it has happened, and was not charged
        /// yet.
        let isUndecided: Bool
        let offset: Int64
    }

    /// A time without access, and the expiry before it.
    struct Gap {
        let from: Instant
        /// Nil where it had not ended when Apple last spoke.
        let to: Instant?
        let expiresDate: Instant
    }

    /// Nil if no statement mentions a retry: the common case, at no cost.
    init?(_ timeline: Timeline, _ statements: [RenewalStatement]) {
        let isMentioned =
            statements.contains { $0.isInBillingRetry == true || $0.isBillingError }
            || timeline.announcements.indices.contains {
                BillingRetries.isInRetry(timeline.announcements[$0].assertion) == true
            }
        recoveries = BillingRetries.recoveries(timeline)
        guard isMentioned || !recoveries.isEmpty else { return nil }
        var signals: [Signal] = []
        for statement in statements {
            guard let isInRetry = statement.isInBillingRetry, let offset = statement.retryOffset
            else { continue }
            signals.append(
                Signal(
                    asOf: statement.asOf,
                    renewalDate: statement.renewalDate,
                    isInRetry: isInRetry,
                    isBillingError: statement.isBillingError,
                    isAutoRenewOff: statement.isAutoRenewOn == false,
                    isUndecided: !isInRetry && statement.isAutoRenewOn == true
                        && statement.expirationIntent == nil,
                    offset: offset
                )
            )
        }
        for keyed in timeline.announcements {
            guard let isInRetry = BillingRetries.isInRetry(keyed.assertion) else { continue }
            signals.append(
                Signal(
                    asOf: keyed.assertion.asOf,
                    renewalDate: nil,
                    isInRetry: isInRetry,
                    isBillingError: false,
                    isAutoRenewOff: false,
                    isUndecided: false,
                    offset: keyed.assertion.offset
                )
            )
        }
        self.signals = signals.sorted(by: BillingRetries.areInOrder)
    }

    /// The end of the retry in a gap, where it begins with one, citing what says so.
    ///
    /// The gap's own end where the retry lasts to it; where Apple falls silent it ends after sixty
    /// days, also where these reach beyond all that Apple said.
    func end(
        in gap: Gap,
        citing citations: inout Citations
    ) -> (end: Instant?, isRetry: Bool) {
        let limit = Instant(milliseconds: gap.expiresDate.milliseconds + BillingRetries.retryMax)
        let about = signals.filter { isAbout(gap, $0) }.drop(while: \.isUndecided)
        guard let first = about.first else { return recovered(gap, limit, citing: &citations) }
        if !first.isInRetry {
            // The two halves of one notification may be signed some milliseconds apart.
            let billing = about.prefix { !$0.isInRetry }.first { $0.isBillingError }
            guard let billing else { return recovered(gap, limit, citing: &citations) }
            citations.cite(billing.offset)
            return (bounded(min(first.asOf, limit), gap), true)
        }
        citations.cite(first.offset)
        let ending = about.first { signal in
            signal.isAutoRenewOff || (!signal.isInRetry && signal.asOf > first.asOf)
        }
        if let ending { citations.cite(ending.offset) }
        if let ending,
            ending.asOf.milliseconds <= limit.milliseconds + BillingRetries.giveUpDelayMax
        {
            return (bounded(ending.asOf, gap), true)
        }
        // Nobody said in time how it ended: it did at the latest when Apple gives up.
        let last = about.last { $0.isInRetry && $0.asOf <= ending?.asOf ?? $0.asOf } ?? first
        return (bounded(max(last.asOf, limit), gap), true)
    }

    // A charge that recovered the subscription was retried until then (DID_RECOVER:
    // developer.apple.com/documentation/appstoreservernotifications/notification_type), also where
    // Apple did not tell of the retry while it lasted.
    private func recovered(
        _ gap: Gap,
        _ limit: Instant,
        citing citations: inout Citations
    ) -> (end: Instant?, isRetry: Bool) {
        guard let to = gap.to, let offset = recoveries[to] else { return (nil, false) }
        citations.cite(offset)
        return (bounded(min(to, limit), gap), true)
    }

    private static func recoveries(_ timeline: Timeline) -> [Instant: Int64] {
        var recoveries: [Instant: Int64] = [:]
        for keyed in timeline.announcements {
            let content = keyed.assertion.content
            guard
                content.carries(.notificationType, "DID_RECOVER")
                    || content.carries(.notificationType, "DID_RENEW")
                        && content.carries(.subtype, "BILLING_RECOVERY")
            else { continue }
            let offset = keyed.assertion.offset
            recoveries[keyed.purchaseDate] = min(recoveries[keyed.purchaseDate] ?? offset, offset)
        }
        return recoveries
    }

    private func bounded(_ end: Instant, _ gap: Gap) -> Instant? {
        max(gap.from, gap.to.map { min($0, end) } ?? end)
    }

    // Before the expiry only a retry tells something: that the subscription is in none is no news
    // while it runs.
    private func isAbout(_ gap: Gap, _ signal: Signal) -> Bool {
        if let renewalDate = signal.renewalDate {
            return renewalDate == gap.expiresDate
                && (signal.isInRetry || signal.asOf >= gap.expiresDate)
        }
        return signal.asOf >= gap.expiresDate && gap.to.map { signal.asOf < $0 } ?? true
    }

    private static func isInRetry(_ assertion: Assertion) -> Bool? {
        guard assertion.fields.contains(.status), let status = assertion.content.integer(.status)
        else { return nil }
        switch SubscriptionStatus(rawValue: status) {
        case .billingRetry: return true
        case .expired: return false
        default: return nil
        }
    }

    private static func areInOrder(_ left: Signal, _ right: Signal) -> Bool {
        if left.asOf != right.asOf { return left.asOf < right.asOf }
        if left.isInRetry != right.isInRetry { return left.isInRetry }
        return left.offset < right.offset
    }
}
