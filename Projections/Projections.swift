/// Every projection there is, in the order of listings.
public let allProjections: [any Projection] = [
    ActivePeriodsProjection(),
    PlanChangesProjection(),
    RefundsProjection(),
    RenewalStatesProjection(),
    TransactionsProjection(),
    MovementsProjection(),
]
