internal import Events

/// What is drawn while a period runs, including products and offers.
extension RandomStory {
    mutating func subscribeFirst() {
        let candidates = isSteady ? products.filter { $0.duration == .weeks(1) } : products
        let product = generator.element(of: candidates) ?? products[0]
        let offer: SimulatedOffer?
        switch generator.integer(in: 0...99) {
        case _ where identity.isMember || seats != nil || identity.bundle != nil: offer = nil
        case 0..<35:
            let lengths: [SubscriptionDuration] = [.days(3), .weeks(1), .weeks(2), .months(1)]
            offer = .free(generator.element(of: lengths) ?? .weeks(1))
        case 35..<43: offer = .payAsYouGo(product.duration, periods: 3)
        case 43..<49: offer = .payUpFront(.months(2))
        case 49..<57: offer = .free(.months(1), .offerCode, identifier: "WELCOME2024")
        default: offer = nil
        }
        add(
            seats.map { .buySeats(product, $0, at: now) }
                ?? .subscribe(product, offer: offer, at: now)
        )
    }

    /// Draws one change in the current period.
    mutating func drawChange(_ current: LifeState.Purchase, at: Instant) {
        if identity.isMember { return drawFamilyChange(current, at: at) }
        if drawExtraChange(at: at) { return }
        let number = machine.state.purchases.count - 1
        // The purchase of a period with further seats may be refunded while the period runs.
        let isFree = current.price == 0 || machine.state.newest?.revocation != nil
        switch generator.integer(in: 0...99) {
        case 0..<12: drawChangeNow(current, at: at)
        case 12..<28: drawChangeAtRenewal(current, at: at)
        case 28..<44: drawAutoRenewSwitch(at: at)
        case 44..<54 where !isFree:
            add(.refund(purchase: number, percentage: percentage(), at: at))
        case 54..<61: drawRefundOfAny(at: at)
        case 61..<66: drawReversalOfAny(at: at)
        case 66..<72 where current.offer?.discount != .freeTrial:
            add(.extend(days: generator.integer(in: 1...90), at: at))
        case 72..<79: drawRedemption(at: at)
        case 79..<85: drawPriceIncrease(at: at)
        case 85..<90 where !isFree: drawRefundRequest(of: number, at: at)
        default: drawSideEvent(at: at)
        }
    }

    private mutating func drawFamilyChange(_ current: LifeState.Purchase, at: Instant) {
        switch generator.integer(in: 0...9) {
        case 0..<2: add(.stopSharing(at: at))
        case 2..<4: drawAutoRenewSwitch(at: at)
        case 4..<5 where current.offer?.discount != .freeTrial:
            add(.extend(days: generator.integer(in: 1...90), at: at))
        default: add(.restore(at: at))
        }
    }

    private mutating func drawChangeNow(_ current: LifeState.Purchase, at: Instant) {
        guard let product = productForNow(than: current.product) else {
            return drawSideEvent(at: at)
        }
        let offer: SimulatedOffer? =
            generator.chance(percent: 10)
            ? .payUpFront(.months(1), .promotional, identifier: "UPGRADE") : nil
        add(.changeNow(to: product, offer: offer, at: at))
    }

    private mutating func drawChangeAtRenewal(_ current: LifeState.Purchase, at: Instant) {
        if machine.state.renewalProduct != current.product {
            return add(.changeAtRenewal(to: current.product, at: at))
        }
        let waiting = products.filter { $0.waits(after: current.product) }
        guard let product = generator.element(of: waiting) else {
            return drawSideEvent(at: at)
        }
        let isByOffer = machine.state.isAutoRenewOn && generator.chance(percent: 15)
        let category: SimulatedOffer.Category =
            generator.chance(percent: 50) ? .promotional : .offerCode
        let offer: SimulatedOffer? =
            isByOffer ? .payUpFront(.months(1), category, identifier: "STAYSMALL") : nil
        add(.changeAtRenewal(to: product, offer: offer, at: at))
    }

    /// Draws another product for the charge that is still retried, if there is one to choose.
    mutating func drawChangeInRetry(at: Instant) {
        guard !identity.isMember, let current = machine.state.newest else { return }
        let waiting = products.filter {
            $0 != machine.state.renewalProduct && $0.waits(after: current.product)
        }
        guard let product = generator.element(of: waiting) else { return }
        add(.changeAtRenewal(to: product, at: at))
    }

    // A request that is mostly decided after a while.
    private mutating func drawRefundRequest(of number: Int, at: Instant) {
        switch generator.integer(in: 0...9) {
        case 0..<3: add(.declineRefund(purchase: number, at: at))
        case 3..<6:
            add(.requestRefund(purchase: number, at: at))
            add(.declineRefund(purchase: number, at: later(at, 3600...43_200)))
        case 6..<9:
            add(.requestRefund(purchase: number, at: at))
            let part = percentage()
            add(.refund(purchase: number, percentage: part, at: later(at, 3600...43_200)))
        default: add(.requestRefund(purchase: number, at: at))
        }
    }

