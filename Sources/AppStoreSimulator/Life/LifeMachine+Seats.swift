internal import Events

/// Seats, and moves into a bundle and out of it.
extension LifeMachine {
    mutating func buySeats(
        of product: SimulatedProduct,
        _ seats: SimulatedSeats
    ) throws(ScriptError) -> [Notice] {
        try requireQuantity(seats.quantity)
        try require(
            !identity.isFamilyShared && (!isMember || seats.invitations == .apple),
            "a member has a transaction only if Apple manages the members"
        )
        kinds.insert(isMember ? .assigned : .seatsBought)
        return try subscribe(to: product, offer: nil, seats: seats)
    }

    mutating func addSeats(_ quantity: Int64) throws(ScriptError) -> [Notice] {
        let (number, current) = try seatPurchase()
        try requireQuantity(quantity)
        try require(at > current.purchaseDate, .wrongTime, "the current period must have begun")
        guard let seats = current.seats, let coming = state.seats else { return [] }

        let bought = state.seatCount(ofPeriod: number)
        let left = current.expiresDate.milliseconds - at.milliseconds
        let whole = current.expiresDate.milliseconds - current.purchaseDate.milliseconds
        let tiers = identity.storefront.seatTiers(
            of: current.product,
            quantity,
            after: bought,
            percent: max(1, left * 100 / whole)
        )
        let added = SimulatedSeats(quantity, invitations: seats.invitations)
        let purchase = LifeState.Purchase(
            product: current.product,
            offer: nil,
            price: tiers.total,
            seats: LifeState.Seats(tiers: tiers, of: added),
            purchaseDate: at,
            expiresDate: current.expiresDate,
            isRenewal: false,
            transactionNumber: state.takeTransactionNumber(),
            lineItemNumber: state.lineItemsUsed,
            modifiedAt: at
        )
        state.additions.append(LifeState.Addition(period: number, purchase: purchase))

        state.lineItemsUsed += 1
        // Every transaction of a period states that there are several.
        state.purchases[number].modifiedAt = at
        for addition in state.additions(to: number) {
            state.additions[addition].purchase.modifiedAt = at
        }
        state.seats = SimulatedSeats(coming.quantity + quantity, invitations: coming.invitations)
        kinds.insert(.seatsAdded)
        let addition = LifeMachine.Notice.Subject.addition(state.additions.count - 1)
        return [notice(UnconfirmedWords.seatNotification, "INCREASE_QUANTITY", about: addition)]
    }

    mutating func changeSeatsAtRenewal(to quantity: Int64) throws(ScriptError) -> [Notice] {
        let (number, current) = try seatPurchase()
        try requireQuantity(quantity)
        guard let seats = current.seats, let coming = state.seats else { return [] }
        try require(
            quantity != coming.quantity,
            .wrongProduct,
            "the number of seats must differ from the one that renews"
        )
        let isMore = quantity > coming.quantity
        state.seats = SimulatedSeats(quantity, invitations: seats.invitations)
        kinds.insert(isMore ? .seatsRaised : .seatsReduced)
        let subtype = isMore ? "INCREASE_QUANTITY" : "DECREASE_QUANTITY"
        return [notice(UnconfirmedWords.seatNotification, subtype, about: number)]
    }

    mutating func refundSeats(
        _ transaction: SeatTransaction,
        quantity: Int64?
    ) throws(ScriptError) -> [Notice] {
        switch (transaction, quantity) {
        case (.purchase(let number), nil):
            return try refund(number, percentage: nil)
        case (.purchase(let number), let quantity?):
            try require(
                !isMember && state.purchases.indices.contains(number),
                .noSuchPurchase,
                "there are \(state.purchases.count) purchases, numbered from 0"
            )
            let purchase = state.purchases[number]
            try requireRefundable(purchase, quantity)
            state.purchases[number].seats?.revoked += quantity
            state.purchases[number].modifiedAt = at
            // The customer's request, if there was one, is granted in part.
            let open = state.openRefund(of: number)
            var refund =
                open.map { state.refunds.remove(at: $0) } ?? LifeState.Refund(purchase: number)
            refund.seats = quantity
            refund.seatsBefore = purchase.seats?.revoked ?? 0
            noteSeatRefund(refund)
            return [notice("REFUND", "SEATS", about: number)]
        case (.addition(let number), _):
            try require(
                state.additions.indices.contains(number),
                .noSuchPurchase,
                "there are \(state.additions.count) additions, numbered from 0"
            )
            return try refundAddition(number, quantity: quantity)
        }
    }

