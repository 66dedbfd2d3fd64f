internal import Events
internal import Foundation
internal import Projections
internal import Subledger

/// An effect as an event of RevenueCat's webhooks, for receivers that were written for those
/// (https://www.revenuecat.com/docs/integrations/webhooks/event-types-and-fields).
///
/// Members whose value is not in what Apple signs are missing or null: entitlements of an offering,
/// the share that is paid out, attributes. The price is in the currency of the purchase.
struct RevenueCatEvent: Encodable {
    private let effect: SubscriptionEffect
    private let type: String
    private let movement: Movement?
    private let newProductId: String?
    private let owners: (from: String, to: String)?

    /// An event; nil for an effect that RevenueCat has none for.
    init?(_ effect: SubscriptionEffect) {
        self.effect = effect
        switch effect.change.subject {
        case .movement(_, let after):
            guard let after, let type = RevenueCatEvent.type(of: effect.kind, after) else {
                return nil
            }
            (self.type, movement, newProductId, owners) = (type, after, nil, nil)
        case .planChange(let before, let after):
            guard let after, before == nil, after.toProductId != after.fromProductId else {
                return nil
            }
            (type, movement, owners) = ("PRODUCT_CHANGE", nil, nil)
            newProductId = after.toProductId
        case .customer(let before?, let after?):
            (type, movement, newProductId) = ("TRANSFER", nil, nil)
            owners = (before, after)
        default: return nil
        }
    }

    private static func type(of kind: EffectChange.Kind, _ movement: Movement) -> String? {
        switch kind {
        case .purchased:
            if movement.kind == .oneTimePurchase { return "NON_RENEWING_PURCHASE" }
            return movement.isResubscribe ? "RENEWAL" : "INITIAL_PURCHASE"
        case .renewed: return "RENEWAL"
        case .renewalTurnedOff: return "CANCELLATION"
        case .renewalTurnedOn: return "UNCANCELLATION"
        case .billingIssueEntered: return "BILLING_ISSUE"
        case .expired: return "EXPIRATION"
        case .refunded: return "CANCELLATION"
        case .refundReversed: return "REFUND_REVERSED"
        case .periodExtended: return "SUBSCRIPTION_EXTENDED"
        default: return nil
        }
    }

    private enum CodingKeys: String, CodingKey {
        case apiVersion = "api_version"
        case event
    }

    private enum EventKeys: String, CodingKey {
        case type, id, store, environment, currency, price
        case appId = "app_id"
        case eventTimestamp = "event_timestamp_ms"
        case appUserId = "app_user_id"
        case originalAppUserId = "original_app_user_id"
        case aliases
        case productId = "product_id"
        case newProductId = "new_product_id"
        case periodType = "period_type"
        case purchasedAt = "purchased_at_ms"
        case expirationAt = "expiration_at_ms"
        case transactionId = "transaction_id"
        case originalTransactionId = "original_transaction_id"
        case isFamilyShare = "is_family_share"
        case countryCode = "country_code"
        case priceInPurchasedCurrency = "price_in_purchased_currency"
        case offerCode = "offer_code"
        case isTrialConversion = "is_trial_conversion"
        case cancelReason = "cancel_reason"
        case expirationReason = "expiration_reason"
        case transferredFrom = "transferred_from"
        case transferredTo = "transferred_to"
    }

    func encode(to encoder: any Encoder) throws {
        var document = encoder.container(keyedBy: CodingKeys.self)
        try document.encode("1.0", forKey: .apiVersion)
        var event = document.nestedContainer(keyedBy: EventKeys.self, forKey: .event)
        try event.encode(type, forKey: .type)
        try event.encode(effect.id, forKey: .id)
        try event.encode("APP_STORE", forKey: .store)
        let isProduction = effect.stream.environment == .production
        try event.encode(isProduction ? "PRODUCTION" : "SANDBOX", forKey: .environment)
        try event.encode(effect.bundleId, forKey: .appId)
        try event.encode((movement?.occurred ?? effect.recordedAt), forKey: .eventTimestamp)
        if let owners {
            try event.encode([owners.from], forKey: .transferredFrom)
            return try event.encode([owners.to], forKey: .transferredTo)
        }

        let id = effect.stream.originalTransactionId
        let user = effect.customer ?? effect.appAccountToken ?? id
        try event.encode(user, forKey: .appUserId)
        try event.encode(user, forKey: .originalAppUserId)
        try event.encode([user], forKey: .aliases)
        try event.encode(id, forKey: .originalTransactionId)
        try encodePurchase(to: &event)
        if let movement { try encode(movement, to: &event) }
    }

    // What the newest transaction of the commit states, and the movement if there is none.
    private func encodePurchase(to event: inout KeyedEncodingContainer<EventKeys>) throws {
        let fact = effect.events.last { $0.fact.content.text(.transactionId) != nil }?.fact
        let content = fact?.content
        try event.encodeIfPresent(newProductId, forKey: .newProductId)
        let product = movement?.productId ?? content?.text(.productId)
        try event.encodeIfPresent(product, forKey: .productId)
        try event.encodeIfPresent(content?.text(.transactionId), forKey: .transactionId)
        try event.encodeIfPresent(content?.text(.storefront), forKey: .countryCode)
        try event.encodeIfPresent(content?.text(.offerIdentifier), forKey: .offerCode)
        try event.encodeIfPresent(
            movement?.purchaseDate ?? fact?.purchaseDate,
            forKey: .purchasedAt
        )
        try event.encodeIfPresent(movement?.expiresDate ?? fact?.expiresDate, forKey: .expirationAt)
        let isOffered = movement.map { [.offerStart, .offerRenewal].contains($0.kind) }
        let isFree =
            content?.text(.offerDiscountType) == "FREE_TRIAL" || movement?.amountMilliunits == 0
        let period =
            isOffered ?? (content?[.offerType] != nil) ? (isFree ? "TRIAL" : "INTRO") : "NORMAL"
        try event.encode(period, forKey: .periodType)
    }

    private func encode(
        _ movement: Movement,
        to event: inout KeyedEncodingContainer<EventKeys>
    ) throws {
        try event.encode(movement.isFamilyShared, forKey: .isFamilyShare)
        try event.encodeIfPresent(movement.currency, forKey: .currency)
        if let amount = movement.amountMilliunits {
            let price = Decimal(amount) / 1000
            try event.encode(price, forKey: .priceInPurchasedCurrency)
            if movement.currency == "USD" { try event.encode(price, forKey: .price) }
        }
        switch effect.kind {
        case .renewed:
            try event.encode(movement.kind == .conversion, forKey: .isTrialConversion)
        case .renewalTurnedOff: try event.encode("UNSUBSCRIBE", forKey: .cancelReason)
        case .refunded: try event.encode("CUSTOMER_SUPPORT", forKey: .cancelReason)
        case .expired:
            try event.encode(RevenueCatEvent.reason(movement.kind), forKey: .expirationReason)
        default: break
        }
    }

    private static func reason(_ kind: Movement.Kind) -> String {
        switch kind {
        case .churnVoluntary: "UNSUBSCRIBE"
        case .churnInvoluntary: "BILLING_ERROR"
        case .churnPriceIncrease: "PRICE_INCREASE"
        default: "UNKNOWN"
        }
    }
}
