public import Events

/// One purchase with everything analysts ask of it, in RevenueCat's words where the meaning is
/// theirs.
public struct TransactionRow: Hashable, Sendable {
    /// The subscription, or the one-time purchase.
    public let stream: StreamID
    /// Apple's ids of it.
    public let ids: Identifiers
    /// What was bought.
    public let product: Product
    /// When it runs.
    public let time: Time
    /// Under which terms it was bought.
    public let terms: Terms
    /// What was paid for it.
    public let money: Money
    /// Its place among the purchases of the subscription.
    public let place: Place
    /// What happened to it.
    public let fate: Fate
    /// The first event about it: the same however much is learnt about it.
    public let firstPosition: Position
    /// The events that caused the row, ascending, each once.
    public let positions: [Position]

    /// Apple's ids of a purchase.
    public struct Identifiers: Hashable, Sendable {
        /// The lowest transaction id, by length, then bytes; nil where no format carried one.
        public let storeTransactionId: String?
        /// All others, which restores and devices made (Apple's data: trap 4), in the same order.
        public let duplicateTransactionIds: [String]
        /// Apple's id of it over all devices; nil where no format carried one.
        public let webOrderLineItemId: String?
        /// The app's own id of the customer; nil where the app gave none.
        public let appAccountToken: String?
    }

    /// What was bought; of the catalog that held when it began.
    public struct Product: Hashable, Sendable {
        /// The product; empty where no format said it.
        public let productId: String
        /// The length of a period at the standard price; nil where the catalog does not know.
        public let duration: SubscriptionPeriod?
        /// The group; nil if it was never stated.
        public let subscriptionGroupIdentifier: String?
        /// The rank in it, 1 for the most service; nil where the catalog does not know.
        public let groupLevel: Int?
    }

    /// When a purchase runs.
    public struct Time: Hashable, Sendable {
        /// Its start, in whole seconds.
        public let start: Instant
        /// Its natural end, in whole seconds; nil for what never expires.
        public let end: Instant?
        /// The end of the grace that followed it; nil where none did.
        public let gracePeriodEnd: Instant?
        /// The first instant without it, refund, change and grace included; nil for what never
        /// ends.
        public let effectiveEnd: Instant?
    }

    /// Under which terms a purchase was made, in Apple's words (Apple's data: transactions); nil
    /// where no format said.
    public struct Terms: Hashable, Sendable {
        /// Whether it renews itself.
        public let isAutoRenewable: Bool
        /// Whether it is a free introductory offer.
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
        /// `PURCHASED` or `FAMILY_SHARED`.
        public let ownershipType: String?
        /// `PURCHASE` or `RENEWAL`.
        public let transactionReason: String?
        /// How many.
        public let quantity: Int64?
    }

    /// What was paid for a purchase, in milliunits.
    public struct Money: Hashable, Sendable {
        /// ISO 4217; nil if it was never stated.
        public let currency: String?
        /// The price; nil if it was never stated.
        public let grossMilliunits: Int64?
        /// The price less what was given back; nil where one of them is not known.
        public let netMilliunits: Int64?
    }

    /// The place of a purchase among those of its subscription.
    public struct Place: Hashable, Sendable {
        /// Its number in an unbroken chain, from 1; nil for one-time purchases.
        public let renewalNumber: Int?
        /// How many purchases up to it were paid for, without a lapse; 0 for a free one.
        public let consecutivePaidPeriods: Int
        /// Whether it carries on a free trial, and is none.
        public let isTrialConversion: Bool
        /// Whether it follows a lapse.
        public let isResubscribe: Bool
        /// The length of that lapse in whole seconds; nil where there is none, or none is known.
        public let gapSeconds: Int64?
        /// What the change of product is; nil where it is none.
        public let planChange: PlanChangeClass?
        /// The product before; nil where it is the same.
        public let previousProductId: String?
    }

    /// What happened to a purchase.
    public struct Fate: Hashable, Sendable {
        /// The date of its refund, or of the end of family sharing; that of the announcement where
        /// Apple gave no other; nil where it stands, and for the rest of a replaced period.
        public let refunded: Instant?
        /// Apple's reason for it.
        public let revocationReason: Int64?
        /// Apple's milli-percent of it.
        public let revocationPercentage: Int64?
        /// Whether Apple called it upgraded.
        public let isUpgraded: Bool
        /// When Apple first reported that auto-renewal is off, if it still was off at the end.
        public let unsubscribeDetected: Instant?
        /// When Apple first reported that the renewal after it failed.
        public let billingIssuesDetected: Instant?
    }
}

extension TransactionRow {
    /// The row as a projection holds it.
    func row(_ writer: inout RowWriter) -> ProjectionRow {
        write(&writer)
        return writer.row(citing: positions)
    }

    /// Writes the values of the row, to which more may be added.
    func write(_ writer: inout RowWriter) {
        writePurchase(&writer)
        writeMoney(&writer)
        writePlace(&writer)
        writeFate(&writer)
        writer.text(ids.appAccountToken)
        writer.integer(terms.quantity)
    }

    private func writePurchase(_ writer: inout RowWriter) {
        writer.text(ids.storeTransactionId)
        writer.texts(ids.duplicateTransactionIds)
        writer.text(ids.webOrderLineItemId)
        writer.milliseconds(time.start)
        writer.milliseconds(time.end)
        writer.text(product.productId)
        writer.text(product.duration?.description)
        writer.text(product.subscriptionGroupIdentifier)
        writer.int32(product.groupLevel)
        writer.timestamp(time.start)
        writer.timestamp(time.end)
        writer.timestamp(time.gracePeriodEnd)
        writer.timestamp(time.effectiveEnd)
        writer.boolean(terms.isAutoRenewable)
        writer.boolean(terms.isTrialPeriod)
        writer.boolean(terms.isInIntroOfferPeriod)
        writer.boolean(stream.environment != .production)
        writer.integer(terms.offerType)
        writer.text(terms.offerIdentifier)
        writer.text(terms.offerDiscountType)
    }

    private func writeMoney(_ writer: inout RowWriter) {
        writer.text(money.currency)
        writer.integer(money.grossMilliunits)
        writer.integer(money.netMilliunits)
        writer.text(terms.country)
        writer.text(terms.ownershipType)
        writer.text(terms.transactionReason)
    }

    private func writePlace(_ writer: inout RowWriter) {
        writer.int32(place.renewalNumber)
        writer.int32(place.consecutivePaidPeriods)
        writer.boolean(place.isTrialConversion)
        writer.boolean(place.isResubscribe)
        writer.integer(place.gapSeconds)
        writer.text(place.planChange?.rawValue)
        writer.text(place.previousProductId)
    }

    private func writeFate(_ writer: inout RowWriter) {
        writer.timestamp(fate.refunded)
        writer.integer(fate.revocationReason)
        writer.integer(fate.revocationPercentage)
        writer.boolean(fate.isUpgraded)
        writer.timestamp(fate.unsubscribeDetected)
        writer.timestamp(fate.billingIssuesDetected)
    }
}
