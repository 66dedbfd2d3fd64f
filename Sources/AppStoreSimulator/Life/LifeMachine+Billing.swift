internal import Events

/// How periods begin, renew, fail and end.
extension LifeMachine {
    mutating func subscribe(
        to product: SimulatedProduct,
        offer: SimulatedOffer?,
        seats: SimulatedSeats? = nil
    ) throws(ScriptError) -> [Notice] {
        let isFirst = state.phase == .neverBought
        switch state.phase {
        case .neverBought, .expired, .revoked: break
        default: try require(false, "no subscription may be active")
        }
        try require(
            state.newest.map { $0.product.group == product.group } ?? true,
            .wrongProduct,
            "\(product.id) must belong to the group of the products bought before"
        )
        try require(
            isFirst || offer?.category != .introductory,
            .wrongProduct,
            "an introductory offer applies only to the first purchase"
        )

        if let newest = state.newest {
            let gap = at.milliseconds - newest.expiresDate.milliseconds
            if gap > Self.retryDuration { state.runStart = at }
            let isRefunded = at < newest.expiresDate
            kinds.insert(isRefunded ? .resubscribedAfterRefund : .resubscribed)
            if newest.product != product { kinds.insert(.resubscribedToAnother) }
        } else {
            state.runStart = at
        }
        if identity.isFamilyShared { kinds.insert(.familyShared) }
        if identity.bundle != nil { kinds.insert(.inBundle) }

        state.billingDay = SimulatedCalendar.dayOfMonth(at)
        let number = buy(product, offer: offer, seats: seats, start: at)
        state.phase = .active
        state.isAutoRenewOn = true
        return [notice("SUBSCRIBED", isFirst ? "INITIAL_BUY" : "RESUBSCRIBE", about: number)]
    }

    mutating func renew() throws(ScriptError) -> [Notice] {
        let current = try activePurchase().purchase
        let end = current.expiresDate
        try require(
            state.isAutoRenewOn && state.isPriceIncreaseAccepted != false,
            "automatic renewal must be on, and a higher price accepted"
        )
        try require(
            at <= end && at.milliseconds >= end.milliseconds - Self.earlyChargeMax,
            .wrongTime,
            "a renewal is charged within the 24 hours before \(end)"
        )
        if at < end { kinds.insert(.chargedEarly) }
        return [notice("DID_RENEW", about: renewPurchase(from: end, after: current))]
    }

    mutating func failToRenew(graceUntil: Instant?) throws(ScriptError) -> [Notice] {
        let (number, current) = try activePurchase()
        try require(state.isAutoRenewOn, "automatic renewal must be on")
        try requireEnd(current.expiresDate)
        state.retries.append(LifeState.Retry(purchase: number))
        guard let graceUntil else {
            state.phase = .retry(graceUntil: nil)
            return [notice("DID_FAIL_TO_RENEW", about: number)]
        }
        try require(
            graceUntil.milliseconds >= at.milliseconds + Self.stepSpacing
                && graceUntil == graceUntil.flooredToSecond,
            .wrongTime,
            "grace must end on a whole second, a minute or more after \(at)"
        )
        state.phase = .grace(until: graceUntil)
        state.graces.append(
            LifeState.Grace(purchase: number, from: current.expiresDate, to: graceUntil)
        )
        return [notice("DID_FAIL_TO_RENEW", "GRACE_PERIOD", about: number)]
    }

    mutating func recover() throws(ScriptError) -> [Notice] {
        let current = try newestPurchase().purchase
        let start: Instant
        switch state.phase {
        case .grace:
            // The billing cycle stays the same, so the period that was paid late covers the grace.
            let grace = state.graces.removeLast()
            state.recoveredGraces.append(
                LifeState.Grace(purchase: state.purchases.count, from: grace.from, to: grace.to)
            )
            start = current.expiresDate
            kinds.insert(.recoveredInGrace)
        case .retry(let graceUntil):
            start = at
            state.billingDay = SimulatedCalendar.dayOfMonth(at)
            if graceUntil == nil { kinds.insert(.recoveredWithGap) }
            if state.renewalProduct != current.product {
                kinds.insert(.recoveredWithAnotherProduct)
            }
        default:
            throw refusal("billing must have failed before it can recover")
        }

        let number = renewPurchase(from: start, after: current)
        try require(
            state.purchases[number].expiresDate > at,
            .wrongTime,
            "the recovered period must not be over at \(at)"
        )
        state.phase = .active
        return [notice("DID_RENEW", "BILLING_RECOVERY", about: number)]
    }

    mutating func endGrace() throws(ScriptError) -> [Notice] {
        guard case .grace(let until) = state.phase else {
            throw refusal("a grace period must be running")
        }
        try requireEnd(until)
        state.phase = .retry(graceUntil: until)
        kinds.insert(.graceRanOut)
        return [notice("GRACE_PERIOD_EXPIRED", about: try newestPurchase().number)]
    }

