public import Events

/// A subscription whose next charge is worth asking Apple about: what a poller has to work through
/// (Apple's data: trap 18).
public struct DueCharge: Hashable, Sendable {
    /// The subscription.
    public let stream: StreamID
    /// Why to ask.
    public let reason: Reason
    /// The end of the last access that had begun, with its grace.
    public let accessEnd: Instant
    /// The product that renews next; nil if it was never stated.
    public let autoRenewProductId: String?
    /// The length of the newest period, in milliseconds: stores for tests sell months of minutes.
    public let periodMilliseconds: Int64

    /// Why a subscription is worth asking about; the raw values are the words of `due`.
    public enum Reason: String, CaseIterable, Sendable {
        /// The charge waits, and the period ends soon.
        case endsSoon = "ends_soon"
        /// The charge failed and is tried again.
        case failed
        /// The period has ended, and Apple has not spoken since.
        case overdue
    }

    /// How long after the end of the access Apple may still charge, in milliseconds.
    ///
    /// The sixty days of billing retry (Apple's data: trap 18): who comes back later buys anew.
    public static let retryMax: Int64 = 60 * 86_400_000

    /// What is due at an instant or within that many milliseconds after it; nil where nothing is.
    ///
    /// Pure: the instant comes from outside. What was refunded is not due, whatever Apple's last
    /// status was: nothing is charged for it any more. Nor is what ended longer ago than
    /// `endedWithin`, in milliseconds.
    public init?(
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
        // Beyond what Apple announced nothing is known, whatever the charge was before.
        case (.failed, true), (.waiting, true), (.succeeded, true): reason = .overdue
        case (.waiting, false): reason = .endsSoon
        default: return nil
        }
        // Of rows that overlap the one that began last may end first.
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
    /// From its purchase to its expiry, in milliseconds; 0 where the dates do not make a period.
    var periodMilliseconds: Int64 {
        max(0, expiresDate.milliseconds - purchaseDate.milliseconds)
    }
}
