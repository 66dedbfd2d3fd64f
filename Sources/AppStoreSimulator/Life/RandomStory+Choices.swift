internal import Events

/// What is drawn while a period runs, including products and offers.
extension RandomStory {
    mutating func subscribeFirst() {
        let candidates = isSteady ? products.filter { $0.duration == .weeks(1) } : products
        let product = generator.element(of: candidates) ?? products[0]
        let offer: SimulatedOffer?
        switch generator.integer(in: 0...99) {
        case _ where identity.isFamilyShared: offer = nil
        case 0..<35:
            let lengths: [SubscriptionDuration] = [.days(3), .weeks(1), .weeks(2), .months(1)]
            offer = .free(generator.element(of: lengths) ?? .weeks(1))
        case 35..<43: offer = .payAsYouGo(product.duration, periods: 3)
        case 43..<49: offer = .payUpFront(.months(2))
        case 49..<57: offer = .free(.months(1), .offerCode, identifier: "WELCOME2024")
        default: offer = nil
        }
        tell(.subscribe(product, offer: offer, at: now))
    }

    /// Draws one change in the current period.
    mutating func tellChange(_ current: LifeState.Purchase, at: Instant) {
        if identity.isFamilyShared {
            tellFamilyChange(current, at: at)
            return
        }
        let number = machine.state.purchases.count - 1
        let isFree = current.price == 0
        switch generator.integer(in: 0...99) {
        case 0..<12: tellChangeNow(current, at: at)
        case 12..<28: tellChangeAtRenewal(current, at: at)
        case 28..<44: tellAutoRenewSwitch(at: at)
        case 44..<54 where !isFree:
            tell(.refund(purchase: number, percentage: percentage(), at: at))
        case 54..<61: tellRefundOfAny(at: at)
        case 61..<66: tellReversalOfAny(at: at)
        case 66..<72 where current.offer?.discount != .freeTrial:
            tell(.extend(days: generator.integer(in: 1...90), at: at))
        case 72..<79: tellRedemption(at: at)
        case 79..<85: tellPriceIncrease(at: at)
        case 85..<90 where !isFree: tellRefundRequest(of: number, at: at)
        default: tellAside(at: at)
        }
    }

    private mutating func tellFamilyChange(_ current: LifeState.Purchase, at: Instant) {
        switch generator.integer(in: 0...9) {
        case 0..<2: tell(.stopSharing(at: at))
        case 2..<4: tellAutoRenewSwitch(at: at)
        case 4..<5 where current.offer?.discount != .freeTrial:
            tell(.extend(days: generator.integer(in: 1...90), at: at))
        default: tell(.restore(at: at))
        }
    }

    private mutating func tellChangeNow(_ current: LifeState.Purchase, at: Instant) {
        guard let product = productForNow(than: current.product) else {
            tellAside(at: at)
            return
        }
        let offer: SimulatedOffer? =
            generator.chance(percent: 10)
            ? .payUpFront(.months(1), .promotional, identifier: "UPGRADE") : nil
        tell(.changeNow(to: product, offer: offer, at: at))
    }

    private mutating func tellChangeAtRenewal(_ current: LifeState.Purchase, at: Instant) {
        if machine.state.renewalProduct != current.product {
            tell(.changeAtRenewal(to: current.product, at: at))
            return
        }
        let lower = products.filter { product in
            product.level > current.product.level
                || product.level == current.product.level
                    && product.duration != current.product.duration
        }
        guard let product = generator.element(of: lower) else {
            tellAside(at: at)
            return
        }
        let isByOffer = machine.state.isAutoRenewOn && generator.chance(percent: 15)
        let category: SimulatedOffer.Category =
            generator.chance(percent: 50) ? .promotional : .offerCode
        let offer: SimulatedOffer? =
            isByOffer ? .payUpFront(.months(1), category, identifier: "STAYSMALL") : nil
        tell(.changeAtRenewal(to: product, offer: offer, at: at))
    }

    /// Draws another product for the charge that is still retried, if there is one to choose.
    mutating func tellChangeInRetry(at: Instant) {
        guard !identity.isFamilyShared, let current = machine.state.newest else { return }
        let lower = products.filter { product in
            product != machine.state.renewalProduct
                && (product.level > current.product.level
                    || product.level == current.product.level
                        && product.duration != current.product.duration)
        }
        guard let product = generator.element(of: lower) else { return }
        tell(.changeAtRenewal(to: product, at: at))
    }

