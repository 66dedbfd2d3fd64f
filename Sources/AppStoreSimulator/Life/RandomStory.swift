internal import Events

/// Draws a script from a seed, one possible step after the other.
///
/// It asks the machine for the state of the subscription and draws only steps that are possible in
/// it; a step that the machine refuses is a bug here.
struct RandomStory {
    private(set) var script: [LifeStep] = []

    let identity: LifeIdentity
    let products: [SimulatedProduct]
    var generator: SeededGenerator
    var machine: LifeMachine
    /// The instant of the last step; the next one is at least a minute later.
    var now: Instant
    /// Whether the subscription does little except renew.
    let isSteady: Bool
    private var stepsLeft: Int64

    /// Draws the script of that life, with products of a random group unless they are given.
    init(
        identity: LifeIdentity,
        generator: SeededGenerator,
        products: [SimulatedProduct]? = nil
    ) {
        var generator = generator
        self.identity = identity
        let drawn = generator.element(of: [SimulatedCatalog.lumen, SimulatedCatalog.atlas])
        // Drawn from a separate generator, so that the other lives do not change.
        var aside = identity.generator(step: 2 * LifeMachine.stepCountMax)
        let isCommitted = aside.chance(percent: Self.commitmentPercent)
        self.products =
            products
            ?? (isCommitted ? SimulatedCatalog.harbor : drawn ?? SimulatedCatalog.lumen)
        machine = LifeMachine(
            storefront: identity.storefront,
            isFamilyShared: identity.isFamilyShared
        )
        now = Instant(
            milliseconds: Self.earliestStart
                + generator.integer(in: 0...Self.startSpreadSeconds) * SimulatedCalendar.second
        )
        // Most lives are short; a few begin with a weekly plan, which mostly just renews, and fill
        // more than one page of history.
        isSteady = generator.chance(percent: 6)
        stepsLeft = generator.integer(in: isSteady ? 40...90 : 3...24)
        self.generator = generator
        subscribeFirst()
        while stepsLeft > 0, tellNext() {}
    }

    // Lives begin from 2024 on, when Apple's payloads had every field that matters, and within 700
    // days, so that some run for years and others have just begun.
    private static let earliestStart: Int64 = 1_704_067_200_000
    private static let startSpreadSeconds: Int64 = 700 * 86_400

    // The share of lives, in percent, in the group that is sold with commitments.
    private static let commitmentPercent: Int64 = 6

    // Nothing happens after 2026-11-01: a simulated history also has a present, in which some lives
    // are still running.
    private static let present = Instant(milliseconds: 1_793_491_200_000)

    /// Carries out a step and adds it to the script; a step after the present ends the story.
    mutating func tell(_ step: LifeStep) {
        guard step.at < Self.present else {
            stepsLeft = 0
            return
        }
        guard stepsLeft > 0 else { return }
        do {
            let signedAt = identity.signedAt(step: script.count, at: step.at)
            _ = try machine.apply(step, signedAt: signedAt)
        } catch {
            preconditionFailure(
                "life \(identity.index) of seed \(identity.seed) drew an impossible step: \(error)"
            )
        }
        script.append(step)
        now = step.at
        stepsLeft -= 1
    }

    // Draws what happens next; false if the story is over.
    private mutating func tellNext() -> Bool {
        switch machine.state.phase {
        case .neverBought: return false
        case .active: tellActive()
        case .grace(let until): tellGrace(until: until)
        case .retry: tellRetry()
        case .expired(let cause): return tellExpired(cause)
        case .revoked: return tellRevoked()
        }
        return true
    }

    private mutating func tellActive() {
        guard let current = machine.state.newest else { return }
        let soonest = now.milliseconds + LifeMachine.stepSpacing
        if soonest <= current.purchaseDate.milliseconds, !identity.isFamilyShared,
            generator.chance(percent: 5),
            let product = productForNow(than: current.product)
        {
            tell(.changeNow(to: product, offer: nil, at: current.purchaseDate))
            return
        }
        if isSteady, machine.state.isAutoRenewOn, machine.state.isPriceIncreaseAccepted != false,
            generator.chance(percent: 90)
        {
            tellRenewal(current.expiresDate)
            return
        }
        // The last day of a period is reserved for the renewal.
        let end = current.expiresDate.milliseconds - SimulatedCalendar.day
        for _ in 0..<generator.integer(in: 0...2) {
            guard machine.state.phase == .active,
                machine.state.newest?.purchaseDate
                    == current.purchaseDate
            else { return }
            guard let at = instant(from: current.purchaseDate.milliseconds, before: end) else {
                break
            }
            tellChange(current, at: at)
        }
        guard machine.state.phase == .active, let last = machine.state.newest,
            last.purchaseDate == current.purchaseDate, last.product == current.product
        else { return }
        tellBoundary(last.expiresDate)
    }