    private mutating func refundAddition(
        _ number: Int,
        quantity: Int64?
    ) throws(ScriptError) -> [Notice] {
        let addition = state.additions[number]
        try requireRefundable(state.purchase(of: addition), quantity)

        var refund = LifeState.Refund(purchase: addition.period, addition: number, seats: quantity)
        refund.seatsBefore = addition.purchase.seats?.revoked ?? 0
        state.additions[number].purchase.modifiedAt = at
        if let quantity {
            state.additions[number].purchase.seats?.revoked += quantity
        } else {
            let revocation = LifeState.Revocation(refunded: number, at: at)
            refund.revocation = revocation
            state.additions[number].purchase.revocation = revocation
            kinds.insert(.additionRefunded)
        }
        noteSeatRefund(refund)

        let period = addition.period
        if period == state.purchases.count - 1, at < state.purchases[period].expiresDate,
            state.phase == .active, state.revocation(ofPeriod: period) != nil
        {
            state.revoke(autoRenew: state.isAutoRenewOn)
        }
        return [notice("REFUND", quantity == nil ? nil : "SEATS", about: .addition(number))]
    }

    private mutating func noteSeatRefund(_ refund: LifeState.Refund) {
        var refund = refund
        refund.announcedAt = signedAt
        state.refunds.append(refund)
        if refund.seats != nil { kinds.insert(.seatsRefunded) }
    }

    mutating func unclaimSeats(_ claims: [String]) throws(ScriptError) -> [Notice] {
        let current = try seatPurchase().purchase
        try require(
            current.seats?.invitations == .developer && !claims.isEmpty,
            "seats are claimed only if the developer manages the members"
        )
        kinds.insert(.seatsUnclaimed)
        return [notice("UNCLAIM_SEATS", about: .seatClaims(claims))]
    }

    mutating func moveToBundle() throws(ScriptError) -> [Notice] {
        let (number, current) = try activePurchase()
        try require(
            !isMember && identity.bundle == nil && at > current.purchaseDate,
            "only a subscription sold alone, whose period has begun, can move to a bundle"
        )
        // Apple has not published what it signs about the additions.
        try require(
            state.additions(to: number).isEmpty,
            "a period to which seats were added does not move to a bundle"
        )
        endAccess(of: number, .bundle, reason: UnconfirmedWords.upgradedToBundle)
        kinds.insert(.movedToBundle)
        return [notice(UnconfirmedWords.bundleNotification, about: number)]
    }

    mutating func leaveBundle() throws(ScriptError) -> [Notice] {
        let number = try activePurchase().number
        try require(
            identity.bundle != nil && !isMember && !state.willUnbundle && state.isAutoRenewOn,
            "only a part of a bundle that renews can leave it"
        )
        state.willUnbundle = true
        state.isAutoRenewOn = false
        kinds.insert(.leftBundle)
        return [notice("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", about: number)]
    }

    private func seatPurchase() throws(ScriptError) -> (
        number: Int, purchase: LifeState.Purchase
    ) {
        let active = try activePurchase()
        try require(
            !isMember && active.purchase.seats != nil && state.seats != nil,
            "the newest purchase must have seats"
        )
        return active
    }

    private func requireQuantity(_ quantity: Int64) throws(ScriptError) {
        let all = quantity + (state.seats?.quantity ?? 0)
        try require(
            quantity > 0 && all <= SimulatedSeats.quantityMax,
            .wrongProduct,
            "a life has from 1 to \(SimulatedSeats.quantityMax) seats"
        )
    }

    private func requireRefundable(
        _ purchase: LifeState.Purchase,
        _ quantity: Int64?
    ) throws(ScriptError) {
        try require(
            purchase.revocation == nil && purchase.purchaseDate <= at,
            "the transaction must have begun, and not be refunded already"
        )
        let left = purchase.seats.map { $0.tiers.quantity - $0.revoked } ?? 0
        try require(
            quantity.map { $0 > 0 && $0 < left } ?? (left > 0),
            .wrongProduct,
            "some of the \(left) seats that are left can be refunded, or the whole transaction"
        )
        if case .grace = state.phase {
            try require(false, "seats are not refunded while grace runs")
        }
    }
}