    // A request that is mostly decided after a while.
    private mutating func tellRefundRequest(of number: Int, at: Instant) {
        switch generator.integer(in: 0...9) {
        case 0..<3: tell(.declineRefund(purchase: number, at: at))
        case 3..<6:
            tell(.requestRefund(purchase: number, at: at))
            tell(.declineRefund(purchase: number, at: later(at, 3600...43_200)))
        case 6..<9:
            tell(.requestRefund(purchase: number, at: at))
            tell(
                .refund(
                    purchase: number,
                    percentage: percentage(),
                    at: later(at, 3600...43_200)
                )
            )
        default: tell(.requestRefund(purchase: number, at: at))
        }
    }

    private mutating func tellAutoRenewSwitch(at: Instant) {
        tell(machine.state.isAutoRenewOn ? .turnAutoRenewOff(at: at) : .turnAutoRenewOn(at: at))
    }

    private mutating func tellRedemption(at: Instant) {
        guard machine.state.isAutoRenewOn else {
            tell(.turnAutoRenewOn(at: at))
            return
        }
        let category: SimulatedOffer.Category =
            generator.chance(percent: 70) ? .promotional : .offerCode
        tell(.redeem(.payUpFront(.months(1), category, identifier: "STAY"), at: at))
    }

    private mutating func tellPriceIncrease(at: Instant) {
        guard machine.state.isPriceIncreaseAccepted == nil else {
            tellAside(at: at)
            return
        }
        tell(.announcePriceIncrease(at: at))
        if generator.chance(percent: 50) { tell(.acceptPriceIncrease(at: later(at, 60...7200))) }
    }

    /// Draws something that changes nothing in the subscription.
    mutating func tellAside(at: Instant) {
        guard generator.chance(percent: 50), !identity.isFamilyShared else {
            tell(.restore(at: at))
            return
        }
        let product = generator.element(of: SimulatedCatalog.consumables)
        let quantity = generator.integer(in: 1...3)
        if tellOneTimePurchase(at: at) { return }
        tell(
            .buyConsumable(
                productId: product ?? "example.subledger.lumen.credits.10",
                quantity: quantity,
                at: at
            )
        )
    }

    // Drawn from a separate generator, so that the subscription's own story does not change.
    private mutating func tellOneTimePurchase(at: Instant) -> Bool {
        var aside = identity.generator(step: LifeMachine.stepCountMax + script.count)
        let standing = machine.state.oneTimePurchases.indices.filter {
            machine.state.oneTimePurchases[$0].revocation == nil
        }
        switch aside.integer(in: 0...9) {
        case 0..<3:
            tell(.buyOnce(productId: SimulatedCatalog.nonConsumable, .nonConsumable, at: at))
        case 3..<5:
            tell(.buyOnce(productId: SimulatedCatalog.nonRenewing, .nonRenewing, at: at))
        case 5..<8:
            guard let number = aside.element(of: standing) else { return false }
            tell(.refundOneTime(number, at: at))
        default: return false
        }
        return true
    }

    /// Draws a refund of a paid purchase that is over, if there is one.
    mutating func tellRefundOfAny(at: Instant) {
        let past = machine.state.purchases.indices.filter { number in
            let purchase = machine.state.purchases[number]
            return purchase.revocation == nil && purchase.price > 0 && purchase.expiresDate <= at
        }
        guard !identity.isFamilyShared, let number = generator.element(of: past) else {
            tellAside(at: at)
            return
        }
        tell(.refund(purchase: number, percentage: percentage(), at: at))
    }

    /// Draws a reversal of any refund, if there is one.
    mutating func tellReversalOfAny(at: Instant) {
        let refunded = machine.state.purchases.indices.filter { number in
            machine.state.purchases[number].revocation?.isFamily == false
        }
        guard let number = generator.element(of: refunded) else {
            tellAside(at: at)
            return
        }
        tellReversal(of: number, at: at)
    }

    /// Draws a reversal, which Apple sometimes does not announce.
    mutating func tellReversal(of number: Int, at: Instant) {
        let isAnnounced = !generator.chance(percent: 20)
        tell(.reverseRefund(purchase: number, isAnnounced: isAnnounced, at: at))
    }

    mutating func productForNow(than current: SimulatedProduct) -> SimulatedProduct? {
        let candidates = products.filter { product in
            product != current
                && (product.level < current.level
                    || product.level == current.level && product.duration == current.duration)
        }
        return generator.element(of: candidates)
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
        let drawn = instant.milliseconds + generator.integer(in: seconds) * SimulatedCalendar.second
        return Instant(milliseconds: max(drawn, now.milliseconds + LifeMachine.stepSpacing))
    }
}