    mutating func giveUp() throws(ScriptError) -> [Notice] {
        guard case .retry(let graceUntil) = state.phase else {
            throw refusal("billing must be in retry")
        }
        state.expire(.billingRetry)
        endRetry()
        state.isAutoRenewOn = false
        if graceUntil == nil { kinds.insert(.failedForGood) }
        return [notice("EXPIRED", "BILLING_RETRY", about: try newestPurchase().number)]
    }

    mutating func expire(_ cause: ExpiryCause) throws(ScriptError) -> [Notice] {
        let (number, current) = try activePurchase()
        try requireEnd(current.expiresDate)
        try require(
            (cause == .voluntary || cause == .unbundled) == !state.isAutoRenewOn
                && (cause == .unbundled) == state.willUnbundle && cause != .billingRetry,
            "a voluntary end needs automatic renewal off, any other needs it on; use giveUp"
        )
        state.expire(cause)
        state.isAutoRenewOn = false
        if cause == .voluntary { kinds.insert(.expiredVoluntarily) }
        if cause == .unbundled { kinds.insert(.unbundled) }
        if cause == .priceIncrease { kinds.insert(.priceIncreaseRefused) }
        return [notice("EXPIRED", cause.subtype, about: number)]
    }

    /// Adds a purchase, which is charged now, ends what it replaces, and returns its number.
    mutating func buy(
        _ product: SimulatedProduct,
        offer: SimulatedOffer?,
        seats: SimulatedSeats?,
        start: Instant,
        isRenewal: Bool = false
    ) -> Int {
        if let last = state.purchases.indices.last, start < state.purchases[last].expiresDate {
            state.purchases[last].successor = (start, product.id)
        }

        let isWholePeriod = offer.map { $0.discount != .payAsYouGo } ?? false
        let duration = isWholePeriod ? offer?.duration ?? product.duration : product.duration
        let end = SimulatedCalendar.end(of: duration, from: start, billingDay: state.billingDay)
        if case .days = duration { state.billingDay = SimulatedCalendar.dayOfMonth(end) }
        if case .weeks = duration { state.billingDay = SimulatedCalendar.dayOfMonth(end) }
        let tiers = seats.map { identity.storefront.seatTiers(of: product, $0.quantity) }
        state.seats = seats
        state.purchases.append(
            LifeState.Purchase(
                product: product,
                offer: offer,
                price: tiers?.total ?? identity.storefront.price(of: product, offer: offer),
                seats: tiers.map { LifeState.Seats(tiers: $0, of: seats) },
                purchaseDate: start,
                expiresDate: end,
                isRenewal: isRenewal,
                transactionNumber: state.takeTransactionNumber(),
                lineItemNumber: state.lineItemsUsed,
                modifiedAt: at
            )
        )

        state.lineItemsUsed += 1
        state.renewalProduct = product
        state.isPriceIncreaseAccepted = nil
        state.isRenewalForgotten = false
        state.willUnbundle = false
        if let offer {
            state.coming = LifeState.CurrentOffer(
                offer: offer,
                periodsLeft: isRenewal && state.coming?.offer == offer
                    ? (state.coming?.periodsLeft ?? 1) - 1 : offer.periodCount - 1
            )
        }
        if offer == nil || state.coming?.periodsLeft == 0 { state.coming = nil }
        noteOffer(offer)
        return state.purchases.count - 1
    }

    private mutating func noteOffer(_ offer: SimulatedOffer?) {
        switch offer?.category {
        case .introductory where offer?.discount != .freeTrial: kinds.insert(.introductoryOffer)
        case .promotional: kinds.insert(.promotionalOffer)
        case .offerCode: kinds.insert(.offerCode)
        case .winBack: kinds.insert(.winBackOffer)
        case .retention: kinds.insert(.retentionOffer)
        default: break
        }
    }

    private mutating func renewPurchase(
        from start: Instant,
        after current: LifeState.Purchase
    ) -> Int {
        let product = state.renewalProduct ?? current.product
        let offer = state.coming?.offer
        if product != current.product { kinds.insert(.downgradeEffective) }
        if offer == nil { kinds.insert(current.isTrial ? .trialThenPaid : .renewed) }
        return buy(product, offer: offer, seats: state.seats, start: start, isRenewal: true)
    }

    /// The App Store stops charging; this is known from Apple's first statement about it.
    mutating func endRetry() {
        if let last = state.retries.indices.last { state.retries[last].end = signedAt }
    }

    private func requireEnd(_ end: Instant) throws(ScriptError) {
        try require(
            at >= end && at.milliseconds <= end.milliseconds + Self.endDelayMax,
            .wrongTime,
            "the end must be reported within a day after \(end)"
        )
    }
}
