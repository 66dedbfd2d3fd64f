internal import Events

/// What the customer, the developer and the family change while a period runs.
extension LifeMachine {
    mutating func changeNow(
        to product: SimulatedProduct,
        offer: SimulatedOffer?
    ) throws(ScriptError) -> [Notice] {
        let (number, current) = try activePurchase()
        let old = current.product
        try require(!isMember, "only the purchaser changes a subscription")
        try require(
            product.group == old.group && product.beginsAtOnce(after: old),
            .wrongProduct,
            "only a product of a higher level, or of the same level and length, begins at once"
        )
        try require(
            offer?.category != .introductory,
            .wrongProduct,
            "an introductory offer applies only to the first purchase"
        )
        try requireBegun(current)

        let isUpgrade = product.level < old.level
        kinds.insert(isUpgrade ? .upgraded : .crossgraded)
        if at == current.purchaseDate { kinds.insert(.upgradedInRenewalSecond) }
        if current.offer?.discount == .freeTrial { kinds.insert(.upgradedInTrial) }
        if offer != nil { kinds.insert(.changedByOffer) }
        state.markUpgraded(number, isUpgrade, at: at)
        state.coming = nil
        state.isAutoRenewOn = true
        state.billingDay = SimulatedCalendar.dayOfMonth(at)

        let new = buy(product, offer: offer, seats: state.seatsNow, start: at)
        let type = offer == nil ? "DID_CHANGE_RENEWAL_PREF" : "OFFER_REDEEMED"
        return [notice(type, "UPGRADE", about: new)]
    }

    mutating func changeAtRenewal(
        to product: SimulatedProduct,
        offer: SimulatedOffer?
    ) throws(ScriptError) -> [Notice] {
        let (number, current) = try renewingPurchase()
        let old = current.product
        try require(!isMember, "only the purchaser changes a subscription")
        try require(
            product != state.renewalProduct,
            .wrongProduct,
            "the product must differ from the one requested before"
        )
        if product == old {
            state.renewalProduct = product
            kinds.insert(.downgradeWithdrawn)
            return [notice("DID_CHANGE_RENEWAL_PREF", about: number)]
        }
        try require(
            product.group == old.group && product.waits(after: old),
            .wrongProduct,
            "only a product of a lower level, or of the same level and another length, can wait"
        )
        try require(
            offer == nil
                || state.isAutoRenewOn
                    && (offer?.category == .promotional || offer?.category == .offerCode),
            .wrongProduct,
            "an active subscription accepts promotional offers and offer codes, if it renews"
        )

        state.renewalProduct = product
        state.coming = offer.map {
            LifeState.CurrentOffer(offer: $0, periodsLeft: $0.periodCount)
        }
        kinds.insert(product.level == old.level ? .crossgradeRequested : .downgradeRequested)
        if offer != nil { kinds.insert(.changedByOffer) }
        let type = offer == nil ? "DID_CHANGE_RENEWAL_PREF" : "OFFER_REDEEMED"
        return [notice(type, "DOWNGRADE", about: number)]
    }

    // The newest purchase of a life that is active, or in billing retry.
    private func renewingPurchase() throws(ScriptError) -> (
        number: Int, purchase: LifeState.Purchase
    ) {
        switch state.phase {
        case .active, .retry: return try newestPurchase()
        default:
            throw refusal("the subscription must be active or in billing retry")
        }
    }

    mutating func turnAutoRenewOff() throws(ScriptError) -> [Notice] {
        let number = try newestPurchase().number
        try require(state.isAutoRenewOn, "automatic renewal must be on")
        let disabled = notice("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", about: number)
        state.isAutoRenewOn = false

        switch state.phase {
        case .active:
            kinds.insert(.autoRenewOff)
            return [disabled]
        case .grace:
            kinds.insert(.cancelledInGrace)
            // Grace ends when Apple signs the snapshot that denies it: no earlier end can be known.
            let last = state.graces.count - 1
            state.graces[last].to = min(state.graces[last].to, signedAt)
        case .retry:
            kinds.insert(.cancelledInRetry)
        default:
            throw refusal("the subscription must run")
        }

        state.expire(.voluntary)
        state.isRenewalForgotten = true
        endRetry()
        return [disabled, notice("EXPIRED", "VOLUNTARY", about: number)]
    }

