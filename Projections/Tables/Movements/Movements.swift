internal import Events

/// The journal of a subscription for the accounts of a business: what began, continued, was paid,
/// refunded, and ended, each once at its time.
package struct Movements: Sendable {
    /// The movements, by instant, then in the order of `Movement.Kind`, then by purchase.
    package let rows: [Movement]

    /// The movements of a timeline; changes of plan are classified by these catalogs.
    ///
    /// Linear in the number of events, except for sorting.
    package init(_ timeline: Timeline, _ catalogs: CatalogHistory) {
        var fold = MovementFold(timeline.asAppleDid, catalogs)
        fold.takePurchases()
        fold.takeOneTimePurchases()
        fold.takeStatuses()
        fold.takeRefunds()
        fold.takeExtensions()
        fold.takeSwitches()
        fold.takePlanRequests()
        // Stable: at the same second and with the same word they stay in the order in which
        // purchases replace each other, which the order of arrival does not affect.
        rows = fold.rows.ordered { $0.isBefore($1) }
    }
}

extension Timeline {
    /// The newest purchase begun by an instant that was not overtaken; nil if none has begun.
    func newestPurchase(begunBy instant: Instant) -> Int? {
        succession.newest(among: purchases.count(begunBy: instant))
    }
}

extension [Purchase] {
    /// The number of purchases that start at an instant or before.
    func count(begunBy instant: Instant) -> Int {
        partitioningIndex { $0.purchaseDate > instant }
    }
}
