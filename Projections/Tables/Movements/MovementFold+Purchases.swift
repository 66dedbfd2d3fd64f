internal import Events

extension MovementFold {
    /// One acquisition for each purchase, and one exit for the product it replaces.
    mutating func takePurchases() {
        for index in timeline.purchases.indices {
            let purchase = timeline.purchases[index]
            let isContinuing = continuity.isContinuing[index]
            let isFirst = timeline.succession.isFirst(index)
            let previous = timeline.succession.predecessor(of: index)
            let replaced = previous.flatMap { previous in
                let product = timeline.purchases[previous].productId
                return byBytes(product, purchase.productId) == nil ? nil : product
            }
            let kind = acquisition(
                index,
                after: previous,
                isContinuing: isContinuing,
                isChange: replaced != nil
            )

            append(
                kind,
                at: purchase.purchaseDate,
                about: purchase,
                terms[index],
                appleEvent: appleEvent(ofPurchase: index, after: previous, replacing: replaced),
                appleSubType: kind.appleSubType(terms[index], after: previous.map { terms[$0] }),
                previousProduct: replaced,
                amount: terms[index].price,
                seatQuantity: purchase.sharing == nil ? purchase.seats?.quantity : nil,
                isInitial: isFirst && !isContinuing,
                isResubscribe: !isFirst && !isContinuing,
                citing: terms[index].citations
            )
            takeAdditions(to: purchase)

            guard let previous, replaced != nil, isContinuing,
                timeline.succession.tookEffect(index)
            else { continue }
            append(
                .exitPlanChange,
                at: purchase.purchaseDate,
                about: previous,
                citing: terms[index].citations
            )
        }
    }

    private mutating func takeAdditions(to purchase: Purchase) {
        for addition in purchase.additions {
            let terms = PurchaseTerms(addition)
            append(
                .seatsAdded,
                at: addition.purchaseDate,
                about: addition,
                terms,
                amount: terms.price,
                seatQuantity: addition.sharing == nil ? addition.seats?.quantity : nil,
                citing: terms.citations
            )
        }
    }

    /// One acquisition for each.
    mutating func takeOneTimePurchases() {
        for purchase in timeline.oneTimePurchases {
            let terms = PurchaseTerms(purchase)
            append(
                .oneTimePurchase,
                at: purchase.purchaseDate,
                about: purchase,
                terms,
                amount: terms.price,
                citing: terms.citations
            )
        }
    }

    // If a purchase continues one that never reached us, no earlier offer is known.
    private func acquisition(
        _ index: Int,
        after before: Int?,
        isContinuing: Bool,
        isChange: Bool
    ) -> Movement.Kind {
        let own = terms[index]
        guard isContinuing else { return own.hasOffer ? .offerStart : .paidStart }
        let previous = before.map { terms[$0] }
        guard own.hasOffer else { return previous?.hasOffer == true ? .conversion : .renewal }
        let isSame = previous.map { own.isSameOffer(as: $0) } ?? false
        return isSame && !isChange ? .offerRenewal : .offerStart
    }

    /// Apple's label for an acquisition.
    private func appleEvent(
        ofPurchase index: Int,
        after before: Int?,
        replacing replaced: String?
    ) -> String? {
        let purchase = timeline.purchases[index]
        let change = replaced.map {
            catalogs.change(from: $0, to: purchase.productId, at: purchase.purchaseDate)
        }
        let previous = before.map { terms[$0] }
        let isFirst = timeline.succession.isFirst(index)
        return AppleEvent.acquisition(
            offerType: terms[index].offerType,
            previousOfferType: previous?.offerType,
            change: change,
            start: continuity.isContinuing[index]
                ? .continuing(isFirst: isFirst, after: status(outOf: purchase))
                : isFirst ? .new : .resubscribed,
            isSameOffer: replaced == nil
                && previous.map { terms[index].isSameOffer(as: $0) } ?? false
        )
    }

    // A purchase that was charged in grace begins with the grace; every other one ends the previous
    // status.
    private func status(outOf purchase: Purchase) -> SubscriptionStatus? {
        let start = purchase.purchaseDate
        let then = status(before: Instant(milliseconds: start.milliseconds + 1))
        return then == .gracePeriod ? then : status(before: start)
    }

    /// The status just before an instant; nil if nothing is known about it.
    func status(before instant: Instant) -> SubscriptionStatus? {
        let begun = spans.partitioningIndex { $0.from >= instant }
        guard begun > 0 else { return nil }
        let span = spans[begun - 1]
        return span.to.map { instant <= $0 } ?? true ? span.status : nil
    }
}
