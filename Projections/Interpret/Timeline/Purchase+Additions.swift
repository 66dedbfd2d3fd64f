internal import Events

extension [Purchase] {
    /// The same purchases, but those that only added seats to the period of an earlier one are kept
    /// with the purchase that began the period.
    ///
    /// Both lists are sorted by start. An addition does not replace the first transaction: it has
    /// the same product and end, which an extension may have moved for one of them only
    /// (https://developer.apple.com/documentation/appstoreserverapi/additionaltransactionreason).
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
        guard let first = period.first, first.isOfSeats, first.purchaseDate < purchaseDate,
            byBytes(first.productId, productId) == nil, seats?.isOneOfSeveral ?? true
        else { return false }
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
        self.init(
            purchaseDate: first.purchaseDate,
            expiresDate: extensions.last?.to ?? first.expiresDate,
            productId: first.productId,
            webOrderLineItemId: first.webOrderLineItemId,
            assertions: first.assertions,
            datesOffset: extensions.last?.offset ?? first.datesOffset,
            extensions: extensions,
            additions: Array(transactions.dropFirst())
        )
    }
}
