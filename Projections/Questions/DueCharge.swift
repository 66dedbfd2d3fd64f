package import Events

/// A subscription about whose next charge Apple should be asked: the work list of a poller (Apple's
/// data: trap 18).
package struct DueCharge: Hashable, Sendable {
    /// The subscription.
    package let stream: StreamID
    /// Why to ask.
    package let reason: Reason
    /// The end of the last access that had begun, with its grace.
    package let accessEnd: Instant
    /// The product that renews next; nil if it was never stated.
    package let autoRenewProductId: String?
    /// The length of the newest period, in milliseconds; in test stores, a month lasts minutes.
    package let periodMilliseconds: Int64

    /// Why to ask about a subscription; the raw values are the words of `due`.
    package enum Reason: String, CaseIterable, Sendable {
        /// The charge is due, and the period ends soon.
        case endsSoon = "ends_soon"
        /// The charge failed and is retried.
        case failed
        /// The period has ended, without a statement from Apple since.
        case overdue
    }

    /// How long after the end of the access Apple may still charge, in milliseconds.
    ///
    /// The sixty days of billing retry (Apple's data: trap 18): a customer who returns later makes
    /// a new purchase.
    package static let retryMax: Int64 = 60 * 86_400_000

    /// What is due at an instant or within that many milliseconds after it; nil if nothing is.
    ///
    /// Pure: the instant is a parameter. A refunded purchase is not due, whatever Apple's last
    /// status was, because nothing is charged for it any more. Neither is access that ended longer
    /// ago than `endedWithin`, in milliseconds.
    package init?(
        _ timeline: Timeline,
        at instant: Instant,
        withinMilliseconds within: Int64,
        endedWithin: Int64 = DueCharge.retryMax
    ) {
        guard let newest = timeline.newestCharge else { return nil }
        if let date = newest.revocationDate, date <= instant { return nil }
        let states = RenewalStates(timeline)
        let state = states.state(at: instant)
        let (until, overflow) = instant.milliseconds.addingReportingOverflow(within)
        let limit = Instant(milliseconds: overflow ? .max : until)
        guard let asked = state ?? states.rows.last, asked.validFrom <= instant else { return nil }

        let reason: Reason
        switch (asked.charge, state == nil) {
        case (.failed, false): reason = .failed
        // Beyond Apple's announcements nothing is known, whatever the state of the charge was
        // before.
        case (.failed, true), (.waiting, true), (.succeeded, true): reason = .overdue
        case (.waiting, false): reason = .endsSoon
        default: return nil
        }
        // If rows overlap, the one that began last may end first.
        let begun = ActivePeriods(timeline).rows.lazy.filter { $0.validFrom <= instant }
        guard let end = begun.map(\.validTo).max(), reason != .endsSoon || end <= limit,
            instant.milliseconds - end.milliseconds <= endedWithin
        else { return nil }

        stream = timeline.stream
        self.reason = reason
        accessEnd = end
        autoRenewProductId = asked.autoRenewProductId
        periodMilliseconds = newest.periodMilliseconds
    }
}

extension Purchase {
    /// The time from purchase to expiry, in milliseconds; 0 if the dates do not form a period.
    var periodMilliseconds: Int64 {
        max(0, expiresDate.milliseconds - purchaseDate.milliseconds)
    }
}
