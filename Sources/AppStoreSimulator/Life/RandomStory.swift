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
    /// What the app sells besides subscriptions for one customer.
    let extras: AppStoreSimulator.Extras
    /// The seats that are bought first; nil for one customer.
    let seats: SimulatedSeats?

    /// Draws the script of that life, with products of a random group unless they are given.
    init(
        identity: LifeIdentity,
        generator: SeededGenerator,
        products: [SimulatedProduct]? = nil,
        extras: AppStoreSimulator.Extras = [],
        seats: SimulatedSeats? = nil
    ) {
        var generator = generator
        self.identity = identity
        self.extras = extras
        self.seats = seats
        let drawn = generator.element(of: [SimulatedCatalog.lumen, SimulatedCatalog.atlas])
        // Drawn from a separate generator, so that the other lives do not change.
        var sideGenerator = identity.generator(step: 2 * LifeMachine.stepCountMax)
        let isCommitted = sideGenerator.chance(percent: Self.commitmentPercent)
        self.products =
            products
            ?? (isCommitted ? SimulatedCatalog.harbor : drawn ?? SimulatedCatalog.lumen)
        machine = LifeMachine(identity)
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
        while stepsLeft > 0, drawNext() {}
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
    mutating func add(_ step: LifeStep) {
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
    private mutating func drawNext() -> Bool {
        switch machine.state.phase {
        case .neverBought: return false
        case .active: drawWhileActive()
        case .grace(let until): drawInGrace(until: until)
        case .retry: drawInRetry()
        case .expired(let cause): return drawAfterExpiry(cause)
        case .revoked: return drawAfterRevocation()
        }
        return true
    }

    private mutating func drawWhileActive() {
        guard let current = machine.state.newest else { return }
        let soonest = now.milliseconds + LifeMachine.stepSpacing
        if soonest <= current.purchaseDate.milliseconds, !identity.isMember,
            generator.chance(percent: 5),
            let product = productForNow(than: current.product)
        {
            add(.changeNow(to: product, offer: nil, at: current.purchaseDate))
            return
        }
        if isSteady, machine.state.isAutoRenewOn, machine.state.isPriceIncreaseAccepted != false,
            generator.chance(percent: 90)
        {
            drawRenewal(current.expiresDate)
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
            drawChange(current, at: at)
        }
        guard machine.state.phase == .active, let last = machine.state.newest,
            last.purchaseDate == current.purchaseDate, last.product == current.product
        else { return }
        drawPeriodEnd(last.expiresDate)
    }

    private mutating func drawPeriodEnd(_ end: Instant) {
        let after = later(end, 1...1800)
        if !machine.state.isAutoRenewOn {
            add(.expire(machine.state.willUnbundle ? .unbundled : .voluntary, at: after))
            return
        }
        if machine.state.isPriceIncreaseAccepted == false {
            add(.expire(.priceIncrease, at: after))
            return
        }
        switch generator.integer(in: 0...99) {
        case 0..<11:
            add(.failToRenew(graceUntil: nil, at: after))
        case 11..<24:
            // The renewing plan is the relevant one: its period must be longer than the grace.
            let isWeekly = machine.state.renewalProduct?.duration == .weeks(1)
            let days = generator.element(of: isWeekly ? [3, 6] : [3, 16, 28]) ?? 3
            add(.failToRenew(graceUntil: end.advanced(days: Int64(days)), at: after))
        case 24..<27:
            add(.expire(generator.chance(percent: 70) ? .productNotForSale : .other, at: after))
        default:
            drawRenewal(end)
        }
    }

    private mutating func drawRenewal(_ end: Instant) {
        let earliest = max(
            end.milliseconds - LifeMachine.earlyChargeMax,
            now.milliseconds + LifeMachine.stepSpacing
        )
        guard earliest <= end.milliseconds else {
            // The subscription recovered in the last minute of a grace period as long as a
            // February.
            add(.failToRenew(graceUntil: nil, at: later(end, 60...600)))
            return
        }
        let isEarly = generator.chance(percent: 70)
        let seconds = isEarly ? (end.milliseconds - earliest) / SimulatedCalendar.second : 0
        let early = generator.integer(in: 0...seconds) * SimulatedCalendar.second
        add(.renew(at: end.advanced(by: -early)))
    }

    private mutating func drawInGrace(until: Instant) {
        let at = instant(from: now.milliseconds, before: until.milliseconds)
        switch (generator.integer(in: 0...9), at) {
        case (0..<5, let at?): add(.recover(at: at))
        case (5..<7, let at?): add(.turnAutoRenewOff(at: at))
        default: add(.endGrace(at: later(until, 60...1800)))
        }
    }

    private mutating func drawInRetry() {
        let end =
            (machine.state.newest?.expiresDate ?? now).milliseconds
            + LifeMachine.retryDuration
        let at = instant(from: now.milliseconds, before: end) ?? later(now, 60...600)
        switch generator.integer(in: 0...9) {
        case 0..<3: add(.recover(at: at))
        case 3..<5:
            drawChangeInRetry(at: at)
            // Within the sixty days, like any charge (Apple's data: trap 18).
            let charged = instant(from: now.milliseconds, before: end)
            add(.recover(at: charged ?? later(now, 60...600)))
        case 5..<6: add(.turnAutoRenewOff(at: at))
        default:
            add(.giveUp(at: later(max(now, Instant(milliseconds: end)), 60...600)))
        }
    }

    private mutating func drawAfterExpiry(_ cause: ExpiryCause) -> Bool {
        let at = later(now, 3600...(100 * 86_400))
        switch generator.integer(in: 0...99) {
        case 0..<15: drawRefundOfAny(at: at)
        case 15..<25: drawReversalOfAny(at: at)
        case 25..<30: drawSideEvent(at: at)
        case 30..<80: subscribeAgain(withOffer: true, at: at)
        default: return false
        }
        return true
    }

    private mutating func drawAfterRevocation() -> Bool {
        guard let newest = machine.state.newest, newest.revocation?.cause != .bundle else {
            return false
        }
        let window = max(
            3600,
            (newest.expiresDate.milliseconds - now.milliseconds) / SimulatedCalendar.second
        )
        let at = later(now, 3600...(window + 3600))
        switch generator.integer(in: 0...99) {
        case 0..<50 where !identity.isMember:
            drawReversal(of: machine.state.purchases.count - 1, at: at)
        case 50..<75:
            subscribeAgain(withOffer: false, at: at)
        case 75..<80:
            drawSideEvent(at: at)
        default:
            return false
        }
        return true
    }
}
