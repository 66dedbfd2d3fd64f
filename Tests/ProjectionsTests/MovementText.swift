import Events
import Projections

/// The rows of a stream as scenarios write them: `OCCURRED MOVEMENT PRODUCT [was=] [AMOUNT]
/// [again] [family] [because=REASON] ["APPLE EVENT"]`; what is unknown is left out.
func describe(_ movements: Movements) -> [String] {
    movements.rows.map { row in
        var words = [TimelineText.text(row.occurred), row.kind.rawValue, row.productId]
        if let previous = row.previousProductId { words.append("was=\(previous)") }
        if let amount = row.amountMilliunits { words.append("\(amount)") }
        if row.isResubscribe { words.append("again") }
        if let seats = row.seatQuantity { words.append("seats=\(seats)") }
        if let sharing = row.sharing { words.append(sharing.rawValue) }
        if let reason = row.expirationReason { words.append("because=\(reason.rawValue)") }
        if let event = row.appleEvent { words.append("\"\(event)\"") }
        return words.joined(separator: " ")
    }
}

/// A catalog of one group: `premium` and `premium2` above `basic`, all monthly.
let scenarioCatalogs = CatalogHistory(
    [("premium", 1), ("premium2", 1), ("basic", 2)].reduce(into: [ProductCatalog]()) {
        catalogs,
        product in
        guard let month = SubscriptionPeriod("P1M") else { return }
        let subscription = ProductCatalog.Subscription(
            productId: product.0,
            subscriptionGroupIdentifier: "group",
            level: product.1,
            duration: month
        )
        let subscriptions = (catalogs.first?.subscriptions ?? []) + [subscription]
        catalogs = [
            ProductCatalog(
                version: 1,
                effectiveFrom: Instant(milliseconds: 0),
                subscriptions: subscriptions
            )
        ]
    }
)