    private mutating func tellBoundary(_ end: Instant) {
        let after = later(end, 1...1800)
        if !machine.state.isAutoRenewOn {
            tell(.expire(.voluntary, at: after))
            return
        }
        if machine.state.isPriceIncreaseAccepted == false {
            tell(.expire(.priceIncrease, at: after))
            return
        }
        switch generator.integer(in: 0...99) {
        case 0..<11:
            tell(.failToRenew(graceUntil: nil, at: after))
        case 11..<24:
            // The renewing plan is the relevant one: its period must be longer than the grace.
            let isWeekly = machine.state.renewalProduct?.duration == .weeks(1)
            let days = generator.element(of: isWeekly ? [3, 6] : [3, 16, 28]) ?? 3
            let grace = end.milliseconds + Int64(days) * SimulatedCalendar.day
            tell(.failToRenew(graceUntil: Instant(milliseconds: grace), at: after))
        case 24..<27:
            tell(.expire(generator.chance(percent: 70) ? .productNotForSale : .other, at: after))
        default:
            tellRenewal(end)
        }
    }

    private mutating func tellRenewal(_ end: Instant) {
        let earliest = max(
            end.milliseconds - LifeMachine.earlyChargeMax,
            now.milliseconds + LifeMachine.stepSpacing
        )
        guard earliest <= end.milliseconds else {
            // The subscription recovered in the last minute of a grace period as long as a
            // February.
            tell(.failToRenew(graceUntil: nil, at: later(end, 60...600)))
            return
        }
        let isEarly = generator.chance(percent: 70)
        let seconds = isEarly ? (end.milliseconds - earliest) / SimulatedCalendar.second : 0
        let charge =
            end.milliseconds - generator.integer(in: 0...seconds) * SimulatedCalendar.second
        tell(.renew(at: Instant(milliseconds: charge)))
    }

    private mutating func tellGrace(until: Instant) {
        let at = instant(from: now.milliseconds, before: until.milliseconds)
        switch (generator.integer(in: 0...9), at) {
        case (0..<5, let at?): tell(.recover(at: at))
        case (5..<7, let at?): tell(.turnAutoRenewOff(at: at))
        default: tell(.endGrace(at: later(until, 60...1800)))
        }
    }

    private mutating func tellRetry() {
        let end =
            (machine.state.newest?.expiresDate ?? now).milliseconds
            + LifeMachine.retryDuration
        let at = instant(from: now.milliseconds, before: end) ?? later(now, 60...600)
        switch generator.integer(in: 0...9) {
        case 0..<3: tell(.recover(at: at))
        case 3..<5:
            tellChangeInRetry(at: at)
            // Within the sixty days, like any charge (Apple's data: trap 18).
            let charged = instant(from: now.milliseconds, before: end)
            tell(.recover(at: charged ?? later(now, 60...600)))
        case 5..<6: tell(.turnAutoRenewOff(at: at))
        default:
            tell(.giveUp(at: later(max(now, Instant(milliseconds: end)), 60...600)))
        }
    }

    private mutating func tellExpired(_ cause: ExpiryCause) -> Bool {
        let at = later(now, 3600...(100 * 86_400))
        switch generator.integer(in: 0...99) {
        case 0..<15: tellRefundOfAny(at: at)
        case 15..<25: tellReversalOfAny(at: at)
        case 25..<30: tellAside(at: at)
        case 30..<80: tell(.subscribe(returningProduct(), offer: returningOffer(), at: at))
        default: return false
        }
        return true
    }

    private mutating func tellRevoked() -> Bool {
        guard let newest = machine.state.newest else { return false }
        let window = max(
            3600,
            (newest.expiresDate.milliseconds - now.milliseconds) / SimulatedCalendar.second
        )
        let at = later(now, 3600...(window + 3600))
        switch generator.integer(in: 0...99) {
        case 0..<50 where !identity.isFamilyShared:
            tellReversal(of: machine.state.purchases.count - 1, at: at)
        case 50..<75:
            tell(.subscribe(returningProduct(), offer: nil, at: at))
        case 75..<80:
            tellAside(at: at)
        default:
            return false
        }
        return true
    }
}
