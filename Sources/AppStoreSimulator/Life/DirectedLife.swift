package import Events

/// A life that is directed while it runs: each decision is taken from outside, and everything else
/// happens by itself.
///
/// The script contains what has happened, followed by what will happen without further decisions:
/// renewals, failed charges, or the end. A decision replaces that rest. So a directed life is a
/// life like any other and can be queried at any instant.
package struct DirectedLife: Sendable {
    /// The life, including what will happen by itself.
    package private(set) var life: SubscriptionLife
    private var script: [LifeStep]
    private var billing = Billing.works
    private var isForSale = true

    /// Renewals that happen by themselves after the last decision, before the subscription ends.
    ///
    /// Two years of months; Apple's sandbox renews twelve times.
    package static let renewalsMax = 24

    /// How charges end.
    private enum Billing: Hashable, Sendable {
        case works
        /// They fail, with a grace period of that many days, or without one.
        case fails(graceDays: Int64?)
    }

    /// A decision of the customer, the developer or Apple.
    package enum Decision: Hashable, Sendable {
        /// Buy the product: the first time, or again after everything ended.
        case subscribe(SimulatedProduct, offer: SimulatedOffer?)
        /// Change to another product: at once or at the next renewal, according to the App Store's
        /// rules.
        case change(to: SimulatedProduct)
        case turnAutoRenewOff
        case turnAutoRenewOn
        /// Charges fail from now on, with a grace period of that many days, or without one.
        case failBilling(graceDays: Int64?)
        /// Charges work again; a failed one is made up for at once.
        case recoverBilling
        /// The product is no longer sold: the subscription ends with its period, or at once in
        /// billing retry.
        case expire
        /// Refund the newest purchase that is not refunded, in full or by thousandths of a percent.
        case refund(percentage: Int64?)
        /// Undo the newest refund.
        case reverseRefund
        /// The customer requests a refund of the newest purchase.
        case requestRefund
        /// The refund is declined.
        case declineRefund
        /// Move the end of the period by 1 to 90 days.
        case extend(days: Int64)
        /// The purchaser stops sharing with this member of the family, or takes the seat back.
        case stopSharing
        /// The developer sets another token for the customer.
        case setAppAccountToken(String)
        /// Add seats to the period that runs.
        case addSeats(Int64)
        /// Renew with that many seats.
        case changeSeats(to: Int64)
        /// Refund some seats of the newest purchase.
        case refundSeats(Int64)
        /// Apple releases claims of seats.
        case unclaimSeats([String])
    }

    /// A life that begins with a purchase.
    ///
    /// - Parameters:
    ///   - identity: The identity of the life.
    ///   - store: The store that signs, at the pace of the life.
    ///   - product: The product to buy.
    ///   - offer: The offer to use; nil for none.
    ///   - seats: The seats to buy, without an offer; nil to buy for one customer.
    ///   - now: When, in the calendar of the life.
    /// - Throws: `ScriptError` if the App Store would not allow it.
    package init(
        identity: LifeIdentity,
        store: SimulatedStore,
        buying product: SimulatedProduct,
        offer: SimulatedOffer?,
        seats: SimulatedSeats? = nil,
        at now: Instant
    ) throws(ScriptError) {
        let at = now.flooredToSecond
        script = [
            seats.map { .buySeats(product, $0, at: at) }
                ?? .subscribe(product, offer: offer, at: at)
        ]
        life = try SubscriptionLife(identity: identity, store: store, script: script)
        try planFuture()
    }

    /// Carries out a decision.
    ///
    /// - Parameters:
    ///   - decision: What happens.
    ///   - now: When, in the calendar of the life; a minute after the step before if that is later,
    ///     because each step has to be signed before the next.
    /// - Returns: When it happens; nil for what only takes effect later.
    /// - Throws: `ScriptError` if the App Store would not allow it; then nothing changes.
    @discardableResult
    package mutating func decide(
        _ decision: Decision,
        at now: Instant
    ) throws(ScriptError) -> Instant? {
        var next = self
        let at = next.dropFuture(after: now)
        next.life = try next.lived()
        let step = try next.step(for: decision, at: at)
        if let step { next.script.append(step) }
        try next.planFuture()
        self = next
        return step?.at
    }

    // Keeps what has happened, and returns the instant of the next step: a step that falls between
    // now and that instant comes first.
    private mutating func dropFuture(after now: Instant) -> Instant {
        var kept = 0
        var at = now.flooredToSecond
        while true {
            if kept > 0 {
                at = max(at, script[kept - 1].at.advanced(by: LifeMachine.stepSpacing))
            }
            guard kept < script.count, script[kept].at <= at else { break }
            kept += 1
        }
        script.removeLast(script.count - kept)
        return at
    }

    private func lived() throws(ScriptError) -> SubscriptionLife {
        try SubscriptionLife(identity: life.identity, store: life.store, script: script)
    }

    private var state: LifeState { life.chapters.last?.state ?? LifeState() }
}

