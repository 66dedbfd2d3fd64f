/// From where on something about a subscription is odd.
public struct AnomalyLimits: Hashable, Sendable {
    /// Fewest immediate changes of one window that are a refund loop; 3, because two may be a change
    /// of mind and back.
    public var loopChangesMin = 3
    /// The window of a loop, in days: 30, the length of most periods.
    public var loopDays = 30
    /// Fewest refunds of one purchase that are odd: 2, where the second follows a reversal.
    public var refundsOfPurchaseMin = 2
    /// Fewest purchases that make everything more than a single refund, which is nothing odd: 2.
    public var everythingPurchasesMin = 2

    /// The limits that hold unless others are named.
    public init() {}

    /// The window of a loop in milliseconds.
    var loopWindow: Int64 { Int64(loopDays) * 86_400_000 }
}
