public import Events

/// An interval in which one purchase, or the grace period after it, gave access.
///
/// Half-open: `validTo` is the first instant without access. An empty one (`validFrom == validTo`)
/// is a purchase that was revoked before it began; it stays in the history.
public struct ActivePeriod: Codable, Hashable, Sendable {
    /// The subscription; a document names it once, not in each row.
    public internal(set) var stream = StreamID.ofDocument
    /// The product.
    public let productId: String
    /// Start of the purchase, in whole seconds.
    public let purchaseDate: Instant
    /// Natural end of the purchase, in whole seconds.
    public let expiresDate: Instant
    /// Start of the access.
    public let validFrom: Instant
    /// End of the access; never before `validFrom`.
    public let validTo: Instant
    /// Why there was access.
    public let kind: Kind
    /// Why it ended.
    public let endReason: EndReason
    /// The class of the change that ended it, which a table has in `plan_changes`; nil unless it
    /// ended as `upgraded` and was asked for.
    public package(set) var planChange: PlanChangeClass?
    /// Why the subscription was not renewed at its end, in Apple's words: nil if access continued,
    /// or Apple did not state a reason.
    ///
    /// `renewal_states` cites the event that states it.
    public internal(set) var expirationReason: ExpirationReason?
    /// Apple's `billingPlanType`; nil if Apple did not state it.
    public internal(set) var billingPlanType: String?
    /// The commitment that the purchase belongs to; nil if there is none.
    public internal(set) var commitment: BillingPlan.Commitment?
    /// The items of an Advanced Commerce purchase; nil for all others.
    public internal(set) var advancedCommerceItems: [ActivePeriod.CommerceItem]?
    /// How many seats are left of all its transactions, as last stated; nil unless the owner bought
    /// seats.
    public internal(set) var seatQuantity: Int64?
    /// Apple's `bundleProductId`; nil if it was bought alone.
    public internal(set) var bundleProductId: String?
    /// The events that caused the row, ascending, without duplicates; not in digests or comparisons
    /// of ledgers, because they depend on the order of arrival.
    public let positions: [Position]

    private enum CodingKeys: String, CodingKey {
        case productId, purchaseDate, expiresDate, validFrom, validTo, kind, endReason, planChange
        case expirationReason, billingPlanType, commitment, advancedCommerceItems, seatQuantity
        case bundleProductId, positions
    }

    /// Why there is access.
    public enum Kind: String, CaseIterable, Codable, Sendable {
        /// A free introductory offer.
        case trial
        /// A paid introductory offer.
        case intro
        /// A promotional offer, an offer code, a win-back, or an unknown kind of offer.
        case offer
        /// The standard price.
        case paid
        /// Another family member pays, whatever the terms are (Apple's data: trap 33).
        case family
        /// A seat that a group purchaser or an organisation pays for, whatever the terms are
        /// (Apple's data: seats).
        case assigned
        /// Billing grace after a failed renewal (Apple's data: trap 20).
        case grace
    }

    /// Why access ended.
    public enum EndReason: String, CaseIterable, Codable, Sendable {
        /// The period ran out.
        case expired
        /// A purchase of another product replaced it, or a bundle that contains it, or Apple marked
        /// it as upgraded.
        case upgraded
        /// A new purchase of the same product replaced it, for example with an offer.
        case replaced
        /// Apple revoked it before its end: access until then, none after, and no earlier period is
        /// revived.
        case refunded
        /// Family sharing ended (Apple's data: trap 33).
        case revoked
        /// The assignment of the seat ended (Apple's data: seats).
        case assignmentEnded = "assignment_ended"
        /// It had not ended by Apple's last statement: its end is after the newest date that Apple
        /// signed.
        ///
        /// No clock decides, so it stays open until Apple's next statement; readers compare
        /// `validTo` with their own clock.
        case open
    }
}

extension Array {
    /// Itself; nil if it is empty.
    var ifAny: [Element]? { isEmpty ? nil : self }
}

extension ActivePeriod.EndReason {
    /// Whether Apple took the access back: status 5 from then on.
    var isRevocation: Bool {
        switch self {
        case .refunded, .revoked, .assignmentEnded: true
        case .expired, .upgraded, .replaced, .open: false
        }
    }
}

extension ActivePeriod {
    /// Takes what Apple states about its purchase apart from time and product.
    mutating func take(_ purchase: Purchase) {
        let plan = purchase.billingPlan
        (billingPlanType, commitment) = (plan?.type, plan?.commitment)
        advancedCommerceItems = purchase.commerceItems.ifAny
        seatQuantity = purchase.seatQuantity
        bundleProductId = purchase.bundle?.productId
    }

    /// Whether it ended for another reason than its natural end.
    var isTakenBack: Bool {
        switch endReason {
        case .refunded, .revoked, .assignmentEnded, .upgraded, .replaced: true
        case .expired, .open: false
        }
    }

    /// Whether another purchase replaced it, of whatever product.
    var isReplaced: Bool { endReason == .upgraded || endReason == .replaced }

    /// Whether it is the row of a purchase that was replaced before it began.
    package var neverTookEffect: Bool { validFrom == validTo && isReplaced }

    // Beyond the documented order the rest of the row decides, never the order of arrival.
    static func areInOrder(_ left: ActivePeriod, _ right: ActivePeriod) -> Bool {
        if left.validFrom != right.validFrom { return left.validFrom < right.validFrom }
        if left.validTo != right.validTo { return left.validTo < right.validTo }
        if let isFirst = byBytes(left.kind.rawValue, right.kind.rawValue) { return isFirst }
        if let isFirst = byBytes(left.productId, right.productId) { return isFirst }
        if left.purchaseDate != right.purchaseDate { return left.purchaseDate < right.purchaseDate }
        if left.expiresDate != right.expiresDate { return left.expiresDate < right.expiresDate }
        return byBytes(left.endReason.rawValue, right.endReason.rawValue) ?? false
    }
}
