/// What Apple signs about seats and bundles (Apple's data: seats, bundles).
extension PayloadContent {
    /// Adds the seats of a transaction.
    func addSeats(
        of purchase: LifeState.Purchase,
        _ state: LifeState,
        to json: inout JSONWriter
    ) {
        guard let seats = purchase.seats else { return }
        if state.hasAdditions(purchase) { json.add("additionalTransactionReason", "SEAT_ADDITION") }
        var info = JSONWriter(store.pace)
        info.add("invitationManagement", seats.invitations.rawValue)
        info.add("priceTiers", objects: objects(seats.tiers))
        if !identity.isMember, seats.revoked > 0 { info.add("revokedSeatQuantity", seats.revoked) }
        json.add("multiSeatInfo", object: info.object)
    }

    /// Adds the seats that renew.
    func addNextSeats(
        _ product: SimulatedProduct,
        of state: LifeState,
        to json: inout JSONWriter
    ) {
        guard let seats = state.seats, state.isAutoRenewOn, !identity.isMember else { return }
        json.add("renewalQuantity", seats.quantity)
        var info = JSONWriter(store.pace)
        let tiers = identity.storefront.seatTiers(of: product, seats.quantity)
        info.add("renewalPriceTiers", objects: objects(tiers))
        json.add("multiSeatInfo", object: info.object)
    }

    /// The price of the next period; for seats, the average of one.
    func renewalPrice(of product: SimulatedProduct, _ state: LifeState) -> Int64 {
        guard let seats = state.seats else {
            return identity.storefront.price(of: product, offer: state.coming?.offer)
        }
        return identity.storefront.seatTiers(of: product, seats.quantity).average
    }

    /// Adds the bundle that a transaction belongs to, and the subscription that this one replaced.
    func addBundle(of purchase: LifeState.Purchase, to json: inout JSONWriter) {
        json.add("previousOriginalTransactionId", identity.previousOriginalTransactionId)
        guard let bundle = identity.bundle else { return }
        json.add(UnconfirmedWords.bundleProductId, bundle.productId)
        json.add(
            UnconfirmedWords.bundleTransactionId,
            bundle.transactionId(purchase.lineItemNumber)
        )
        json.add(UnconfirmedWords.bundleOriginalTransactionId, bundle.originalTransactionId)
        json.add(UnconfirmedWords.bundleGroup, bundle.group)
    }

    /// Adds the bundle that the next renewal belongs to.
    func addNextBundle(of state: LifeState, to json: inout JSONWriter) {
        guard let bundle = identity.bundle else { return }
        json.add(UnconfirmedWords.bundleProductId, bundle.productId)
        json.add(UnconfirmedWords.bundleOriginalTransactionId, bundle.originalTransactionId)
        json.add(UnconfirmedWords.bundleGroup, bundle.group)
        if state.willUnbundle { json.add(UnconfirmedWords.willUnbundle, true) }
    }

    // Apple guarantees no order.
    private func objects(_ tiers: [SimulatedSeatTier]) -> [[UInt8]] {
        let objects = tiers.map { tier in
            var json = JSONWriter(store.pace)
            json.add("price", tier.price)
            json.add("quantity", tier.quantity)
            return json.object
        }
        return identity.index % 2 == 0 ? objects : objects.reversed()
    }
}
