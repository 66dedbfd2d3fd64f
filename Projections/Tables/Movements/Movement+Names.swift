extension Movement.Kind {
    /// Apple's grouping in the App Store Subscription Event report of App Analytics; nil if Apple
    /// has none, or did not state why a subscription ended.
    var appleGrouping: String? {
        switch self {
        case .offerStart: "Offer Starts"
        case .offerRenewal: "Offer Renewals"
        case .conversion: "Paid Subscriptions from Offers"
        case .paidStart: "Paid Subscription Starts"
        case .renewal: "Renewals"
        case .billingIssueEntered: "Entered Billing Issue"
        case .billingIssueRecovered: "Recoveries from Billing Issue"
        case .churnInvoluntary: "Involuntary Churn"
        // The customer did not agree to a price, or the app removed the product from sale: no
        // charge failed.
        case .churnVoluntary, .churnPriceIncrease, .churnProductUnavailable: "Voluntary Churn"
        case .exitPlanChange, .exitRefund: "Exits"
        case .extension: "Extensions"
        case .seatsAdded, .oneTimePurchase, .churnUnknown, .familyRevoke, .assignmentEnded,
            .refundReversed, .refundRequested,
            .refundDeclined, .autoRenewOff, .autoRenewOn, .planChangeScheduled,
            .planChangeCancelled:
            nil
        }
    }

    /// Apple's sub type of a purchase, a change of plan or a refund; others depend on the previous
    /// status, which `MovementFold` knows.
    func appleSubType(_ terms: PurchaseTerms, after previous: PurchaseTerms?) -> String? {
        switch self {
        case .offerStart: terms.isFree ? "Free Trial Starts" : "Paid Offer Starts"
        case .offerRenewal: terms.isFree ? "Free Trial Renewals" : "Paid Offer Renewals"
        case .conversion:
            previous.map { $0.isFree ? "Full Price from Free Trial" : "Full Price from Paid Offer" }
        case .paidStart: "Full Price Subscription Starts"
        case .exitPlanChange: "Plan Changes"
        case .exitRefund:
            terms.hasOffer ? "Refunds from Paid Offer" : "Refunds from Paid Subscription"
        default: nil
        }
    }
}

extension Movement {
    /// RevenueCat's name of the event in its webhooks; nil if it sends none.
    ///
    /// A recovery has none of its own, because its renewal is a separate movement.
    var rcEvent: String? {
        switch kind {
        case .offerStart, .paidStart: isInitial ? "INITIAL_PURCHASE" : "RENEWAL"
        case .offerRenewal, .conversion, .renewal: "RENEWAL"
        case .oneTimePurchase: "NON_RENEWING_PURCHASE"
        case .exitPlanChange, .planChangeScheduled: "PRODUCT_CHANGE"
        case .billingIssueEntered: "BILLING_ISSUE"
        case .churnVoluntary, .churnInvoluntary, .churnPriceIncrease, .churnProductUnavailable,
            .churnUnknown, .familyRevoke, .assignmentEnded:
            "EXPIRATION"
        case .exitRefund, .autoRenewOff: "CANCELLATION"
        case .autoRenewOn: "UNCANCELLATION"
        case .refundReversed: "REFUND_REVERSED"
        case .extension: "SUBSCRIPTION_EXTENDED"
        case .seatsAdded, .billingIssueRecovered, .refundRequested, .refundDeclined,
            .planChangeCancelled:
            nil
        }
    }
}

extension Movement: Encodable {
    private enum CodingKeys: String, CodingKey {
        case movement, occurred, productId, previousProductId, purchaseDate, expiresDate
        case amountMilliunits, currency, sharing, seatQuantity, isResubscribe, expirationReason
        case positions
    }

    /// Writes the row; a value that is not known has no member.
    public func encode(to encoder: any Encoder) throws {
        var row = encoder.container(keyedBy: CodingKeys.self)
        try row.encode(kind.rawValue, forKey: .movement)
        try row.encode(occurred, forKey: .occurred)
        try row.encode(productId, forKey: .productId)
        try row.encodeIfPresent(previousProductId, forKey: .previousProductId)
        try row.encode(purchaseDate, forKey: .purchaseDate)
        try row.encodeIfPresent(expiresDate, forKey: .expiresDate)
        try row.encodeIfPresent(amountMilliunits, forKey: .amountMilliunits)
        try row.encodeIfPresent(currency, forKey: .currency)
        try row.encodeIfPresent(sharing?.rawValue, forKey: .sharing)
        try row.encodeIfPresent(seatQuantity, forKey: .seatQuantity)
        try row.encode(isResubscribe, forKey: .isResubscribe)
        try row.encodeIfPresent(expirationReason?.rawValue, forKey: .expirationReason)
        try row.encode(positions, forKey: .positions)
    }
}
