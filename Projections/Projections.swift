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

/// Projections that are built only when named, because most ledgers do not need what they cost.
package let projectionsOnRequest: [any Projection] = [
    TransactionsHistoryProjection(),
    MovementsHistoryProjection(),
]
