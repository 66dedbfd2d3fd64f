/// The thresholds from which something about a subscription is an anomaly.
package struct AnomalyLimits: Hashable, Sendable {
    /// The fewest immediate changes in one window that count as a refund loop; 3, because two may
    /// be a change of mind and back.
    package var loopChangesMin = 3
    /// The window of a loop, in days: 30, the length of most periods.
    package var loopDays = 30
    /// The fewest refunds of one purchase that are an anomaly: 2, if the second follows a reversal.
    package var refundsOfPurchaseMin = 2
    /// The fewest purchases for a refund of everything to be an anomaly: 2, because a single refund
    /// is ordinary.
    package var everythingPurchasesMin = 2
    /// The fewest Apple accounts with one app account token that are an anomaly: 3, because a
    /// customer may have two, at home and at work.
    package var tokenAccountsMin = 3

    /// The default limits.
    package init() {}

    /// The window of a loop in milliseconds.
    var loopWindow: Int64 { Int64(loopDays) * 86_400_000 }
}
