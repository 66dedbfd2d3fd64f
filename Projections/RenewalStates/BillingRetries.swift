internal import Events

/// Finds how long Apple retried the charge after an expiry.
///
/// A renewal statement is about the expiry it names; one that names none, and a notification's
/// status, are about the gap in which they were said. The retry ends with the first later saying
/// without it, with auto-renewal off (app-store.md §G-22), or after 60 days (§G-18).
struct BillingRetries {
    // By as-of; of one instant those with retry first.
    private let sayings: [Saying]

    /// The longest time for which Apple retries (app-store.md §G-18), in ms.
    static let retryMax: Int64 = 60 * 86_400_000

    private struct Saying {
        let asOf: Instant
        let renewalDate: Instant?
        let isInRetry: Bool
        let isBillingError: Bool
        let isAutoRenewOff: Bool
        let offset: Int64
    }

    /// A time without access, and the expiry before it.
    struct Gap {
        let from: Instant
        /// Nil where it had not ended when Apple last spoke.
        let to: Instant?
        let expiresDate: Instant
    }

    /// Nil where nobody tells of any retry: the common case, at no cost.
    init?(_ timeline: Timeline, _ statements: [RenewalStatement]) {
        let isTold =
            statements.contains { $0.isInBillingRetry == true || $0.isBillingError }
            || timeline.announcements.contains { BillingRetries.isInRetry($0) == true }
        guard isTold else { return nil }
        var sayings: [Saying] = []
        for statement in statements {
            guard let isInRetry = statement.isInBillingRetry, let offset = statement.retryOffset
            else { continue }
            sayings.append(
                Saying(
                    asOf: statement.asOf,
                    renewalDate: statement.renewalDate,
                    isInRetry: isInRetry,
                    isBillingError: statement.isBillingError,
                    isAutoRenewOff: statement.isAutoRenewOn == false,
                    offset: offset
                )
            )
        }
        for keyed in timeline.announcements {
            guard let isInRetry = BillingRetries.isInRetry(keyed) else { continue }
            sayings.append(
                Saying(
                    asOf: keyed.assertion.asOf,
                    renewalDate: nil,
                    isInRetry: isInRetry,
                    isBillingError: false,
                    isAutoRenewOff: false,
                    offset: keyed.assertion.offset
                )
            )
        }
        self.sayings = sayings.sorted(by: BillingRetries.areInOrder)
    }

    /// The end of the retry in a gap that begins with one; the gap's own end where it lasts.
    ///
    /// Cites what says so.
    func end(
        in gap: Gap,
        horizon: Instant,
        citing citations: inout Citations
    ) -> (end: Instant?, isRetry: Bool) {
        let limit = Instant(milliseconds: gap.expiresDate.milliseconds + BillingRetries.retryMax)
        let about = sayings.filter { isAbout(gap, $0) }
        guard let first = about.first else { return (nil, false) }
        if !first.isInRetry {
            // The two halves of one notification may be signed some milliseconds apart.
            let billing = about.prefix { !$0.isInRetry }.first { $0.isBillingError }
            guard let billing else { return (nil, false) }
            citations.cite(billing.offset)
            return (bounded(min(first.asOf, limit), gap), true)
        }
        citations.cite(first.offset)
        let ending = about.first { saying in
            saying.isAutoRenewOff || (!saying.isInRetry && saying.asOf > first.asOf)
        }
        if let ending {
            citations.cite(ending.offset)
            return (bounded(ending.asOf, gap), true)
        }
        // Nobody said how it ended: it did at the latest when Apple gives up.
        let given = about.last.map { max($0.asOf, limit) } ?? limit
        return (given <= horizon ? bounded(given, gap) : gap.to, true)
    }

    private func bounded(_ end: Instant, _ gap: Gap) -> Instant? {
        max(gap.from, gap.to.map { min($0, end) } ?? end)
    }

    // Before the expiry only a retry tells something: that the subscription is in none is no news
    // while it runs.
    private func isAbout(_ gap: Gap, _ saying: Saying) -> Bool {
        if let renewalDate = saying.renewalDate {
            return renewalDate == gap.expiresDate
                && (saying.isInRetry || saying.asOf >= gap.expiresDate)
        }
        return saying.asOf >= gap.expiresDate && gap.to.map { saying.asOf < $0 } ?? true
    }

    private static func isInRetry(_ keyed: KeyedAssertion) -> Bool? {
        guard keyed.assertion.fields.contains(.status),
            let status = keyed.assertion.content.integer(.status)
        else { return nil }
        switch SubscriptionStatus(rawValue: status) {
        case .billingRetry: return true
        case .expired: return false
        default: return nil
        }
    }

    private static func areInOrder(_ left: Saying, _ right: Saying) -> Bool {
        if left.asOf != right.asOf { return left.asOf < right.asOf }
        if left.isInRetry != right.isInRetry { return left.isInRetry }
        return left.offset < right.offset
    }
}
