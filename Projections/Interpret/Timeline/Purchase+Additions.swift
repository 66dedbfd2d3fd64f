internal import Events

extension [Purchase] {
    /// The same purchases, but those that only added seats to the period of an earlier one are kept
    /// with the purchase that began the period.
    ///
    /// Both lists are sorted by start. An addition does not replace the first transaction: it has
    /// the same product and end, which an extension may have moved for one of them only
    /// (https://developer.apple.com/documentation/appstoreserverapi/additionaltransactionreason).
    /// Of several transactions of one second the first one, in the order of purchases, began the
    /// period.
    var withAdditionsKept: [Purchase] {
        // The common case costs one look at each purchase.
        guard contains(where: \.isOfSeats) else { return self }
        var periods: [[Purchase]] = []
        for purchase in self {
            if let index = periods.firstIndex(where: { purchase.isAddition(to: $0) }) {
                periods[index].append(purchase)
            } else {
                periods.append([purchase])
            }
        }
        return periods.map { $0.count > 1 ? Purchase($0) : $0[0] }
    }
}

extension Timeline {
    /// The transactions of all periods, each with those that added seats to it.
    var transactions: [Purchase] {
        purchases.contains { !$0.additions.isEmpty }
            ? purchases.flatMap(\.transactions) : purchases
    }
}

extension Purchase {
    /// The transactions of its period: its own, then those that added seats.
    var transactions: [Purchase] { additions.isEmpty ? [self] : [self] + additions }

    /// Whether it is of a multiseat subscription, also if an erasure removed its seats: no other
    /// subscription has a quantity above 1.
    fileprivate var isOfSeats: Bool {
        if seats != nil { return true }
        if case .value(.integer(let quantity)) = state(of: .quantity) { return quantity > 1 }
        return false
    }

    fileprivate func isAddition(to period: [Purchase]) -> Bool {
        guard let first = period.first, first.isOfSeats, first.purchaseDate <= purchaseDate,
            byBytes(first.productId, productId) == nil, first.sharing == sharing
        else { return false }
        // What was bought in the same second is not a later purchase, whether Apple stated by then
        // that there are several transactions or not.
        guard first.purchaseDate == purchaseDate || seats?.isOneOfSeveral ?? true else {
            return false
        }
        return period.contains { other in expiries.contains { other.everExpired(on: $0) } }
    }

    private var expiries: [Instant] { [expiresDate] + extensions.map(\.from) }

    // One period from its transactions. Its end is the last one that Apple stated for any of them.
    fileprivate convenience init(_ transactions: [Purchase]) {
        let first = transactions[0]
        let stated = transactions.flatMap(\.extensions).sorted { left, right in
            (left.asOf, left.to, left.offset) < (right.asOf, right.to, right.offset)
        }
        // Apple signs the same extension for one transaction after the other.
        let extensions = stated.reduce(into: [Extension]()) { extensions, next in
            let end = extensions.last?.to
            if next.to != end, end.map({ $0 == next.from }) ?? true { extensions.append(next) }
        }
        let end = extensions.last?.to ?? first.expiresDate
        self.init(
            purchaseDate: first.purchaseDate,
            expiresDate: end,
            productId: first.productId,
            webOrderLineItemId: first.webOrderLineItemId,
            assertions: first.assertions,
            datesOffset: extensions.last?.offset ?? first.datesOffset,
            extensions: extensions,
            additions: transactions.dropFirst().map { $0.ending(at: end) }
        )
    }

    // An addition ends with its period, also if Apple signed an extension for another transaction.
    private func ending(at end: Instant) -> Purchase {
        if expiresDate == end { return self }
        return Purchase(
            purchaseDate: purchaseDate,
            expiresDate: end,
            productId: productId,
            webOrderLineItemId: webOrderLineItemId,
            assertions: assertions,
            datesOffset: datesOffset,
            extensions: extensions
        )
    }
}
