internal import Events

/// Refunds and reversals, and family sharing withdrawn.
extension LifeMachine {
    mutating func refund(_ number: Int, percentage: Int64?) throws(ScriptError) -> [Notice] {
        let purchase = try boughtPurchase(number)
        try require(purchase.revocation == nil, "the purchase must not be refunded already")
        try require(
            at >= purchase.purchaseDate,
            .wrongTime,
            "a renewal charged early can be refunded only after its period began"
        )
        try require(
            percentage.map { (1...100_000).contains($0) } ?? true,
            .wrongProduct,
            "a partial refund must be from 1 to 100000 thousandths of a percent"
        )
        if case .grace = state.phase {
            try require(
                number != state.purchases.count - 1,
                "the purchase before a running grace period cannot be refunded"
            )
        }

        noteRefund(of: purchase, number: number, percentage: percentage)
        let revocation = LifeState.Revocation(refunded: number, percentage, at: at)
        state.purchases[number].revocation = revocation
        let seatsBefore = purchase.seats?.revoked ?? 0
        state.grantRefund(of: number, revocation, seatsBefore: seatsBefore, at: signedAt)
        state.purchases[number].timesRefunded += 1
        state.purchases[number].modifiedAt = at

        let isCurrent = number == state.purchases.count - 1 && at < purchase.expiresDate
        if isCurrent && state.phase == .active && state.revocation(ofPeriod: number) != nil {
            state.revoke(autoRenew: state.isAutoRenewOn)
        }
        return [notice("REFUND", about: number)]
    }

    mutating func reverseRefund(_ number: Int, isAnnounced: Bool) throws(ScriptError) -> [Notice] {
        let purchase = try boughtPurchase(number)
        try require(purchase.revocation != nil, "the purchase must be refunded")
        state.purchases[number].revocation = nil
        state.purchases[number].modifiedAt = at
        state.endRefund(of: number, at: signedAt, isAnnounced: isAnnounced)
        kinds.insert(isAnnounced ? .refundReversed : .refundReversedSilently)
        if case .revoked(let autoRenew) = state.phase, number == state.purchases.count - 1 {
            let isRunning = at < purchase.expiresDate
            if isRunning { state.phase = .active } else { state.expire(.voluntary) }
            state.isAutoRenewOn = isRunning && autoRenew
        }
        return isAnnounced ? [notice("REFUND_REVERSED", about: number)] : []
    }

    mutating func requestRefund(_ number: Int) throws(ScriptError) -> [Notice] {
        let purchase = try boughtPurchase(number)
        try require(purchase.revocation == nil, "it must not be refunded already")
        // Apple repeats the request under a new UUID (Apple's data: delivery): it stays one
        // request.
        state.requestRefund(of: number, at: signedAt)
        kinds.insert(.refundRequested)
        return [notice("CONSUMPTION_REQUEST", about: number)]
    }

    mutating func declineRefund(_ number: Int) throws(ScriptError) -> [Notice] {
        let purchase = try boughtPurchase(number)
        try require(purchase.revocation == nil, "the purchase must not be refunded already")
        kinds.insert(.refundDeclined)
        let declined = notice("REFUND_DECLINED", about: number)
        if state.openRefund(of: number) != nil {
            state.declineRefund(of: number, at: signedAt)
            return [declined]
        }
        state.requestRefund(of: number, at: signedAt)
        state.declineRefund(of: number, at: SubscriptionLife.signedAt(signedAt, notice: 1))
        return [notice("CONSUMPTION_REQUEST", about: number), declined]
    }

    mutating func stopSharing() throws(ScriptError) -> [Notice] {
        let (number, current) = try activePurchase()
        try require(isMember, "the life must be that of a member")
        try requireBegun(current)
        endAccess(of: number, identity.isFamilyShared ? .familySharing : .assignment)
        kinds.insert(identity.isFamilyShared ? .familyRevoked : .assignmentEnded)
        return [notice("REVOKE", about: number)]
    }

    mutating func refundOneTime(_ number: Int) throws(ScriptError) -> [Notice] {
        try require(
            state.oneTimePurchases.indices.contains(number),
            .noSuchPurchase,
            "there are \(state.oneTimePurchases.count) one-time purchases, numbered from 0"
        )
        try require(
            state.oneTimePurchases[number].revocation == nil,
            "the purchase must not be refunded already"
        )
        state.oneTimePurchases[number].revocation = LifeState.Revocation(refunded: number, at: at)
        kinds.insert(.oneTimeRefunded)
        return [notice("REFUND", about: .oneTimePurchase(number))]
    }

    /// Ends the access of a running period without refunding money.
    mutating func endAccess(
        of number: Int,
        _ cause: LifeState.Revocation.Cause,
        reason: Int64 = 0
    ) {
        let revocation = LifeState.Revocation(date: at, reason: reason, cause: cause)
        state.purchases[number].revocation = revocation
        state.grantRefund(of: number, revocation, at: signedAt)
        state.purchases[number].modifiedAt = at
        state.revoke(autoRenew: false)
    }

    private func boughtPurchase(_ number: Int) throws(ScriptError) -> LifeState.Purchase {
        try require(!isMember, "a member has paid nothing")
        try require(
            state.purchases.indices.contains(number),
            .noSuchPurchase,
            "there are \(state.purchases.count) purchases, numbered from 0"
        )
        return state.purchases[number]
    }

    private mutating func noteRefund(
        of purchase: LifeState.Purchase,
        number: Int,
        percentage: Int64?
    ) {
        if percentage != nil { kinds.insert(.refundedInPart) }
        if purchase.timesRefunded > 0 { kinds.insert(.refundedAgain) }
        let isNewest = number == state.purchases.count - 1
        if isNewest && at < purchase.expiresDate {
            kinds.insert(.refundedCurrent)
            let replaced = number > 0 ? state.purchases[number - 1] : nil
            if replaced?.isUpgraded == true { kinds.insert(.upgradeRefunded) }
        } else if state.phase == .active {
            kinds.insert(.refundedOlder)
        } else {
            kinds.insert(.refundedAfterExpiry)
        }
    }
}
