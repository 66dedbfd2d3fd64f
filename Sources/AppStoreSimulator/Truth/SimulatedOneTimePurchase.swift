public import Events

/// One row of truth: a purchase that does not renew, which is a stream of its own.
public struct SimulatedOneTimePurchase: Hashable, Sendable {
    /// What kind of product it is; the raw values are Apple's `type`.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        /// Used up by the app.
        case consumable = "Consumable"
        /// Bought once and owned from then on.
        case nonConsumable = "Non-Consumable"
        /// As long as the app says.
        case nonRenewing = "Non-Renewing Subscription"
    }

    /// Apple's id of it, which is that of its only transaction.
    public let originalTransactionId: String
    /// The product.
    public let productId: String
    /// What kind of product that is.
    public let kind: Kind
    /// When it was bought.
    public let purchaseDate: Instant
    /// When it was refunded; nil while it stands.
    public let revocationDate: Instant?

    /// A purchase.
    public init(
        originalTransactionId: String,
        productId: String,
        kind: Kind,
        purchaseDate: Instant,
        revocationDate: Instant?
    ) {
        self.originalTransactionId = originalTransactionId
        self.productId = productId
        self.kind = kind
        self.purchaseDate = purchaseDate
        self.revocationDate = revocationDate
    }

    /// When it is owned: from the purchase on, until it is refunded; nil of what the app judges.
    public var owned: Range<Instant>? {
        kind == .nonConsumable
            ? purchaseDate..<(revocationDate ?? Instant(milliseconds: .max)) : nil
    }
}

extension SubscriptionLife {
    /// What the customer bought besides the subscription, in order of purchase.
    public var oneTimePurchases: [SimulatedOneTimePurchase] {
        (chapters.last?.state.oneTimePurchases ?? []).map { purchase in
            SimulatedOneTimePurchase(
                originalTransactionId: identity.transactionId(purchase.transactionNumber),
                productId: purchase.productId,
                kind: purchase.kind,
                purchaseDate: purchase.purchaseDate,
                revocationDate: purchase.revocation?.date
            )
        }
    }

    /// The offers to win the customer back, the best one first, as Apple listed them last; nil
    /// where its last word lists none, as for members of a family.
    public var winBackOfferIds: [String]? {
        identity.isFamilyShared ? nil : known?.statements.last?.state.winBackOfferIds
    }
}
