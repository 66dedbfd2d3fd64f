internal import Events

/// Carries out a script step by step, by the rules of the App Store.
///
/// Each step changes the state and determines which notifications Apple sends about it. A step that
/// the App Store would not allow is refused, so the truth of a script is never in doubt.
struct LifeMachine: Sendable {
    /// What Apple reports about a step (Apple's data: version 2 types).
    struct Notice: Sendable {
        /// What a notification carries: a transaction, or the released claims of seats.
        enum Subject: Sendable {
            case purchase(Int)
            case addition(Int)
            case oneTimePurchase(Int)
            case seatClaims([String])
        }

        let type: String
        let subtype: String?
        let subject: Subject
    }

    let identity: LifeIdentity
    var state = LifeState()
    var kinds: Set<LifeKind> = []
    var stepNumber = 0
    /// When the current step happens.
    private(set) var at = Instant.epoch
    /// When Apple signs its first statement about it.
    private(set) var signedAt = Instant.epoch
    private var previous: Instant?

    /// A machine before the first step.
    init(_ identity: LifeIdentity) {
        self.identity = identity
    }

    /// Whether another customer, or an organisation, pays.
    var isMember: Bool { identity.isMember }

    /// Steps are at least this far apart: longer than signing all notifications of a step takes.
    static let stepSpacing = SimulatedCalendar.minute
    /// A renewal is charged at most this long before its period begins (Apple's data: trap 14).
    static let earlyChargeMax = SimulatedCalendar.day
    /// The end of a period is reported at most this long after it.
    static let endDelayMax = SimulatedCalendar.day
    /// Billing is retried this long (Apple's data: trap 18).
    static let retryDuration = 60 * SimulatedCalendar.day
    /// Each life has a range of a thousand transaction ids.
    static let transactionCountMax: Int64 = 1000
    /// Enough for any story, and few enough to keep a life's snapshots small.
    static let stepCountMax = 500

    /// Carries out the next step; the state is unchanged if it throws.
    mutating func apply(_ step: LifeStep, signedAt: Instant) throws(ScriptError) -> [Notice] {
        var next = self
        (next.at, next.signedAt) = (step.at, signedAt)
        let notices = try next.carryOut(step)
        if isSignedWithWinBackList(notices, next.state) { next.kinds.insert(.winBackListed) }
        if case .monthly? = next.state.newest?.product.billingPlan { next.kinds.insert(.committed) }
        next.previous = step.at
        next.stepNumber += 1
        self = next
        return notices
    }

    private func isSignedWithWinBackList(_ notices: [Notice], _ state: LifeState) -> Bool {
        let isSaid = notices.contains { if case .purchase = $0.subject { true } else { false } }
        return isSaid && !isMember && state.winBackOfferIds != nil
    }

    private mutating func carryOut(_ step: LifeStep) throws(ScriptError) -> [Notice] {
        try checkTime(of: step)
        switch step {
        case .subscribe(let product, let offer, _): return try subscribe(to: product, offer: offer)
        case .buySeats(let product, let seats, _): return try buySeats(of: product, seats)
        case .renew: return try renew()
        case .failToRenew(let grace, _): return try failToRenew(graceUntil: grace)
        case .recover: return try recover()
        case .endGrace: return try endGrace()
        case .giveUp: return try giveUp()
        case .expire(let cause, _): return try expire(cause)
        case .changeNow(let product, let offer, _):
            return try changeNow(to: product, offer: offer)
        case .changeAtRenewal(let product, let offer, _):
            return try changeAtRenewal(to: product, offer: offer)
        case .turnAutoRenewOff: return try turnAutoRenewOff()
        case .turnAutoRenewOn: return try turnAutoRenewOn()
        case .redeem(let offer, _): return try redeem(offer)
        case .refund(let number, let percentage, _):
            return try refund(number, percentage: percentage)
        case .requestRefund(let number, _): return try requestRefund(number)
        case .reverseRefund(let number, let isAnnounced, _):
            return try reverseRefund(number, isAnnounced: isAnnounced)
        case .declineRefund(let number, _): return try declineRefund(number)
        case .extend(let days, _): return try extend(days: days)
        case .announcePriceIncrease: return try announcePriceIncrease()
        case .acceptPriceIncrease: return try acceptPriceIncrease()
        case .stopSharing: return try stopSharing()
        case .setAppAccountToken(let token, _): return try setAppAccountToken(token)
        case .restore: return try restore()
        case .buyConsumable(let productId, let quantity, _):
            return buyOnce(productId, .consumable, quantity: quantity)
        case .buyOnce(let productId, let kind, _): return buyOnce(productId, kind, quantity: 1)
        case .refundOneTime(let number, _): return try refundOneTime(number)
        case .addSeats(let quantity, _): return try addSeats(quantity)
        case .changeSeatsAtRenewal(let quantity, _): return try changeSeatsAtRenewal(to: quantity)
        case .refundSeats(let transaction, let quantity, _):
            return try refundSeats(transaction, quantity: quantity)
        case .unclaimSeats(let claims, _): return try unclaimSeats(claims)
        case .moveToBundle: return try moveToBundle()
        case .leaveBundle: return try leaveBundle()
        }
    }

