/// Every projection there is, in the order of listings.
public let allProjections: [any Projection] = [
    ActivePeriodsProjection(),
    RenewalStatesProjection(),
    PlanChangesProjection(),
    RefundsProjection(),
    TransactionsProjection(),
    MovementsProjection(),
    CustomersProjection(),
]
