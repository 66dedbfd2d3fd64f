public import Events

/// A change of a subscription from one product to another: wished for, withdrawn, effective; or a
/// change of how one product is paid, from monthly with a commitment to at once or back.
public struct PlanChange: Hashable, Sendable {
    /// The subscription.
    public let stream: StreamID
    /// The product before.
    public let fromProductId: String
    /// The product after, or the one wished for.
    public let toProductId: String
    /// Apple's `billingPlanType` before, of a change that took effect or a wish for another billing
    /// plan of the same product; nil where not said
    /// (https://developer.apple.com/documentation/appstoreserverapi/billingplantype).
    public let fromBillingPlanType: String?
    /// The one after; nil where not said.
    public let toBillingPlanType: String?
    /// When Apple first reported the request; nil for a change that took effect without one.
    public let requested: Instant?
    /// Start of the first purchase of the new product, in whole seconds; nil where it never began.
    public let effective: Instant?
    /// When Apple first reported that the request was withdrawn; nil if it did not.
    public let withdrawn: Instant?
    /// What became of it.
    public let state: State
    /// When it takes effect, measured by the old period.
    public let timing: Timing
    /// What it is by the levels of the catalog.
    public let changeClass: PlanChangeClass
    /// Whether both products have periods of one length; nil where the catalog does not know.
    public let hasSameDuration: Bool?
    /// The version of the catalog that judged; nil where there is none.
    public let catalogVersion: Int?
    /// Apple's `offerType` of the new purchase, or of the wish; nil for the standard price.
    public let offerType: Int64?
    /// Whether the rest of the old period is given back: only where some of it was left, and was
    /// paid for
    /// (https://developer.apple.com/documentation/storekit/handling-subscriptions-billing).
    public let refundsPrevious: Bool
    /// Whether nothing dates the wish, as in version 1 notifications: `requested` and `withdrawn`
    /// are then lower bounds, and Apple may have been told of it and of its end in any order since.
    public let isUndated: Bool
    /// What Apple probably gave back of the old period, in milliunits: an estimate by time, which
    /// Apple signed nowhere and no sum of money may hold; nil where nothing is given back, or it is
    /// not known.
    public let estimatedRefundMilliunits: Int64?
    /// ISO 4217 code of the estimate; nil if it is not known.
    public let estimatedRefundCurrency: String?
    /// The events that caused the row, ascending, each once.
    public let positions: [Position]

    /// What became of a change.
    public enum State: String, CaseIterable, Sendable {
        /// Wished for, and open.
        case requested
        /// The new product's first purchase began, or was charged to begin.
        case effective
        /// The customer took the wish back, or named another product.
        case withdrawn
        /// The subscription ended, or went on with a third product, without it.
        case lapsed
    }

    /// When a change takes effect.
    public enum Timing: String, CaseIterable, Sendable {
        /// At once: inside the old period, or in the grace or billing retry after it.
        case now
        /// When the old period ends.
        case nextRenewal = "next_renewal"
        /// With a new start after a lapse.
        case resubscribe
    }
}

extension PlanChange {
    /// When it was first known, on Apple's clock.
    var firstKnown: Instant? { requested ?? effective }

    // Beyond the documented order the later instants decide, so that no order of arrival does.
    static func areInOrder(_ left: PlanChange, _ right: PlanChange) -> Bool {
        if let isFirst = byInstants(left.firstKnown, right.firstKnown) { return isFirst }
        if let isFirst = byBytes(left.fromProductId, right.fromProductId) { return isFirst }
        if let isFirst = byBytes(left.toProductId, right.toProductId) { return isFirst }
        if let isFirst = byInstants(left.effective, right.effective) { return isFirst }
        return byInstants(left.withdrawn, right.withdrawn) ?? false
    }
}

// None comes last; nil where both are the same.
private func byInstants(_ left: Instant?, _ right: Instant?) -> Bool? {
    if left == right { return nil }
    guard let left else { return false }
    guard let right else { return true }
    return left < right
}
