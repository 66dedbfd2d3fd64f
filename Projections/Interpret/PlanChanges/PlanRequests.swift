internal import Events

/// A request to continue with another product, or to pay for the same one in another way, according
/// to renewal statements.
struct PlanRequest {
    let fromProductId: String
    let toProductId: String
    /// The current and the requested billing plan, in Apple's words; nil if the request is for
    /// another product.
    let billingPlans: (from: String, to: String)?
    /// The current and the requested number of seats; nil if one is not stated.
    let seats: (from: Int64, to: Int64)?
    /// The first as-of that named the product.
    let requested: Instant
    /// Apple's `offerType` of the renewal as known then.
    let offerType: Int64?
    /// The first as-of that no longer named it.
    var withdrawn: Instant?
    /// Whether one of the two is only a lower bound, because nothing dates the statement.
    var isUndated: Bool
    /// The step of the course that fulfilled it.
    var fulfilment: Int?
    /// Whether it ended without effect.
    var hasLapsed = false
    var citations = Citations()
    /// The newest step that had begun or was charged when the request was last examined.
    fileprivate var step: Int
}

/// Walks through renewal statements and purchases and returns the requests.
struct PlanRequests {
    /// The requests, by as-of.
    private(set) var requests: [PlanRequest] = []

    private let course: PlanCourse
    // For each step, the earliest as-of at which it or a later one is known to be charged.
    private let chargedBy: [Instant]
    // The newest step that has begun or is charged; -1 before the first.
    private var newest = -1
    private var isOpen = false

    init(_ course: PlanCourse) {
        self.course = course
        var chargedBy = [Instant](repeating: Instant(milliseconds: .max), count: course.steps.count)
        var earliest = Instant(milliseconds: .max)
        for step in course.steps.indices.reversed() {
            earliest = min(
                earliest,
                course.purchase(step).assertions.sorted.first?.asOf ?? earliest
            )
            chargedBy[step] = earliest
        }
        self.chargedBy = chargedBy
        let undated = UndatedRequests(course.timeline)
        var sweep = Sweep(course.timeline.renewals)
        while sweep.advance() {
            guard let asOf = sweep.asOf, PlanRequests.statesPlan(sweep) else { continue }
            advance(to: asOf, sweep)
            guard let product = product(sweep, asOf: asOf) else { continue }
            let products = undated.products(at: asOf, after: currentProduct(sweep, asOf: asOf))
            for product in products ?? [product] {
                take(product, sweep, asOf: asOf, isUndated: products != nil)
            }
        }
        finish()
    }

    private static func statesPlan(_ sweep: Sweep) -> Bool {
        sweep.fresh(.autoRenewProductId) != .unknown
            || sweep.fresh(.renewalBillingPlanType) != .unknown
            || RenewalSeats(sweep)?.quantity != nil
    }

    // The product that renews next; a statement that only names a billing plan is about the last
    // one named, or about the current one.
    private func product(_ sweep: Sweep, asOf: Instant) -> String? {
        switch sweep.state(of: .autoRenewProductId) {
        case .value(.text(let product)): product.isEmpty ? nil : product
        case .unknown: currentProduct(sweep, asOf: asOf)
        default: nil
        }
    }

    private mutating func advance(to asOf: Instant, _ sweep: Sweep) {
        while newest + 1 < course.steps.count {
            let isCharged = chargedBy[newest + 1] <= asOf
            let hasBegun = course.purchase(newest + 1).purchaseDate <= asOf
            guard isCharged || (hasBegun && !isBeforeRecovery(sweep)) else { break }
            newest += 1
        }
        settle(upTo: newest)
    }

    // A purchase that is recovered in grace starts in the past (Apple's data: trap 21): statements
    // from the grace still name the old product as current.
    private func isBeforeRecovery(_ sweep: Sweep) -> Bool {
        guard newest >= 0, case .value(.text(let stated)) = sweep.fresh(.productId) else {
            return false
        }
        return byBytes(stated, course.purchase(newest).productId) == nil
            && byBytes(stated, course.purchase(newest + 1).productId) != nil
    }

    private mutating func take(
        _ product: String,
        _ sweep: Sweep,
        asOf: Instant,
        isUndated: Bool
    ) {
        guard let current = currentProduct(sweep, asOf: asOf), !current.isEmpty else { return }
        let isSwitch = byBytes(current, product) == nil
        let plans = isSwitch ? billingPlans(sweep, of: current) : nil
        let seats = seats(sweep, asOf: asOf)
        let deciding: Field =
            plans != nil ? .renewalBillingPlanType : seats != nil ? .extra : .autoRenewProductId
        let offset = sweep.decider(of: deciding) ?? sweep.decider(of: .autoRenewProductId)

        if isOpen, let last = requests.indices.last {
            let isSame = requests[last].isSame(product, plans?.to, seats?.to)
            // Also if the current product already is the requested one, through a purchase that has
            // not reached us: that is not a withdrawal.
            if isSame, !requests[last].hasLapsed { return }
            if isSame || course.hasEnded(by: asOf, after: newest) {
                requests[last].hasLapsed = true
            } else {
                requests[last].withdrawn = asOf
                if isUndated { requests[last].isUndated = true }
                offset.map { requests[last].citations.cite($0) }
            }
            isOpen = false
        }

        let isOtherPlan = plans.map { byBytes($0.from, $0.to) != nil } ?? false
        let isOtherSeats = seats.map { $0.from != $0.to } ?? false
        guard !isSwitch || isOtherPlan || isOtherSeats else { return }
        var offerType: Int64?
        if case .value(.integer(let number)) = sweep.state(of: .offerType) { offerType = number }
        var request = PlanRequest(
            fromProductId: current,
            toProductId: product,
            billingPlans: plans,
            seats: seats,
            requested: asOf,
            offerType: offerType,
            isUndated: isUndated,
            step: newest
        )
        offset.map { request.citations.cite($0) }
        requests.append(request)
        isOpen = true
    }

