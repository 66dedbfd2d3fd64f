internal import Events

/// One transaction as all formats before JWS represent it, at one moment.
struct ReceiptRow {
    /// A refund or, in old data, an upgrade.
    struct Cancellation {
        let date: Instant
        /// Apple's reason: 0 other, 1 an issue with the app.
        let reason: Int64
    }

    /// The fields that only auto-renewable subscriptions have.
    struct Subscription {
        let lineItemId: String
        let expiresDate: Instant
        let isTrial: Bool
        let isIntroductory: Bool
        let isUpgraded: Bool
        let promotionalOfferId: String?
        let offerCodeReferenceName: String?
        let group: String
    }

    let productId: String
    let quantity: Int64
    let transactionId: String
    let originalTransactionId: String
    let purchaseDate: Instant
    let originalPurchaseDate: Instant
    let cancellation: Cancellation?
    let appAccountToken: String?
    let subscription: Subscription?
}

/// The rows of a life in old formats.
extension ReceiptContent {
    /// All rows at an instant, the newest first; finished consumables are gone.
    func rows(asOf instant: Instant) -> [ReceiptRow] {
        life.state(asOf: instant).map { rows(of: $0, asOf: instant) } ?? []
    }

    /// All rows of a state at an instant, the newest first.
    func rows(of state: LifeState, asOf instant: Instant) -> [ReceiptRow] {
        let oneTimePurchases = state.oneTimePurchases.filter { isListed($0, asOf: instant) }
        let rows =
            state.purchases.indices.map { row(ofPurchase: $0, in: state) }
            + oneTimePurchases.map { row(of: $0) }
        return rows.sorted {
            ($0.purchaseDate, $0.transactionId) > ($1.purchaseDate, $1.transactionId)
        }
    }

    /// One purchase of a period.
    func row(ofPurchase number: Int, in state: LifeState) -> ReceiptRow {
        let purchase = state.purchases[number]
        return ReceiptRow(
            productId: purchase.product.id,
            quantity: purchase.seats?.tiers.quantity ?? 1,
            transactionId: identity.transactionId(transactionNumber(ofPurchase: number, in: state)),
            originalTransactionId: identity.originalTransactionId,
            purchaseDate: purchase.purchaseDate,
            originalPurchaseDate: identity.originalPurchaseDate(of: state) ?? purchase.purchaseDate,
            cancellation: cancellation(of: purchase),
            appAccountToken: state.appAccountToken ?? identity.appAccountToken,
            subscription: subscription(of: purchase)
        )
    }

    private var identity: LifeIdentity { life.identity }

    // A restore gives ids to the existing purchases; later ones have only their own.
    private func transactionNumber(ofPurchase number: Int, in state: LifeState) -> Int64 {
        guard style.contains(.restoredIds), let restore = state.restores.last,
            number < restore.count
        else { return state.purchases[number].transactionNumber }
        return restore.firstTransactionNumber + Int64(number)
    }

    private func cancellation(of purchase: LifeState.Purchase) -> ReceiptRow.Cancellation? {
        if let revocation = purchase.revocation {
            return ReceiptRow.Cancellation(date: revocation.date, reason: revocation.reason)
        }
        guard style.contains(.upgradesCancelled), purchase.isUpgraded,
            let successor = purchase.successor
        else { return nil }
        return ReceiptRow.Cancellation(date: successor.start, reason: 0)
    }

    private func subscription(of purchase: LifeState.Purchase) -> ReceiptRow.Subscription {
        let offer = purchase.offer
        let isIntroductory = offer?.category == .introductory
        return ReceiptRow.Subscription(
            lineItemId: identity.webOrderLineItemId(purchase.lineItemNumber),
            expiresDate: purchase.expiresDate,
            isTrial: purchase.isTrial,
            isIntroductory: isIntroductory && !purchase.isTrial,
            isUpgraded: purchase.isUpgraded && !style.contains(.upgradesCancelled),
            promotionalOfferId: offer?.category == .promotional ? offer?.identifier : nil,
            offerCodeReferenceName: offer?.category == .offerCode ? offer?.identifier : nil,
            group: purchase.product.group
        )
    }

    private func row(of purchase: LifeState.OneTimePurchase) -> ReceiptRow {
        let id = identity.transactionId(purchase.transactionNumber)
        return ReceiptRow(
            productId: purchase.productId,
            quantity: purchase.quantity,
            transactionId: id,
            originalTransactionId: id,
            purchaseDate: purchase.purchaseDate,
            originalPurchaseDate: purchase.purchaseDate,
            cancellation: purchase.revocation.map {
                ReceiptRow.Cancellation(date: $0.date, reason: $0.reason)
            },
            appAccountToken: identity.appAccountToken,
            subscription: nil
        )
    }

    // Only consumables are finished, at the next launch of the app: within an hour here. A refunded
    // one is listed again.
    private func isListed(_ purchase: LifeState.OneTimePurchase, asOf instant: Instant) -> Bool {
        purchase.kind != .consumable || purchase.revocation != nil
            || instant < purchase.purchaseDate.advanced(by: SimulatedCalendar.hour)
    }
}
