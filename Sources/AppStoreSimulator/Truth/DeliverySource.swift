/// The deliveries from which a life is known; they determine what can be known.
package enum DeliverySource: CaseIterable, Hashable, Sendable {
    /// From `SubscriptionLife.deliveries()`: everything that arrives unasked.
    case unasked
    /// From `SubscriptionLife.polls()` alone.
    ///
    /// Apple's answers never show that a refund was requested or declined, and none announces a
    /// reversal: the refund is missing from the next answer (Apple's data: trap 31).
    case polls
    /// From both.
    ///
    /// Today's answers contain details of old refunds that the notifications of that time could
    /// not carry (`revocationPercentage`, Apple's data: transactions).
    case everything
}
