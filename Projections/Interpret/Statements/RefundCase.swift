public import Events

/// One turn of the question whether the money of a purchase is given back: asked for, given,
/// declined, taken back again.
///
/// A purchase that is refunded, reversed and refunded again has two cases
/// (Apple's data: traps 28 to 32).
public struct RefundCase: Hashable, Sendable {
    /// The subscription, or the one-time purchase.
    public let stream: StreamID
    /// The product.
    public let productId: String
    /// Start of the purchase, in whole seconds.
    public let purchaseDate: Instant
    /// Natural end of the purchase, in whole seconds; nil for what never expires.
    public let expiresDate: Instant?
    /// What was taken back; nil while nothing was.
    public let kind: Kind?
    /// Apple's milli-percent of the price, 67932 for 67.932 %; nil where Apple said none.
    public let percentageMilli: Int64?
    /// Apple's `revocationReason`: 1 an issue with the app, 0 anything else; nil where not said.
    public let reason: Int64?
    /// Where the date of the refund lies; nil while there is none.
    public let timing: Timing?
    /// When Apple reported the customer's request; nil if it did not.
    public let requested: Instant?
    /// Why the customer asked, in Apple's `consumptionRequestReason`: UNINTENDED_PURCHASE,
    /// FULFILLMENT_ISSUE, UNSATISFIED_WITH_PURCHASE, LEGAL, OTHER or a later word; nil if not said.
    public let requestReason: String?
    /// When Apple reported that it declined; nil if it did not.
    public let declined: Instant?
    /// The date Apple gave to the refund, as said last; nil while nothing was given back, or where
    /// only its announcement or its reversal is known.
    public let revoked: Instant?
    /// When Apple first said that it was given back.
    public let announced: Instant?
    /// When Apple first said, after that, that it was not; nil while it is.
    public let reversed: Instant?
    /// How the reversal is known; nil where there is none.
    public let reversal: Reversal?
    /// How far it has come.
    public let state: State
    /// Whether this case says how things stand with the purchase now: the last one with a refund.
    public internal(set) var isNet: Bool
    /// The price of the purchase in milliunits; nil if it was never stated.
    public let priceMilliunits: Int64?
    /// What was given back when it was, whatever came later, in milliunits; nil where nothing was,
    /// and where it is not known.
    public let givenMilliunits: Int64?
    /// What is given back as things stand, in milliunits: 0 once reversed; nil as above.
    public let refundedMilliunits: Int64?
    /// ISO 4217; nil if it was never stated.
    public let currency: String?
    /// The events that caused the row, ascending, each once.
    public let positions: [Position]
    /// The purchase it is about.
    let subject: Subject

    /// When it was given back: Apple's date, else when Apple announced it; nil while it was not.
    public var refunded: Instant? { revoked ?? (kind == nil ? nil : announced) }

    /// A purchase of a timeline, by its index.
    enum Subject: Hashable, Sendable {
        case subscription(Int)
        case oneTime(Int)
    }
}

extension RefundCase {
    /// What Apple took back.
    public enum Kind: String, CaseIterable, Sendable {
        /// The whole price.
        case full
        /// A part of the price (Apple's data: trap 29).
        case prorated
        /// Single items of an Advanced Commerce purchase, which itself goes on
        /// (developer.apple.com/documentation/appstoreserverapi/advancedcommercerefund).
        case items
        /// No money: family sharing ended (Apple's data: trap 33).
        case familyRevoke = "family_revoke"
        /// The rest of a period that another purchase replaced; access is not touched
        /// (Apple's data: traps 9, 24).
        case replaced
        /// Apple did not say, as in all payloads before 2025-12, or said a type not known yet.
        case untyped
    }

    /// Where the date of a refund lies.
    public enum Timing: String, CaseIterable, Sendable {
        /// Before the purchase began: a renewal that was charged early.
        case beforeStart = "before_start"
        /// In the purchase's own access, grace included.
        case current
        /// After it, while another purchase gives access (Apple's data: trap 28).
        case older
        /// After it, without access.
        case afterExpiry = "after_expiry"
    }

    /// How a reversal is known.
    public enum Reversal: String, CaseIterable, Sendable {
        /// Apple sent REFUND_REVERSED.
        case announced
        /// A later statement no longer has the refund (Apple's data: trap 31).
        case inferred
    }

    /// How far a case has come.
    public enum State: String, CaseIterable, Sendable {
        /// The customer asked.
        case requested
        /// Apple refused.
        case declined
        /// Apple took it back.
        case refunded
        /// Apple undid that.
        case reversed
    }
}
