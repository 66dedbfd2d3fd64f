public import Events

/// One cycle of a refund of a purchase: requested, refunded, declined, reversed.
///
/// A purchase that is refunded, reversed and refunded again has two cases (Apple's data: traps 28
/// to 32).
public struct RefundCase: Codable, Hashable, Sendable {
    /// The subscription, or the one-time purchase; a document names it once, not in each row.
    public internal(set) var stream = StreamID.ofDocument
    /// The product.
    public let productId: String
    /// Start of the purchase, in whole seconds.
    public let purchaseDate: Instant
    /// Natural end of the purchase, in whole seconds; nil if it never expires.
    public let expiresDate: Instant?
    /// What was refunded; nil while nothing was.
    public let kind: Kind?
    /// Apple's milli-percent of the price, 67932 for 67.932 %; nil if Apple stated none.
    public let percentageMilli: Int64?
    /// How many seats were taken back, if not the whole purchase was; nil otherwise.
    public let seatQuantity: Int64?
    /// Apple's `revocationReason`: 1 an issue with the app, 0 anything else; nil if not stated.
    public let reason: Int64?
    /// When the refund was dated relative to the purchase; nil while there is none.
    public let timing: Timing?
    /// When Apple reported the customer's request; nil if it did not.
    public let requested: Instant?
    /// Why the customer requested it, in Apple's `consumptionRequestReason`: UNINTENDED_PURCHASE,
    /// FULFILLMENT_ISSUE, UNSATISFIED_WITH_PURCHASE, LEGAL, OTHER or a later word; nil if not
    /// stated.
    public let requestReason: String?
    /// When Apple reported that it declined; nil if it did not.
    public let declined: Instant?
    /// Apple's date of the refund, as last stated; nil while nothing was refunded, or if only its
    /// announcement or its reversal is known.
    public let revoked: Instant?
    /// The date that Apple had signed before it signed that one, which a table does not have; nil
    /// if it signed no other, or if that was not asked for.
    public package(set) var earlierRevocationDate: Instant?
    /// When Apple first stated that it was refunded.
    public let announced: Instant?
    /// When Apple first stated, after that, that it was not refunded; nil while it is.
    public let reversed: Instant?
    /// How the reversal is known; nil if there is none.
    public let reversal: Reversal?
    /// The state of the case.
    public let state: State
    /// Whether this case decides the current state of the purchase: every refund in force, otherwise
    /// the last case with a refund.
    ///
    /// Only refunds of seats are in force next to each other.
    public internal(set) var isNet: Bool
    /// The amount charged for the purchase in milliunits, for all its seats; nil if it was never
    /// stated, or if another party paid it.
    public let priceMilliunits: Int64?
    /// The amount refunded at the time, regardless of later events, in milliunits; nil if nothing
    /// was, or if it is not known.
    public internal(set) var givenMilliunits: Int64?
    /// The amount currently refunded, in milliunits: 0 once reversed; nil as above.
    public let refundedMilliunits: Int64?
    /// ISO 4217; nil if it was never stated.
    public let currency: String?
    /// The events that caused the row, ascending, without duplicates.
    public let positions: [Position]
    /// The purchase it is about.
    var subject = Subject.subscription(0)

    private enum CodingKeys: String, CodingKey {
        case productId, purchaseDate, expiresDate, kind, seatQuantity, timing, requested, declined
        case earlierRevocationDate, announced, reversed, reversal, state, isNet, priceMilliunits
        case refundedMilliunits, currency, positions
        // Apple's names.
        case percentageMilli = "revocationPercentage"
        case reason = "revocationReason"
        case requestReason = "consumptionRequestReason"
        case revoked = "revocationDate"
    }

    /// When it was refunded: Apple's date, otherwise when Apple announced it; nil while it was not.
    public var refunded: Instant? { revoked ?? (kind == nil ? nil : announced) }

    /// A purchase of a timeline, by its index.
    enum Subject: Hashable, Sendable {
        case subscription(Int)
        /// The transaction with the first number that added seats to the purchase with the second.
        case addition(Int, of: Int)
        case oneTime(Int)
    }
}

extension RefundCase.Kind {
    /// Whether access was taken back and no money given back.
    var isWithoutMoney: Bool {
        switch self {
        case .familyRevoke, .assignmentEnded, .bundled: true
        case .full, .prorated, .items, .seats, .replaced, .untyped: false
        }
    }
}

extension [RefundCase] {
    /// The same with a mark on those that decide the current state of their purchase.
    var withNetMarked: [RefundCase] {
        indices.map { index in
            var row = self[index]
            let isInForce = row.state == .refunded || row.state == .revoked
            row.isNet = row.kind != nil && isInForce
            if row.kind != nil, !isInForce {
                let others = indices.filter { self[$0].subject == row.subject }
                row.isNet = !others.contains { other in
                    let isRefund = self[other].kind != nil
                    let state = self[other].state
                    return isRefund && (other > index || state == .refunded || state == .revoked)
                }
            }
            return row
        }
    }
}

extension RefundCase {
    /// What Apple refunded.
    public enum Kind: String, CaseIterable, Codable, Sendable {
        /// The whole price.
        case full
        /// A part of the price (Apple's data: trap 29).
        case prorated
        /// Single items of an Advanced Commerce purchase, which itself continues
        /// (developer.apple.com/documentation/appstoreserverapi/advancedcommercerefund).
        case items
        /// Single seats of a multiseat purchase, which itself continues
        /// (developer.apple.com/documentation/appstoreserverapi/revokedseatquantity).
        case seats
        /// No money: family sharing ended (Apple's data: trap 33).
        case familyRevoke = "family_revoke"
        /// No money: the assignment of the seat ended (Apple's data: seats).
        case assignmentEnded = "assignment_ended"
        /// No refund: the customer moved to a bundle that contains the subscription.
        case bundled
        /// The rest of a period that another purchase replaced; access is not affected (Apple's
        /// data: traps 9, 24).
        case replaced
        /// Apple did not state a type, as in all payloads before 2025-12, or stated one not known
        /// yet.
        case untyped
    }

    /// When a refund was dated relative to the purchase.
    public enum Timing: String, CaseIterable, Codable, Sendable {
        /// Before the purchase began: a renewal that was charged early.
        case beforeStart = "before_start"
        /// During the purchase's own access, grace included.
        case current
        /// After it, while another purchase gives access (Apple's data: trap 28).
        case older
        /// After it, without access.
        case afterExpiry = "after_expiry"
    }

    /// How a reversal is known.
    public enum Reversal: String, CaseIterable, Codable, Sendable {
        /// Apple sent REFUND_REVERSED.
        case announced
        /// A later statement no longer has the refund (Apple's data: trap 31).
        case inferred
    }

    /// The state of a case.
    public enum State: String, CaseIterable, Codable, Sendable {
        /// The customer requested a refund.
        case requested
        /// Apple refused.
        case declined
        /// Apple refunded it.
        case refunded
        /// Apple took it back, and there was nothing to refund: another party pays for it, or it
        /// continues in a bundle.
        case revoked
        /// Apple reversed the refund.
        case reversed
    }
}
