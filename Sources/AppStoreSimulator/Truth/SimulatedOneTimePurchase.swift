package import Events

/// One row of truth: a purchase that does not renew, in a separate stream.
package struct SimulatedOneTimePurchase: Hashable, Sendable {
    /// What kind of product it is; the raw values are Apple's `type`.
    package enum Kind: String, CaseIterable, Hashable, Sendable {
        /// Consumed by the app.
        case consumable = "Consumable"
        /// Bought once and owned from then on.
        case nonConsumable = "Non-Consumable"
        /// Valid for as long as the app decides.
        case nonRenewing = "Non-Renewing Subscription"
    }

    /// Apple's id of the purchase, which is the id of its only transaction.
    package let originalTransactionId: String
    /// The product.
    package let productId: String
    /// What kind of product that is.
    package let kind: Kind
    /// When it was bought.
    package let purchaseDate: Instant
    /// When it was refunded; nil if it was not.
    package let revocationDate: Instant?

    /// A purchase.
    package init(
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

    /// When it is owned: from the purchase until a refund; nil if the app decides.
    package var owned: Range<Instant>? {
        kind == .nonConsumable
            ? purchaseDate..<(revocationDate ?? Instant(milliseconds: .max)) : nil
    }
}

extension SubscriptionLife {
    /// What the customer bought besides the subscription, in order of purchase.
    package var oneTimePurchases: [SimulatedOneTimePurchase] {
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

    /// The win-back offers that Apple listed last, the best one first; nil if its last statement
    /// lists none, as for family members.
    package var winBackOfferIds: [String]? {
        identity.isMember ? nil : known.statements.last?.state.winBackOfferIds
    }
}
