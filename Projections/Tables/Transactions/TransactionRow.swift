public import Events

/// One purchase with everything analysts need, in RevenueCat's terms where the meaning is the same.
public struct TransactionRow: Hashable, Sendable {
    /// The subscription, or the one-time purchase.
    public let stream: StreamID
    /// Which purchase of the stream it is.
    let subject: RefundCase.Subject
    /// Apple's ids of it.
    public let ids: Identifiers
    /// What was bought.
    public let product: Product
    /// Its start and end.
    public let time: Time
    /// The terms of the purchase.
    public let terms: Terms
    /// What was paid for it.
    public let money: Money
    /// Its place among the purchases of the subscription.
    public let place: Place
    /// Its seats; nil unless it is of a multiseat subscription.
    public let seats: SeatTerms?
    /// The bundle or suite that it is part of; nil if it was bought alone.
    public let bundle: BundleMembership?
    /// What happened to it.
    public let fate: Fate
    /// The first event about it, which stays the same when more becomes known about it.
    public let firstPosition: Position
    /// The events that caused the row, ascending, without duplicates.
    public let positions: [Position]

    /// Apple's ids of a purchase.
    public struct Identifiers: Hashable, Sendable {
        /// The lowest transaction id, by length, then bytes; nil if no format contained one.
        public let storeTransactionId: String?
        /// All others, created by restores and devices (Apple's data: trap 4), in the same order.
        public let duplicateTransactionIds: [String]
        /// Apple's id of it across all devices; nil if no format contained one.
        public let webOrderLineItemId: String?
        /// The app's own id of the customer; nil if the app gave none.
        public let appAccountToken: String?
        /// The subscription that it continues, if Apple gave a renewal an original id of its own;
        /// nil for all others.
        public let continuedOriginalTransactionId: String?
    }

    /// What was bought, according to the catalog in force when it began.
    public struct Product: Hashable, Sendable {
        /// The product; empty if no format stated it.
        public let productId: String
        /// The length of a period at the standard price; nil if the catalog does not know.
        public let duration: SubscriptionPeriod?
        /// The group; nil if it was never stated.
        public let subscriptionGroupIdentifier: String?
        /// The rank in it, 1 for the most service; nil if the catalog does not know.
        public let groupLevel: Int?
    }

    /// The start and end of a purchase.
    public struct Time: Hashable, Sendable {
        /// Its start, in whole seconds.
        public let start: Instant
        /// Its natural end, in whole seconds; nil if it never expires.
        public internal(set) var end: Instant?
        /// The end of the grace that followed it; nil if none did.
        public internal(set) var gracePeriodEnd: Instant?
        /// The first instant without it, considering refund, change and grace; nil if it never
        /// ends.
        public let effectiveEnd: Instant?
    }

    /// The terms of a purchase, in Apple's words (Apple's data: transactions); nil if no format
    /// stated them.
    public struct Terms: Hashable, Sendable {
        /// Whether it is auto-renewable.
        public let isAutoRenewable: Bool
        /// Whether it is free for a time by an offer of any kind.
        public let isTrialPeriod: Bool
        /// Whether it is a paid introductory offer.
        public let isInIntroOfferPeriod: Bool
        /// The kind of offer.
        public let offerType: Int64?
        /// The developer's name of the offer.
        public let offerIdentifier: String?
        /// How the offer is paid.
        public let offerDiscountType: String?
        /// The storefront's country, ISO 3166-1 alpha-3.
        public let country: String?
        /// `PURCHASED`, `FAMILY_SHARED` or `ASSIGNED`.
        public let ownershipType: String?
        /// `PURCHASE` or `RENEWAL`.
        public let transactionReason: String?
        /// The number of items bought: seats, for a multiseat subscription.
        public let quantity: Int64?
    }

    /// What was paid for a purchase, in milliunits.
    public struct Money: Hashable, Sendable {
        /// ISO 4217 code; nil if it was never stated.
        public let currency: String?
        /// The amount charged, for all seats; nil if it was never stated, and for assigned seats.
        public let grossMilliunits: Int64?
        /// The price minus refunds; nil if either is not known.
        public let netMilliunits: Int64?
    }

    /// The seats of a transaction, as Apple states them.
    public struct SeatTerms: Hashable, Sendable {
        /// Start of the period that it added seats to; nil if it began a period.
        public let addedTo: Instant?
        /// How many seats Apple took back; 0 for none.
        public let revokedQuantity: Int64
        /// Apple's average price of a seat, in milliunits; nil if it was never stated.
        public let averagePriceMilliunits: Int64?
        /// Who manages the members, in Apple's word; nil if it was never stated.
        public let invitationManagement: String?

        // Of a purchase whose seats an erasure removed, it is still known that it added some.
        init?(of purchase: Purchase, addedTo: Instant? = nil) {
            guard purchase.seats != nil || addedTo != nil else { return nil }
            self.addedTo = addedTo
            revokedQuantity = purchase.seats?.revokedQuantity ?? 0
            invitationManagement = purchase.seats?.invitationManagement
            if case .value(.integer(let price)) = purchase.state(of: .price) {
                averagePriceMilliunits = price
            } else {
                averagePriceMilliunits = nil
            }
        }
    }

    /// The place of a purchase among those of its subscription.
    public struct Place: Hashable, Sendable {
        /// Its number in an unbroken chain, from 1; nil for one-time purchases.
        public let renewalNumber: Int?
        /// How many purchases up to it were paid for, without a lapse; 0 for a free one.
        public let consecutivePaidPeriods: Int
        /// Whether it continues a free trial, and is not one itself.
        public internal(set) var isTrialConversion = false
        /// Whether it follows a lapse.
        public internal(set) var isResubscribe = false
        /// The length of that lapse in whole seconds; nil if there is none, or it is not known.
        public internal(set) var gapSeconds: Int64?
        /// The class of the change of product; nil if there is none.
        public internal(set) var planChange: PlanChangeClass?
        /// The previous product; nil if it is the same.
        public internal(set) var previousProductId: String?
    }

    /// What happened to a purchase.
    public struct Fate: Hashable, Sendable {
        /// The date of its refund, or of the end of family sharing; that of the announcement if
        /// Apple gave no other; nil if there is neither, and for the rest of a replaced period.
        public let refunded: Instant?
        /// Apple's reason for it.
        public let revocationReason: Int64?
        /// Apple's milli-percent of it.
        public let revocationPercentage: Int64?
        /// Whether Apple marked it as upgraded.
        public let isUpgraded: Bool
        /// When Apple first reported that auto-renewal is off, if it was still off at the end.
        public let unsubscribeDetected: Instant?
        /// When Apple first reported that the renewal after it failed.
        public let billingIssuesDetected: Instant?
    }
}

extension RefundCase {
    /// Whether it is about the purchase of a row of the same fold: two payments of one second may
    /// have the same product and dates.
    public func isAbout(_ row: TransactionRow) -> Bool {
        stream == row.stream && subject == row.subject
    }
}