    // How the newest purchase of that product is billed, and how the next one will be, if both are
    // stated: an unknown value does not count as different
    // (https://developer.apple.com/documentation/appstoreserverapi/renewalbillingplantype).
    private func billingPlans(_ sweep: Sweep, of product: String) -> (from: String, to: String)? {
        guard newest >= 0, case let purchase = course.purchase(newest),
            byBytes(purchase.productId, product) == nil, let paid = purchase.billingPlanType,
            case .value(.text(let next)) = sweep.fresh(.renewalBillingPlanType)
        else { return nil }
        return (paid, next)
    }

    // How many seats the newest purchase has by then, and how many will renew, if both are stated.
    private func seats(_ sweep: Sweep, asOf: Instant) -> (from: Int64, to: Int64)? {
        guard newest >= 0, let next = RenewalSeats(sweep)?.quantity,
            let now = course.purchase(newest).seatQuantity(at: asOf)
        else { return nil }
        return (now, next)
    }

    // A renewal that is already charged counts, whatever product the statement names as current.
    private func currentProduct(_ sweep: Sweep, asOf: Instant) -> String? {
        if newest >= 0, course.purchase(newest).purchaseDate > asOf {
            return course.purchase(newest).productId
        }
        if case .value(.text(let stated)) = sweep.fresh(.productId), !stated.isEmpty {
            return stated
        }
        var step = newest
        while step >= 0 {
            let purchase = course.purchase(step)
            let isReplaced =
                purchase.isUpgraded && purchase.firstUpgradeMark.map { $0.asOf <= asOf } ?? false
            if !isReplaced { return purchase.productId }
            step -= 1
        }
        return nil
    }

    // A renewal of the old product leaves a request pending: it may have been charged before the
    // request.
    private mutating func settle(upTo newest: Int) {
        guard isOpen, let last = requests.indices.last else { return }
        while requests[last].step < newest {
            requests[last].step += 1
            let step = requests[last].step
            let purchase = course.purchase(step)
            if !course.continuity.isContinuing[course.steps[step]] {
                requests[last].hasLapsed = true
                isOpen = false
                return
            }
            if requests[last].isFulfilled(by: purchase), !requests[last].hasLapsed {
                requests[last].fulfilment = step
                isOpen = false
                return
            }
            // Lapsed unless a later statement withdraws it.
            if !requests[last].isLeftOpen(by: purchase) { requests[last].hasLapsed = true }
        }
    }

    private mutating func finish() {
        settle(upTo: course.steps.count - 1)
        guard isOpen, let last = requests.indices.last, let horizon = course.timeline.horizon else {
            return
        }
        if course.hasEnded(by: horizon, after: course.steps.count - 1) {
            requests[last].hasLapsed = true
        }
    }
}

extension PlanRequest {
    /// Whether a statement with that product, and that billing plan and number of seats if it
    /// states them, repeats it.
    fileprivate func isSame(_ product: String, _ billingPlan: String?, _ seats: Int64?) -> Bool {
        guard byBytes(toProductId, product) == nil else { return false }
        if let requested = self.seats?.to, let seats, requested != seats { return false }
        guard let requested = billingPlans?.to, let billingPlan else { return true }
        return byBytes(requested, billingPlan) == nil
    }

    // Whether only the number of seats was to change.
    private var isOfSeats: Bool {
        byBytes(fromProductId, toProductId) == nil && seats.map { $0.from != $0.to } ?? false
    }

    fileprivate func isFulfilled(by purchase: Purchase) -> Bool {
        guard byBytes(purchase.productId, toProductId) == nil else { return false }
        if isOfSeats, let bought = purchase.seats?.quantity, bought != seats?.to { return false }
        guard let requested = billingPlans?.to else { return true }
        return purchase.billingPlanType.map { byBytes($0, requested) == nil } ?? false
    }

    fileprivate func isLeftOpen(by purchase: Purchase) -> Bool {
        guard byBytes(purchase.productId, fromProductId) == nil else { return false }
        if isOfSeats, let bought = purchase.seats?.quantity, bought != seats?.from { return false }
        guard let paid = billingPlans?.from, let plan = purchase.billingPlanType else {
            return true
        }
        return byBytes(plan, paid) == nil
    }
}

extension PlanCourse {
    /// The purchase of a step.
    func purchase(_ step: Int) -> Purchase { timeline.purchases[steps[step]] }

    /// Whether the subscription is known to have ended by an instant, when this was its newest
    /// step; false if the next purchase continues it.
    func hasEnded(by instant: Instant, after step: Int) -> Bool {
        let next = step + 1
        if next < steps.count, continuity.isContinuing[steps[next]] { return false }
        let status = states.state(at: instant)?.status
        return status == .expired || status == .revoked
    }
}
