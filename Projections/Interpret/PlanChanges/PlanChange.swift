public import Events

/// A change of a subscription from one product to another: requested, withdrawn or effective; or a
/// change in how one product is billed, from monthly with a commitment to upfront or back, or in its
/// number of seats.
public struct PlanChange: Codable, Hashable, Sendable {
    /// The subscription; a document names it once, not in each row.
    public internal(set) var stream = StreamID.ofDocument
    /// The product before.
    public let fromProductId: String
    /// The new product, or the requested one.
    public let toProductId: String
    /// Apple's `billingPlanType` before, for a change that took effect or a request for another
    /// billing plan of the same product; nil if not stated
    /// (https://developer.apple.com/documentation/appstoreserverapi/billingplantype).
    public let fromBillingPlanType: String?
    /// Apple's `billingPlanType` after; nil if not stated.
    public let toBillingPlanType: String?
    /// The number of seats before; nil unless both numbers are known.
    public let fromSeatQuantity: Int64?
    /// The new number of seats, or the requested one.
    public let toSeatQuantity: Int64?
    /// When Apple first reported the request; nil for a change that took effect without one.
    public let requested: Instant?
    /// Start of the first purchase of the new product, in whole seconds; nil if it never began.
    public let effective: Instant?
    /// When Apple first reported that the request was withdrawn; nil if it did not.
    public let withdrawn: Instant?
    /// The outcome.
    public let state: State
    /// When it takes effect, relative to the old period.
    public let timing: Timing
    /// Its class by the levels of the catalog.
    public let changeClass: PlanChangeClass
    /// Whether both products have periods of the same length; nil if the catalog does not know.
    public let hasSameDuration: Bool?
    /// The version of the catalog that classified it; nil if there is none.
    public let catalogVersion: Int?
    /// Apple's `offerType` of the new purchase, or of the request; nil for the standard price.
    public let offerType: Int64?
    /// Whether the rest of the old period is refunded: only if some of it was left, and was paid
    /// for (https://developer.apple.com/documentation/storekit/handling-subscriptions-billing).
    public let refundsPrevious: Bool
    /// Whether nothing dates the request, as in version 1 notifications: `requested` and
    /// `withdrawn` are then lower bounds, and the request and its end may have happened at any
    /// later time.
    public let isUndated: Bool
    /// The probable refund for the old period, in milliunits: an estimate by time, which Apple did
    /// not sign and which must not be added to any total; nil if nothing is refunded, or it is not
    /// known.
    public package(set) var estimatedRefundMilliunits: Int64?
    /// ISO 4217 code of the estimate; nil if it is not known.
    public let estimatedRefundCurrency: String?
    /// The events that caused the row, ascending, without duplicates.
    public let positions: [Position]

    private enum CodingKeys: String, CodingKey {
        case fromProductId, toProductId, fromBillingPlanType, toBillingPlanType, fromSeatQuantity
        case toSeatQuantity, requested, effective, withdrawn, state, timing
        case changeClass = "class"
        case hasSameDuration = "sameDuration"
        case catalogVersion, offerType, refundsPrevious, isUndated, estimatedRefundMilliunits
        case estimatedRefundCurrency, positions
    }

    /// The outcome of a change.
    public enum State: String, CaseIterable, Codable, Sendable {
        /// Requested, and pending.
        case requested
        /// The new product's first purchase began, or was charged in advance.
        case effective
        /// The customer withdrew the request, or named another product.
        case withdrawn
        /// The subscription ended, or continued with a third product, without it.
        case lapsed
    }

    /// When a change takes effect.
    public enum Timing: String, CaseIterable, Codable, Sendable {
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

    // Beyond the documented order the later instants decide, so the order of arrival has no effect.
    static func areInOrder(_ left: PlanChange, _ right: PlanChange) -> Bool {
        if let isFirst = byInstants(left.firstKnown, right.firstKnown) { return isFirst }
        if let isFirst = byBytes(left.fromProductId, right.fromProductId) { return isFirst }
        if let isFirst = byBytes(left.toProductId, right.toProductId) { return isFirst }
        if let isFirst = byInstants(left.effective, right.effective) { return isFirst }
        if left.toSeatQuantity != right.toSeatQuantity {
            return left.toSeatQuantity ?? 0 < right.toSeatQuantity ?? 0
        }
        return byInstants(left.withdrawn, right.withdrawn) ?? false
    }
}

// A missing instant comes last; nil if both are the same.
private func byInstants(_ left: Instant?, _ right: Instant?) -> Bool? {
    if left == right { return nil }
    guard let left else { return false }
    guard let right else { return true }
    return left < right
}