extension DirectedLife {
    // The step of a decision; nil for a decision that only changes what will happen.
    private mutating func step(
        for decision: Decision,
        at: Instant
    ) throws(ScriptError) -> LifeStep? {
        switch decision {
        case .subscribe(let product, let offer):
            (billing, isForSale) = (.works, true)
            return .subscribe(product, offer: offer, at: at)
        case .change(let product): return change(to: product, at: at)
        case .turnAutoRenewOff: return .turnAutoRenewOff(at: at)
        case .turnAutoRenewOn: return .turnAutoRenewOn(at: at)
        case .failBilling(let graceDays):
            guard state.phase == .active else { throw refusal("the subscription must be active") }
            billing = .fails(graceDays: graceDays)
            return nil
        case .recoverBilling:
            billing = .works
            switch state.phase {
            case .grace, .retry: return .recover(at: at)
            default: return nil
            }
        case .expire:
            if case .retry = state.phase { return .giveUp(at: at) }
            guard state.phase == .active, state.isAutoRenewOn else {
                throw refusal("the subscription must be active and set to renew, or in retry")
            }
            isForSale = false
            return nil
        case .refund(let percentage):
            let number = state.purchases.lastIndex { $0.revocation == nil && $0.purchaseDate <= at }
            guard let number else {
                throw refusal("the subscription needs a purchase that is not refunded")
            }
            return .refund(purchase: number, percentage: percentage, at: at)
        case .reverseRefund:
            let number = state.purchases.lastIndex { $0.revocation != nil }
            guard let number else { throw refusal("a purchase must be refunded") }
            return .reverseRefund(purchase: number, at: at)
        case .requestRefund: return .requestRefund(purchase: state.purchases.count - 1, at: at)
        case .declineRefund: return .declineRefund(purchase: state.purchases.count - 1, at: at)
        case .extend(let days): return .extend(days: days, at: at)
        case .stopSharing: return .stopSharing(at: at)
        case .setAppAccountToken(let token): return .setAppAccountToken(token, at: at)
        case .addSeats(let quantity): return .addSeats(quantity, at: at)
        case .changeSeats(let quantity): return .changeSeatsAtRenewal(to: quantity, at: at)
        case .refundSeats(let quantity):
            let newest = SeatTransaction.purchase(state.purchases.count - 1)
            return .refundSeats(newest, quantity: quantity, at: at)
        case .unclaimSeats(let claims): return .unclaimSeats(claims, at: at)
        }
    }

    private func change(to product: SimulatedProduct, at: Instant) -> LifeStep {
        guard let old = state.newest?.product, state.phase == .active else {
            return .changeAtRenewal(to: product, at: at)
        }
        return product.beginsAtOnce(after: old)
            ? .changeNow(to: product, offer: nil, at: at) : .changeAtRenewal(to: product, at: at)
    }

    private func refusal(_ expectation: String) -> ScriptError {
        ScriptError(code: .wrongState, step: script.count, expectation: expectation)
    }
}

extension DirectedLife {
    // Adds what happens without further decisions.
    private mutating func planFuture() throws(ScriptError) {
        var machine = LifeMachine(life.identity)
        for (number, step) in script.enumerated() {
            _ = try machine.apply(step, signedAt: life.identity.signedAt(step: number, at: step.at))
        }
        var renewals = 0
        while let step = next(in: machine.state, renewals: renewals) {
            if case .renew = step { renewals += 1 }
            let signedAt = life.identity.signedAt(step: script.count, at: step.at)
            _ = try machine.apply(step, signedAt: signedAt)
            script.append(step)
        }
        life = try lived()
    }

    // The next step that happens by itself; nil after the end.
    private func next(in state: LifeState, renewals: Int) -> LifeStep? {
        guard let newest = state.newest, let last = script.last else { return nil }
        // Never within a minute after the last step.
        func at(_ instant: Instant) -> Instant {
            max(instant, last.at.advanced(by: LifeMachine.stepSpacing))
        }
        let end = newest.expiresDate
        switch state.phase {
        case .active where !state.isAutoRenewOn: return .expire(.voluntary, at: at(end))
        case .active where !isForSale: return .expire(.productNotForSale, at: at(end))
        case .active: return charge(at: at(end), end, renewals)
        // Makes up for the charge of a period that ended within a minute of another step.
        case .grace where billing == .works, .retry where billing == .works:
            return .recover(at: at(end))
        case .grace(let until): return .endGrace(at: at(until))
        case .retry:
            return .giveUp(at: at(end.advanced(by: LifeMachine.retryDuration)))
        case .neverBought, .expired, .revoked: return nil
        }
    }

    private func charge(at instant: Instant, _ end: Instant, _ renewals: Int) -> LifeStep {
        if case .fails(let graceDays) = billing {
            let until = graceDays.map { instant.advanced(days: $0) }
            return .failToRenew(graceUntil: until, at: instant)
        }
        let room = LifeMachine.stepCountMax - script.count
        guard renewals < DirectedLife.renewalsMax, room > DirectedLife.stepsKept else {
            return .expire(.other, at: instant)
        }
        // A renewal is charged at the latest when the period ends. If another step prevents that,
        // the charge fails and is made up for.
        return instant > end ? .failToRenew(graceUntil: nil, at: instant) : .renew(at: instant)
    }

    /// Steps reserved for decisions, and for the end.
    private static let stepsKept = 4
}