    private func checkTime(of step: LifeStep) throws(ScriptError) {
        try require(
            at.isPlausible && at.milliseconds < 4_100_000_000_000 && at == at.flooredToSecond,
            .implausibleInstant,
            "\(at) must be a whole second between 2008 and 2099"
        )
        if let previous {
            try require(
                at.milliseconds >= previous.milliseconds + Self.stepSpacing,
                .tooSoon,
                "\(at) must be a minute or more after \(previous)"
            )
        }
        try require(
            stepNumber < Self.stepCountMax
                && state.transactionsUsed + Int64(state.purchases.count) + 1
                    < Self.transactionCountMax,
            .tooLong,
            "a life has at most \(Self.stepCountMax) steps and 1000 transaction ids"
        )

        guard let end = endOfPhase else { return }
        switch step {
        case .expire, .failToRenew, .endGrace, .renew: return
        default:
            try require(
                at < end,
                .endIsMissing,
                "a step for \(end), when the period or its grace ended, must come first"
            )
        }
    }

    // The instant at which the current phase ends by itself.
    private var endOfPhase: Instant? {
        switch state.phase {
        case .active: state.newest?.expiresDate
        case .grace(let until): until
        default: nil
        }
    }

    /// Requires what the state must allow.
    func require(_ condition: Bool, _ expectation: @autoclosure () -> String) throws(ScriptError) {
        guard condition else { throw refusal(expectation()) }
    }

    func require(
        _ condition: Bool,
        _ code: ScriptError.Code,
        _ expectation: @autoclosure () -> String
    ) throws(ScriptError) {
        guard condition else { throw refusal(expectation(), code) }
    }

    /// The error of a step that the state does not allow, or for another reason.
    func refusal(_ expectation: String, _ code: ScriptError.Code = .wrongState) -> ScriptError {
        ScriptError(code: code, step: stepNumber, expectation: expectation)
    }

    /// The newest purchase and its number, in an active subscription.
    func activePurchase() throws(ScriptError) -> (number: Int, purchase: LifeState.Purchase) {
        try require(state.phase == .active, "the subscription must be active")
        return try newestPurchase()
    }

    func newestPurchase() throws(ScriptError) -> (number: Int, purchase: LifeState.Purchase) {
        guard let purchase = state.newest else {
            throw refusal("a product must be bought first")
        }
        return (state.purchases.count - 1, purchase)
    }

    func notice(_ type: String, _ subtype: String? = nil, about number: Int) -> Notice {
        notice(type, subtype, about: .purchase(number))
    }

    func notice(_ type: String, _ subtype: String? = nil, about subject: Notice.Subject) -> Notice {
        Notice(type: type, subtype: subtype, subject: subject)
    }

    /// Requires that a period has begun.
    func requireBegun(_ purchase: LifeState.Purchase) throws(ScriptError) {
        try require(at >= purchase.purchaseDate, .wrongTime, "the current period must have begun")
    }
}
