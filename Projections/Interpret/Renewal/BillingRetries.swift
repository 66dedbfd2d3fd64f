internal import Events

/// Finds how long Apple retried the charge after an expiry.
///
/// A renewal statement is about the expiry it names; one that names none, and a notification's
/// status, are about the gap in which they were made. The retry ends with the first later statement
/// without it, with auto-renewal off (Apple's data: trap 22), or after 60 days (Apple's data: trap
/// 18), which a statement from long after them does not extend.
struct BillingRetries {
    // By as-of; at the same as-of, those with retry first.
    private let signals: [Signal]
    // The starts of purchases that were charged in a retry, with the events that state it.
    private let recoveries: [Instant: Int64]

    /// The longest time for which Apple retries (Apple's data: trap 18), in ms.
    static let retryMax: Int64 = 60 * 86_400_000

    /// The longest delay with which Apple reports that it gave up, in ms: a day, because it does so
    /// within minutes.
    ///
    /// A later statement arrived late and no longer means retry (Apple's data: trap 18).
    private static let giveUpDelayMax: Int64 = 86_400_000

    private struct Signal {
        let asOf: Instant
        let renewalDate: Instant?
        let isInRetry: Bool
        let isBillingError: Bool
        let isAutoRenewOff: Bool
        /// Whether the expiry's outcome is still open: it has happened, and was not charged yet.
        let isUndecided: Bool
        let offset: Int64
    }

    /// An interval without access, and the expiry before it.
    struct Gap {
        let from: Instant
        /// Nil if it had not ended by Apple's last statement.
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

    /// The end of the retry in a gap that begins with one, citing the events that state it.
    ///
    /// If the retry lasts for the whole gap, this is the end of the gap; if Apple made no further
    /// statement, it ends after sixty days, even if these extend beyond Apple's last statement.
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
        // No timely statement says how it ended: it ended at the latest when Apple gives up.
        let last = about.last { $0.isInRetry && $0.asOf <= ending?.asOf ?? $0.asOf } ?? first
        return (bounded(max(last.asOf, limit), gap), true)
    }

    // A charge that recovered the subscription was retried until then (DID_RECOVER:
    // developer.apple.com/documentation/appstoreservernotifications/notification_type), even if
    // Apple did not report the retry while it lasted.
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

    // Before the expiry only a statement of a retry counts: its absence is normal while the
    // subscription runs.
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
