/// By which of its deliveries a life is known: what there is to know depends on it.
public enum Hearing: CaseIterable, Hashable, Sendable {
    /// By `SubscriptionLife.deliveries()`: all that arrives unasked.
    case unasked
    /// By `SubscriptionLife.polls()` alone.
    ///
    /// No answer of Apple's tells that a refund was asked for or refused, and none announces a
    /// reversal: the next answer no longer knows the refund (Apple's data: trap 31).
    case polls
    /// By both.
    ///
    /// Answers of today tell of old refunds what notifications of their time could not
    /// (`revocationPercentage`, Apple's data: transactions).
    case everything
}

extension SubscriptionLife {
    /// The rows that all tables must have for somebody who was told in that way.
    public func tables(by hearing: Hearing) -> LifeTables {
        var known = known
        known?.hear(by: hearing)
        return LifeTables(
            states: known?.states ?? [],
            planChanges: known?.planChanges ?? [],
            refundCases: known?.refundCases ?? [],
            transactions: known?.transactions ?? [],
            movements: known?.movements ?? []
        )
    }
}
