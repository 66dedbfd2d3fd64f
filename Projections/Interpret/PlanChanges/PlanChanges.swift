internal import Events

/// Which product a subscription changed to, and which it was going to change to.
///
/// A purchase of another product than the previous one is a change; a renewal statement that names
/// another product than the current one is a request for one (Apple's data: traps 23, 25), and so
/// is one whose `renewalBillingPlanType` differs from how the product is billed. A request and the
/// change that fulfils it are one row.
public struct PlanChanges: Sendable {
    /// The changes, by first known instant, then products.
    public let rows: [PlanChange]

    private static let kept = FoldMemo.Key<(catalogs: CatalogHistory, rows: [PlanChange])>()

    /// The changes of a timeline, classified by these catalogs.
    public init(_ timeline: Timeline, _ catalogs: CatalogHistory) {
        let kept = timeline.once(PlanChanges.kept, where: { $0.catalogs == catalogs }) {
            (catalogs, PlanChanges.folded(timeline, catalogs))
        }
        rows = kept.rows
    }

    private static func folded(
        _ timeline: Timeline,
        _ catalogs: CatalogHistory
    ) -> [PlanChange] {
        guard
            timeline.namesTwoProducts || timeline.hasTwoBillingPlans
                || timeline.purchases.contains(where: { $0.seats != nil })
        else { return [] }
        let course = PlanCourse(timeline.asAppleDid)
        var rows = rows(of: course, PlanRequests(course).requests, catalogs)
        if let assigned = course.ofAssignedSeats { rows += self.rows(of: assigned, [], catalogs) }
        rows.sort(by: PlanChange.areInOrder)
        return rows
    }

    private static func rows(
        of course: PlanCourse,
        _ requests: [PlanRequest],
        _ catalogs: CatalogHistory
    ) -> [PlanChange] {
        var rows: [PlanChange] = []
        for step in course.steps.indices.dropFirst() {
            let (old, new) = (course.steps[step - 1], course.steps[step])
            guard course.isChange(from: old, to: new) else { continue }
            let request = requests.first { $0.fulfilment == step }
            rows.append(course.change(from: old, to: new, request, catalogs))
        }
        for step in course.steps { rows += course.seatChanges(in: step) }
        for request in requests where request.fulfilment == nil {
            rows.append(course.change(request, catalogs))
        }
        return rows
    }
}

/// The purchases of a timeline that took effect, one after the other: those revoked before they
/// began, or overtaken, did not (Apple's data: traps 10, 14); seats that were assigned to an owner
/// who bought some, too, are a course of their own.
struct PlanCourse {
    let timeline: Timeline
    let continuity: Continuity
    let states: RenewalStates
    /// Indices into the timeline's purchases, by start.
    let steps: [Int]

    init(_ timeline: Timeline) {
        self.init(timeline, course: 0)
    }

    private init(_ timeline: Timeline, course: Int) {
        self.timeline = timeline
        continuity = timeline.continuity
        states = RenewalStates(timeline)
        let succession = timeline.succession
        steps = timeline.purchases.indices.filter { index in
            succession.tookEffect(index) && succession.course(of: index) == course
                && !timeline.purchases[index].isRevokedBeforeStart
        }
    }

    /// The seats that were assigned to an owner who also bought some; nil if there are none.
    fileprivate var ofAssignedSeats: PlanCourse? {
        let assigned = PlanCourse(timeline, course: 1)
        return assigned.steps.isEmpty ? nil : assigned
    }

    /// Whether the second purchase is of another product, or billed in another way; an unknown
    /// value does not count as different.
    func isChange(from old: Int, to new: Int) -> Bool {
        let (from, to) = (timeline.purchases[old], timeline.purchases[new])
        guard !from.productId.isEmpty, !to.productId.isEmpty else { return false }
        if byBytes(from.productId, to.productId) != nil { return true }
        if let before = from.seatQuantity, let after = to.seats?.quantity, before != after {
            return true
        }
        guard let before = from.billingPlanType, let after = to.billingPlanType else {
            return false
        }
        return byBytes(before, after) != nil
    }

    /// When a change between two purchases takes effect.
    ///
    /// What the customer buys in grace or billing retry begins at once; a recovered renewal fulfils
    /// an earlier request (Apple's data: trap 23, report events).
    func timing(from old: Int, to new: Int, isRequested: Bool) -> PlanChange.Timing {
        let (previous, next) = (timeline.purchases[old], timeline.purchases[new])
        if next.purchaseDate < previous.expiresDate, !previous.wasTakenBack(before: next) {
            return .now
        }
        guard continuity.isContinuing[new] else { return .resubscribe }
        let delay = next.purchaseDate.milliseconds - previous.expiresDate.milliseconds
        let isBought = !isRequested && !next.isRenewal && delay > Continuity.renewalDelayMax
        return isBought ? .now : .nextRenewal
    }

    // Nothing is refunded for a free period, for a period that another party pays for, or for the
    // grace and the retry after a period.
    private func givesBack(_ previous: Purchase, to next: Purchase) -> Bool {
        var citations = Citations()
        let isFree =
            previous.isFreeTrial(citing: &citations) || previous.amountMilliunits == 0
        return next.purchaseDate < previous.expiresDate && !isFree && previous.sharing == nil
    }

