/// The projections that are built where none is named, in the order of listings.
public let allProjections: [any Projection] = [
    ActivePeriodsProjection(),
    RenewalStatesProjection(),
    PlanChangesProjection(),
    RefundsProjection(),
    TransactionsProjection(),
    MovementsProjection(),
    CustomersProjection(),
]

/// Those that are built where they are named, because they cost more than they are worth to all.
public let projectionsOnRequest: [any Projection] = [
    TransactionsHistoryProjection(),
    MovementsHistoryProjection(),
]
