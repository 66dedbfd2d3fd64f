/// The projections that are built by default, in listing order.
package let allProjections: [any Projection] = [
    ActivePeriodsProjection(),
    RenewalStatesProjection(),
    PlanChangesProjection(),
    RefundsProjection(),
    TransactionsProjection(),
    MovementsProjection(),
    CustomersProjection(),
]

extension [any Projection] {
    /// The projections of this package; those on request are built only when named.
    ///
    /// Add your own where a ledger is opened: `projections: .standard + [Trials()]`.
    public static var standard: [any Projection] { allProjections + projectionsOnRequest }
}

/// Projections that are built only when named, because most ledgers do not need what they cost.
package let projectionsOnRequest: [any Projection] = [
    TransactionsHistoryProjection(),
    MovementsHistoryProjection(),
]