    /// The row of a change that took effect.
    fileprivate func change(
        from old: Int,
        to new: Int,
        _ request: PlanRequest?,
        _ catalogs: CatalogHistory
    ) -> PlanChange {
        let (previous, next) = (timeline.purchases[old], timeline.purchases[new])
        var citations = request?.citations ?? Citations()
        citations.cite(previous.datesOffset)
        citations.cite(next.datesOffset)
        let offerType = next.integer(.offerType, citing: &citations)
        let timing = timing(from: old, to: new, isRequested: request != nil)
        let refundsPrevious = timing == .now && givesBack(previous, to: next)
        let estimate =
            refundsPrevious
            ? RefundEstimate(of: previous, replacedAt: next.purchaseDate, citing: &citations) : nil
        let judged = CatalogVerdict(
            from: previous.productId,
            to: next.productId,
            at: next.purchaseDate,
            catalogs
        )

        return PlanChange(
            stream: timeline.stream,
            fromProductId: previous.productId,
            toProductId: next.productId,
            fromBillingPlanType: previous.billingPlanType,
            toBillingPlanType: next.billingPlanType,
            fromSeatQuantity: next.seats?.quantity == nil ? nil : previous.seatQuantity,
            toSeatQuantity: previous.seatQuantity == nil ? nil : next.seats?.quantity,
            requested: request?.requested,
            effective: next.purchaseDate,
            withdrawn: nil,
            state: .effective,
            timing: timing,
            changeClass: judged.changeClass,
            hasSameDuration: judged.hasSameDuration,
            catalogVersion: judged.version,
            offerType: offerType,
            refundsPrevious: refundsPrevious,
            isUndated: request?.isUndated ?? false,
            estimatedRefundMilliunits: estimate?.milliunits,
            estimatedRefundCurrency: estimate?.currency,
            positions: citations.positions(lane: timeline.lane)
        )
    }

    /// The row of a request that has not been fulfilled.
    fileprivate func change(_ request: PlanRequest, _ catalogs: CatalogHistory) -> PlanChange {
        let judged = CatalogVerdict(
            from: request.fromProductId,
            to: request.toProductId,
            at: request.requested,
            catalogs
        )

        return PlanChange(
            stream: timeline.stream,
            fromProductId: request.fromProductId,
            toProductId: request.toProductId,
            fromBillingPlanType: request.billingPlans?.from,
            toBillingPlanType: request.billingPlans?.to,
            fromSeatQuantity: request.seats?.from,
            toSeatQuantity: request.seats?.to,
            requested: request.requested,
            effective: nil,
            withdrawn: request.withdrawn,
            state: request.withdrawn != nil ? .withdrawn : request.hasLapsed ? .lapsed : .requested,
            timing: .nextRenewal,
            changeClass: judged.changeClass,
            hasSameDuration: judged.hasSameDuration,
            catalogVersion: judged.version,
            offerType: request.offerType,
            refundsPrevious: false,
            isUndated: request.isUndated,
            estimatedRefundMilliunits: nil,
            estimatedRefundCurrency: nil,
            positions: request.citations.positions(lane: timeline.lane)
        )
    }
}

/// What the catalog of an instant states about a change.
struct CatalogVerdict {
    let changeClass: PlanChangeClass
    let hasSameDuration: Bool?
    let version: Int?

    init(from: String, to: String, at instant: Instant, _ catalogs: CatalogHistory) {
        // If the product stays the same, only the billing plan changes, which no level of the
        // catalog classifies.
        guard byBytes(from, to) != nil else {
            (changeClass, hasSameDuration, version) = (.planChange, nil, nil)
            return
        }
        changeClass = catalogs.change(from: from, to: to, at: instant)
        hasSameDuration = catalogs.haveSameDuration(from, to, at: instant)
        version = catalogs.version(at: instant)?.version
    }
}

extension Timeline {
    fileprivate var hasTwoBillingPlans: Bool {
        let plans = purchases.lazy.compactMap(\.billingPlanType)
        guard let first = plans.first else { return false }
        return plans.contains { byBytes($0, first) != nil }
            || renewals.sorted.contains { assertion in
                let requested = assertion.content.text(.renewalBillingPlanType)
                return requested.map { byBytes($0, first) != nil } ?? false
            }
    }

    // The common case is one product throughout, which needs no fold.
    fileprivate var namesTwoProducts: Bool {
        var product = ""
        for purchase in purchases where !purchase.productId.isEmpty {
            if product.isEmpty { product = purchase.productId }
            if byBytes(product, purchase.productId) != nil { return true }
        }
        return renewals.sorted.indices.contains { index in
            let content = renewals.sorted[index].content
            return content.names(.autoRenewProductId, otherThan: &product)
                || content.names(.productId, otherThan: &product)
        }
    }
}

extension Content {
    // Whether a field names another product than the one known so far, if any is.
    fileprivate func names(_ field: Field, otherThan product: inout String) -> Bool {
        guard carried.contains(field), !carries(field, product), !carries(field, "") else {
            return false
        }
        guard product.isEmpty else { return true }
        product = text(field) ?? ""
        return false
    }
}

extension Purchase {
    /// The date of its revocation as last asserted; nil while a transaction of its period is left.
    var revocationDate: Instant? {
        if additions.isEmpty {
            if case .value(.instant(let date)) = state(of: .revocationDate) { return date }
            return nil
        }
        var citations = Citations()
        return periodRevocation(citing: &citations)?.date
    }

    // A refund that Apple dates to the change itself is for the rest of the replaced period
    // (Apple's data: trap 9), and is not a revocation before it.
    fileprivate func wasTakenBack(before next: Purchase) -> Bool {
        guard let date = revocationDate, date < next.purchaseDate else { return false }
        let isTyped = state(of: .revocationType) > .none
        let lead = next.purchaseDate.milliseconds - date.milliseconds
        return isTyped && !isUpgraded || lead > Cut.refundWindow
    }
}
