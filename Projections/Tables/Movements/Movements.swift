internal import Events

/// The journal of a subscription for the books of a business: what began, went on, was paid,
/// given back, and ended, each once and when it occurred.
public struct Movements: Sendable {
    /// The movements, by instant, then in the order of `Movement.Kind`, then by purchase.
    public let rows: [Movement]

    /// The movements of a timeline; changes of plan are judged by these catalogs.
    ///
    /// Linear in the number of events but for sorting.
    public init(_ timeline: Timeline, _ catalogs: CatalogHistory) {
        var fold = MovementFold(timeline.asAppleDid, catalogs)
        fold.takePurchases()
        fold.takeOneTimePurchases()
        fold.takeStatuses()
        fold.takeRefunds()
        fold.takeExtensions()
        fold.takeSwitches()
        fold.takePlanRequests()
        // Stable: of one second and word they stay in the order in which purchases replace each
        // other, which no order of arrival changes.
        rows = fold.rows.ordered { $0.isBefore($1) }
    }
}

extension [Purchase] {
    /// How many start at an instant or before; by binary search.
    func count(begunBy instant: Instant) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].purchaseDate <= instant { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
