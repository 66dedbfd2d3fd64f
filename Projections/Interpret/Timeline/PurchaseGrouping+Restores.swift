internal import Events

extension PurchaseGrouping {
    /// The one-time purchases, by date, with restores merged into the original purchase.
    ///
    /// A restore repeats a non-consumable under the same original transaction id, and old formats
    /// give it the date of the restore (Apple's data: trap 15): that is one purchase, at the first
    /// date. Consumables and non-renewing subscriptions cannot be restored: each has an original id
    /// of its own (developer.apple.com/documentation/appstoreserverapi/originaltransactionid). So
    /// rows of one product and one original id are one purchase if no format states the type, as in
    /// a receipt; if Apple signs another type, or a transaction without any, each date is a
    /// purchase.
    static func oneTimePurchases(_ transactions: [KeyedAssertion]) -> [Purchase] {
        let single = PurchaseGrouping(transactions).purchases
        guard single.count > 1 else { return single }
        var purchases: [Purchase] = []
        for same in single.ordered(by: { byBytes($0.productId, $1.productId) ?? false })
            .runs(where: { byBytes($0.productId, $1.productId) == nil })
        {
            purchases += Purchase(restored: same).map { [$0] } ?? Array(same)
        }
        return purchases.sorted { left, right in
            left.purchaseDate != right.purchaseDate
                ? left.purchaseDate < right.purchaseDate
                : byBytes(left.productId, right.productId) ?? false
        }
    }
}

extension Purchase {
    // Nil if they are not one purchase that was restored. They come by date.
    fileprivate convenience init?(restored purchases: ArraySlice<Purchase>) {
        guard let first = purchases.first, purchases.count > 1 else { return nil }
        let assertions = Assertions(purchases.flatMap(\.assertions.sorted))
        switch assertions.state(of: .type) {
        case .value(.text("Non-Consumable")): break
        case .unknown
        where assertions.sorted.allSatisfy({ $0.content.format != .signedTransaction }):
            break
        default: return nil
        }
        self.init(
            purchaseDate: first.purchaseDate,
            expiresDate: first.expiresDate,
            productId: first.productId,
            webOrderLineItemId: first.webOrderLineItemId,
            assertions: assertions,
            datesOffset: first.datesOffset,
            extensions: [],
            restoreDates: purchases.dropFirst().map(\.purchaseDate)
        )
    }
}

extension [Purchase] {
    // The longest slices in which each element is the same as the previous one.
    fileprivate func runs(where isSame: (Purchase, Purchase) -> Bool) -> [ArraySlice<Purchase>] {
        var runs: [ArraySlice<Purchase>] = []
        var start = startIndex
        for index in indices where index + 1 == endIndex || !isSame(self[index], self[index + 1]) {
            runs.append(self[start...index])
            start = index + 1
        }
        return runs
    }
}
