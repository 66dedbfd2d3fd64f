/// Why a subscription ended, according to Apple's `expirationIntent`.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/expirationintent
public enum ExpirationReason: String, CaseIterable, Codable, Hashable, Sendable {
    /// 1: the customer turned auto-renewal off.
    case customer
    /// 2: the charge failed.
    case billing
    /// 3: the customer did not agree to a price increase that needs consent.
    case priceIncrease = "price_increase"
    /// 4: the product was not available for purchase at the renewal.
    case productUnavailable = "product_unavailable"
    /// The customer left the bundle that the subscription was part of; its number is not confirmed.
    case unbundled
    /// 5: another reason; also numbers that Apple may add, which `history` shows unchanged.
    case other

    /// The reason for Apple's number.
    public init(intent: Int64) {
        switch intent {
        case 1: self = .customer
        case RenewalStatement.billingErrorIntent: self = .billing
        case 3: self = .priceIncrease
        case BundleMembership.Word.unbundled: self = .unbundled
        case 4: self = .productUnavailable
        default: self = .other
        }
    }
}
