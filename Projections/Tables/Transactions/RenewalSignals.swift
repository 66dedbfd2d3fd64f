internal import Events

/// When Apple reported that a purchase would not renew, or that its renewal failed.
struct RenewalSignals {
    private let settings: [RenewalSetting]
    // Statements of a billing error, by as-of; none in the common case.
    private let failures: [Failure]

    private struct Failure {
        let asOf: Instant
        let subject: Subject
        let offset: Int64

        enum Subject {
            /// The purchases with that expiry.
            case expiry(Instant)
            case purchase(Int)
            /// The purchase that ended last before the statement.
            case unstated
        }
    }

    init(_ timeline: Timeline) {
        let statements = timeline.renewalStatements
        settings = timeline.renewalSettings
        var failures: [Failure] = []
        for snapshot in timeline.statesGrace ? timeline.renewalSnapshots : [] {
            guard case .value = snapshot.gracePeriodExpiresDate,
                let offset = snapshot.gracePeriodOffset
            else { continue }
            let subject = snapshot.renewalDate.map(Failure.Subject.expiry) ?? .unstated
            failures.append(Failure(asOf: snapshot.asOf, subject: subject, offset: offset))
        }
        for statement in statements where statement.isInBillingRetry == true {
            guard let offset = statement.retryOffset else { continue }
            let subject = statement.renewalDate.map(Failure.Subject.expiry) ?? .unstated
            failures.append(Failure(asOf: statement.asOf, subject: subject, offset: offset))
        }

        let announcements = timeline.announcements
        let hasBillingError = announcements.indices.contains {
            announcements[$0].assertion.content.isOfBillingError
        }
        if hasBillingError {
            for notice in timeline.notifications {
                guard notice.status == .billingRetry || notice.status == .gracePeriod else {
                    continue
                }
                let subject = timeline.purchase(of: notice).map(Failure.Subject.purchase)
                failures.append(
                    Failure(asOf: notice.asOf, subject: subject ?? .unstated, offset: notice.offset)
                )
            }
        }

        self.failures = failures.sorted { ($0.asOf, $0.offset) < ($1.asOf, $1.offset) }
    }

    /// The first as-of of the time without auto-renewal that is in force at the natural end of a
    /// purchase; nil if it is on then, or if it was never stated.
    ///
    /// Also nil if the next purchase was made before that end: a purchase turns auto-renewal on
    /// again, and later statements are about the next one.
    func unsubscribed(
        after index: Int,
        of timeline: Timeline,
        _ citations: inout Citations
    ) -> Instant? {
        var end = timeline.purchases[index].expiresDate
        if let next = timeline.succession.successor(of: index).map({ timeline.purchases[$0] }) {
            let bought = min(next.assertions.sorted.first?.asOf ?? end, next.purchaseDate)
            if bought < end { return nil }
            end = min(end, Instant(milliseconds: bought.milliseconds - 1))
        }
        var index = settings.partitioningIndex { $0.from > end } - 1
        guard index >= 0, settings[index].isAutoRenewOn == false else { return nil }
        while index > 0, settings[index - 1].isAutoRenewOn == false { index -= 1 }
        citations.cite(settings[index].autoRenewOffset)
        return settings[index].from
    }

    /// The first as-of that stated that the renewal after a purchase failed; nil if none did.
    func billingIssue(
        after index: Int,
        of timeline: Timeline,
        _ citations: inout Citations
    ) -> Instant? {
        guard !failures.isEmpty else { return nil }
        let expiresDate = timeline.purchases[index].expiresDate
        let next = timeline.succession.successor(of: index).map { timeline.purchases[$0] }
        let found = failures.first { failure in
            switch failure.subject {
            case .expiry(let date): date == expiresDate
            case .purchase(let subject): subject == index
            case .unstated:
                failure.asOf >= expiresDate && next.map { failure.asOf < $0.purchaseDate } ?? true
            }
        }
        citations.cite(found?.offset)
        return found?.asOf
    }
}

extension Content {
    fileprivate var isOfBillingError: Bool {
        guard let status = integer(.status).flatMap(SubscriptionStatus.init)
        else { return false }
        return status == .billingRetry || status == .gracePeriod
    }
}