    mutating func turnAutoRenewOn() throws(ScriptError) -> [Notice] {
        let number = try activePurchase().number
        try require(!state.isAutoRenewOn, "automatic renewal must be off")
        state.isAutoRenewOn = true
        state.willUnbundle = false
        kinds.insert(.autoRenewOnAgain)
        return [notice("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", about: number)]
    }

    mutating func redeem(_ offer: SimulatedOffer) throws(ScriptError) -> [Notice] {
        let number = try activePurchase().number
        try require(!isMember, "only the purchaser redeems an offer")
        try require(state.isAutoRenewOn, "automatic renewal must be on")
        try require(
            [.promotional, .offerCode, .retention].contains(offer.category),
            .wrongProduct,
            "an active subscription accepts promotional offers, offer codes and retention offers"
        )
        state.coming = LifeState.CurrentOffer(offer: offer, periodsLeft: offer.periodCount)
        return [notice("OFFER_REDEEMED", about: number)]
    }

    mutating func extend(days: Int64) throws(ScriptError) -> [Notice] {
        let (number, current) = try activePurchase()
        try require(
            (1...90).contains(days) && at >= current.purchaseDate
                && current.offer?.discount != .freeTrial,
            .wrongTime,
            "an extension has 1 to 90 days, in a period that has begun and is not free"
        )
        let end = current.expiresDate.advanced(days: days)
        state.purchases[number].expiresDate = end
        state.extensions.append(LifeState.Extension(purchase: number, signedAt: signedAt))
        state.purchases[number].modifiedAt = at
        state.billingDay = SimulatedCalendar.dayOfMonth(end)
        kinds.insert(.extended)
        return [notice("RENEWAL_EXTENDED", about: number)]
    }

    mutating func announcePriceIncrease() throws(ScriptError) -> [Notice] {
        let number = try activePurchase().number
        try require(
            state.isPriceIncreaseAccepted == nil,
            "the price increase must not be announced already"
        )
        state.isPriceIncreaseAccepted = false
        return [notice("PRICE_INCREASE", "PENDING", about: number)]
    }

    mutating func acceptPriceIncrease() throws(ScriptError) -> [Notice] {
        let number = try activePurchase().number
        try require(
            state.isPriceIncreaseAccepted == false,
            "the price increase must be announced first"
        )
        state.isPriceIncreaseAccepted = true
        kinds.insert(.priceIncreaseAccepted)
        return [notice("PRICE_INCREASE", "ACCEPTED", about: number)]
    }

    mutating func setAppAccountToken(_ token: String) throws(ScriptError) -> [Notice] {
        _ = try newestPurchase()
        state.appAccountToken = token
        return []
    }

    mutating func restore() throws(ScriptError) -> [Notice] {
        _ = try newestPurchase()
        // Every purchase gets a transaction id for the restoring device.
        state.restores.append(
            LifeState.Restore(
                firstTransactionNumber: state.transactionsUsed,
                count: state.purchases.count
            )
        )
        state.transactionsUsed += Int64(state.purchases.count)
        kinds.insert(.restored)
        return []
    }

    mutating func buyOnce(
        _ productId: String,
        _ kind: SimulatedOneTimePurchase.Kind,
        quantity: Int64
    ) -> [Notice] {
        state.oneTimePurchases.append(
            LifeState.OneTimePurchase(
                productId: productId,
                kind: kind,
                quantity: quantity,
                purchaseDate: at,
                transactionNumber: state.takeTransactionNumber()
            )
        )
        switch kind {
        case .consumable: kinds.insert(.consumable)
        case .nonConsumable: kinds.insert(.nonConsumable)
        case .nonRenewing: kinds.insert(.nonRenewing)
        }
        let number = state.oneTimePurchases.count - 1
        return [notice("ONE_TIME_CHARGE", about: .oneTimePurchase(number))]
    }
}
