internal import Events

/// The meaning of each purchase in the subscription.
extension KnownLife {
    /// The rows of `transactions`, by start.
    var transactions: [SimulatedTransaction] {
        var rows: [SimulatedTransaction] = []
        for number in state.purchases.indices {
            rows.append(row(of: number, after: rows.last))
        }
        return rows
    }

    private func row(of number: Int, after before: SimulatedTransaction?) -> SimulatedTransaction {
        let purchase = state.purchases[number]
        let previous = number > 0 ? state.purchases[number - 1] : nil
        let isContinuing = number > 0 && self.isContinuing(number)
        let chain = isContinuing ? before : nil
        let isPaid = !identity.isFamilyShared && purchase.price > 0
        let changed = previous.flatMap { $0.product == purchase.product ? nil : $0.product }
        let price = identity.isFamilyShared ? nil : purchase.price
        let grace = graceEnd(after: purchase)
        return SimulatedTransaction(
            storeTransactionId: identity.transactionId(purchase.transactionNumber),
            productId: purchase.product.id,
            startTime: purchase.purchaseDate,
            endTime: purchase.expiresDate,
            gracePeriodEndTime: grace,
            effectiveEndTime: grace ?? accessEnd(of: purchase),
            renewalNumber: (chain?.renewalNumber ?? 0) + 1,
            consecutivePaidPeriods: isPaid ? paidPeriods(before: number) + 1 : 0,
            isTrialConversion: isContinuing && previous?.isTrial == true && !purchase.isTrial,
            isResubscribe: number > 0 && !isContinuing,
            gapSeconds: number > 0 && !isContinuing ? gapSeconds(before: purchase) : nil,
            planChange: changed.map { purchase.product.change(from: $0) },
            previousProductId: changed?.id,
            refundedAt: purchase.revocation?.date,
            purchasePriceMilliunits: price,
            priceMilliunits: price.map { $0 - refunded(of: number) },
            unsubscribeDetectedAt: unsubscribed(number),
            billingIssuesDetectedAt: billingFailed(after: number)
        )
    }

    // Free periods inside a chain are not counted and do not break it.
    private func paidPeriods(before number: Int) -> Int {
        var count = 0
        var next = number
        while next > 0, isContinuing(next) {
            next -= 1
            if state.purchases[next].price > 0 { count += 1 }
        }
        return count
    }

    private func accessEnd(of purchase: LifeState.Purchase) -> Instant {
        let end = min(purchase.expiresDate, purchase.successor?.start ?? purchase.expiresDate)
        return max(purchase.purchaseDate, min(end, purchase.revocation?.date ?? end))
    }

    private func graceEnd(after purchase: LifeState.Purchase) -> Instant? {
        // Two purchases may begin in the same second: the upgraded one has no grace.
        periods.first { period in
            period.kind == .grace && period.purchaseDate == purchase.purchaseDate
                && period.productId == purchase.product.id
        }?.validTo
    }

    private func gapSeconds(before purchase: LifeState.Purchase) -> Int64? {
        periods.last { $0.validFrom < purchase.purchaseDate }.map {
            (purchase.purchaseDate.milliseconds - $0.validTo.milliseconds)
                / SimulatedCalendar.second
        }
    }

    private func refunded(of number: Int) -> Int64 {
        state.refunds.last { $0.purchase == number && $0.revocation != nil && $0.reversedAt == nil }
            .flatMap { amount(of: $0) } ?? 0
    }

    // When Apple first signed that renewal is off, if it was still off when the purchase ended.
    private func unsubscribed(_ number: Int) -> Instant? {
        let end = state.purchases[number].expiresDate
        // Buying before the end turns renewal on again; later switches concern the new purchase.
        guard state.purchases[number].successor == nil else { return nil }
        var detected: Instant?
        for statement in statements
        where statement.state.purchases.count == number + 1 && statement.signedAt <= end {
            if statement.state.isAutoRenewOn {
                detected = nil
            } else if detected == nil {
                detected = statement.signedAt
            }
        }
        return detected
    }

    private func billingFailed(after number: Int) -> Instant? {
        chapters.first { chapter in
            guard case .failToRenew = chapter.step else { return false }
            return chapter.state.purchases.count == number + 1
        }?.signedAt
    }
}

extension LifeState.Purchase {
    // Whether it is a free introductory period.
    fileprivate var isTrial: Bool {
        offer.map { $0.category == .introductory && $0.discount == .freeTrial } ?? false
    }
}