    private mutating func drawAutoRenewSwitch(at: Instant) {
        add(machine.state.isAutoRenewOn ? .turnAutoRenewOff(at: at) : .turnAutoRenewOn(at: at))
    }

    private mutating func drawRedemption(at: Instant) {
        guard machine.state.isAutoRenewOn else {
            return add(.turnAutoRenewOn(at: at))
        }
        let category: SimulatedOffer.Category =
            generator.chance(percent: 70) ? .promotional : .offerCode
        add(.redeem(.payUpFront(.months(1), category, identifier: "STAY"), at: at))
    }

    private mutating func drawPriceIncrease(at: Instant) {
        guard machine.state.isPriceIncreaseAccepted == nil else {
            return drawSideEvent(at: at)
        }
        add(.announcePriceIncrease(at: at))
        if generator.chance(percent: 50) { add(.acceptPriceIncrease(at: later(at, 60...7200))) }
    }

    /// Draws something that changes nothing in the subscription.
    mutating func drawSideEvent(at: Instant) {
        guard generator.chance(percent: 50), !identity.isMember else {
            return add(.restore(at: at))
        }
        let product = generator.element(of: SimulatedCatalog.consumables)
        let quantity = generator.integer(in: 1...3)
        if drawOneTimePurchase(at: at) { return }
        let productId = product ?? SimulatedCatalog.consumables[0]
        add(.buyConsumable(productId: productId, quantity: quantity, at: at))
    }

    // Drawn from a separate generator, so that the subscription's own story does not change.
    private mutating func drawOneTimePurchase(at: Instant) -> Bool {
        var sideGenerator = identity.generator(step: LifeMachine.stepCountMax + script.count)
        let unrefunded = machine.state.oneTimePurchases.indices.filter {
            machine.state.oneTimePurchases[$0].revocation == nil
        }
        switch sideGenerator.integer(in: 0...9) {
        case 0..<3:
            add(.buyOnce(productId: SimulatedCatalog.nonConsumable, .nonConsumable, at: at))
        case 3..<5:
            add(.buyOnce(productId: SimulatedCatalog.nonRenewing, .nonRenewing, at: at))
        case 5..<8:
            guard let number = sideGenerator.element(of: unrefunded) else { return false }
            add(.refundOneTime(number, at: at))
        default: return false
        }
        return true
    }

    /// Draws a refund of a paid purchase that is over, if there is one.
    mutating func drawRefundOfAny(at: Instant) {
        let past = machine.state.purchases.indices.filter { number in
            let purchase = machine.state.purchases[number]
            return purchase.revocation == nil && purchase.price > 0 && purchase.expiresDate <= at
        }
        guard !identity.isMember, let number = generator.element(of: past) else {
            return drawSideEvent(at: at)
        }
        add(.refund(purchase: number, percentage: percentage(), at: at))
    }

    /// Draws a reversal of any refund, if there is one.
    mutating func drawReversalOfAny(at: Instant) {
        let refunded = machine.state.purchases.indices.filter { number in
            machine.state.purchases[number].revocation?.cause == .refund
        }
        guard let number = generator.element(of: refunded) else {
            return drawSideEvent(at: at)
        }
        drawReversal(of: number, at: at)
    }

    /// Draws a reversal, which Apple sometimes does not announce.
    mutating func drawReversal(of number: Int, at: Instant) {
        let isAnnounced = !generator.chance(percent: 20)
        add(.reverseRefund(purchase: number, isAnnounced: isAnnounced, at: at))
    }

    mutating func productForNow(than current: SimulatedProduct) -> SimulatedProduct? {
        generator.element(of: products.filter { $0.beginsAtOnce(after: current) })
    }

    mutating func returningProduct() -> SimulatedProduct {
        let last = machine.state.newest?.product ?? products[0]
        return generator.chance(percent: 60) ? last : generator.element(of: products) ?? last
    }

    mutating func returningOffer() -> SimulatedOffer? {
        switch generator.integer(in: 0...9) {
        case 0..<3: .payUpFront(.months(1), .winBack, identifier: "COMEBACK")
        case 3..<4: .free(.weeks(1), .promotional, identifier: "MISSYOU")
        default: nil
        }
    }

    private mutating func percentage() -> Int64? {
        generator.chance(percent: 30) ? generator.integer(in: 1...99_999) : nil
    }

    /// Draws an instant at least a minute after now and after the beginning, before the end.
    mutating func instant(from beginning: Int64, before end: Int64) -> Instant? {
        let first = max(now.milliseconds, beginning) + LifeMachine.stepSpacing
        let seconds = (end - first) / SimulatedCalendar.second - 1
        guard seconds > 0 else { return nil }
        return Instant(
            milliseconds: first + generator.integer(in: 0...seconds) * SimulatedCalendar.second
        )
    }

    /// Draws an instant that many seconds after another one, and at least a minute after now.
    mutating func later(_ instant: Instant, _ seconds: ClosedRange<Int64>) -> Instant {
        let delay = generator.integer(in: seconds) * SimulatedCalendar.second
        return max(instant.advanced(by: delay), now.advanced(by: LifeMachine.stepSpacing))
    }
}
