import Events

/// Apple's name of a property, the field that holds it, and the JSON type it should have.
struct Property {
    let name: StaticString
    let field: Field
    let shape: Shape

    /// How a property is written in JSON.
    enum Shape {
        /// Text that identifies something: a string, or an integer in old payloads.
        case identifier
        /// A string.
        case word
        /// A number without fraction.
        case integer
        /// A boolean that is kept either way.
        case boolean
        /// A boolean that means something only if it is true.
        case mark
        /// Milliseconds since 1970; a fraction is cut off.
        case instant
        /// An object or an array, kept whole in canonical form.
        case document
    }

    init(_ name: StaticString, _ field: Field, _ shape: Shape) {
        self.name = name
        self.field = field
        self.shape = shape
    }
}

extension Property {
    /// What a transaction carries (Apple's data: transactions).
    static let transaction: [Property] = [
        Property("transactionId", .transactionId, .identifier),
        Property("webOrderLineItemId", .webOrderLineItemId, .identifier),
        Property("productId", .productId, .identifier),
        Property("subscriptionGroupIdentifier", .subscriptionGroupIdentifier, .identifier),
        Property("type", .type, .word),
        Property("inAppOwnershipType", .inAppOwnershipType, .word),
        Property("transactionReason", .transactionReason, .word),
        Property("quantity", .quantity, .integer),
        Property("storefront", .storefront, .word),
        Property("storefrontId", .storefrontId, .identifier),
        Property("currency", .currency, .word),
        Property("price", .price, .integer),
        Property("isUpgraded", .isUpgraded, .mark),
        Property("offerType", .offerType, .integer),
        Property("offerIdentifier", .offerIdentifier, .word),
        Property("offerDiscountType", .offerDiscountType, .word),
        Property("offerPeriod", .offerPeriod, .word),
        Property("revocationDate", .revocationDate, .instant),
        Property("revocationReason", .revocationReason, .integer),
        Property("revocationType", .revocationType, .word),
        Property("revocationPercentage", .revocationPercentage, .integer),
        Property("appAccountToken", .appAccountToken, .identifier),
        Property("appTransactionId", .appTransactionId, .identifier),
        Property("previousOriginalTransactionId", .previousOriginalTransactionId, .identifier),
        Property("billingPlanType", .billingPlanType, .word),
        Property("commitmentInfo", .commitmentInfo, .document),
    ]

    /// Members of a transaction that are not part of its content.
    ///
    /// Identity, key, as-of, and values that change with every signing: they remain in the
    /// evidence.
    static let transactionLeftOut: [StaticString] = [
        "originalTransactionId", "bundleId", "environment", "purchaseDate", "expiresDate",
        "originalPurchaseDate", "signedDate", "deviceVerification", "deviceVerificationNonce",
    ]

    /// What renewal info carries (Apple's data: renewal info).
    static let renewal: [Property] = [
        Property("productId", .productId, .identifier),
        Property("autoRenewProductId", .autoRenewProductId, .identifier),
        Property("autoRenewStatus", .autoRenewStatus, .integer),
        Property("expirationIntent", .expirationIntent, .integer),
        Property("isInBillingRetryPeriod", .isInBillingRetryPeriod, .boolean),
        Property("gracePeriodExpiresDate", .gracePeriodExpiresDate, .instant),
        Property("priceIncreaseStatus", .priceIncreaseStatus, .integer),
        Property("renewalDate", .renewalDate, .instant),
        Property("renewalPrice", .renewalPrice, .integer),
        Property("currency", .currency, .word),
        Property("offerType", .offerType, .integer),
        Property("offerIdentifier", .offerIdentifier, .word),
        Property("offerDiscountType", .offerDiscountType, .word),
        Property("offerPeriod", .offerPeriod, .word),
        Property("recentSubscriptionStartDate", .recentSubscriptionStartDate, .instant),
        Property("eligibleWinBackOfferIds", .eligibleWinBackOfferIds, .document),
        Property("renewalBillingPlanType", .renewalBillingPlanType, .word),
        Property("commitmentInfo", .commitmentInfo, .document),
        Property("appAccountToken", .appAccountToken, .identifier),
        Property("appTransactionId", .appTransactionId, .identifier),
    ]

    /// Members of renewal info that are not part of its content.
    static let renewalLeftOut: [StaticString] = [
        "originalTransactionId", "bundleId", "environment", "signedDate", "deviceVerification",
        "deviceVerificationNonce",
    ]

    /// What a notification carries outside its sections (Apple's data: version 2 payload).
    static let notification: [Property] = [
        Property("notificationType", .notificationType, .word),
        Property("subtype", .subtype, .word),
        Property("notificationUUID", .notificationUUID, .identifier),
    ]

    /// Members of a notification that are not part of its content.
    static let notificationLeftOut: [StaticString] = ["signedDate"]

    /// What a notification's `data` carries besides the nested statements.
    static let notificationData: [Property] = [
        Property("status", .status, .integer),
        Property("consumptionRequestReason", .consumptionRequestReason, .word),
    ]

    /// Members of a section that are not part of the content: identity, the nested statements,
    /// which become separate facts, and the version of the app on one device.
    static let sectionLeftOut: [StaticString] = [
        "bundleId", "environment", "bundleVersion", "signedTransactionInfo", "signedRenewalInfo",
        "signedAppTransactionInfo",
    ]
}
