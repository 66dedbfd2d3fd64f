public import Events

/// Which offers a customer may receive in one group (Apple's data: offer eligibility).
package struct GroupEligibility: Hashable, Sendable {
    /// The group: each offer applies once in it, whatever the product.
    package let group: SubscriptionGroup
    /// A trial or an introductory price.
    package let introductory: IntroductoryOfferEligibility
    /// A promotional offer.
    package let promotional: PromotionalOfferEligibility
    /// A win-back offer.
    package let winBack: WinBackOfferEligibility
    /// How an offer code classifies the customer; the developer creates each code for some of
    /// these.
    package let subscriber: SubscriberKind
}

/// Whether the customer may start with an introductory offer, in order of precedence.
///
/// If a purchase is the reason, it is returned as the blocking transaction.
package enum IntroductoryOfferEligibility: Hashable, Sendable {
    /// Eligible: no transaction of the group is known.
    case neverSubscribed
    /// Not eligible, permanently and for each product of the group: already had one.
    case usedIntroductoryOffer(BlockingTransaction)
    /// Not eligible: a purchase was refunded; stricter than Apple (Apple's data: offer
    /// eligibility).
    case refunded(BlockingTransaction)
    /// Not eligible: a purchase has not reached its end.
    case currentlySubscribed(BlockingTransaction)
    /// Not eligible: the renewal failed, but access continues for a while; still a subscriber.
    case inGracePeriod(BlockingTransaction)
    /// Eligible: was subscribed, never with an introductory offer, and no longer is.
    case lapsed

    /// Whether the offer may be made.
    package var isEligible: Bool { self == .neverSubscribed || self == .lapsed }
}

/// Whether the customer may receive a promotional offer; the developer decides which.
package enum PromotionalOfferEligibility: Hashable, Sendable {
    /// Not eligible: neither a purchase of the group nor a renewal of one is known.
    case neverSubscribed
    /// Eligible: is a subscriber, or was.
    case subscriber

    /// Whether the offer may be made.
    package var isEligible: Bool { self == .subscriber }
}

/// Whether the customer may receive a win-back offer, in order of precedence (Apple's data: trap
/// 44).
///
/// Apple decides by rules of the developer that no payload shows, so Apple's own list counts
/// wherever there is one
/// (https://developer.apple.com/documentation/appstoreserverapi/eligiblewinbackofferids).
package enum WinBackOfferEligibility: Hashable, Sendable {
    /// Not eligible: never was a subscriber.
    case neverSubscribed
    /// Not eligible: a purchase has not reached its end.
    case currentlySubscribed(BlockingTransaction)
    /// Not eligible: access continues for a while after a failed renewal.
    case inGracePeriod(BlockingTransaction)
    /// Eligible for the offers that Apple lists; not eligible if Apple lists none.
    case listedByApple(WinBackList)
    /// Not eligible: the renewal failed and is retried.
    case inBillingRetry(BlockingTransaction)
    /// Not eligible: expired, but by Apple's last statement auto-renewal was on and may yet
    /// succeed.
    case awaitingRenewal(BlockingTransaction)
    /// Eligible as far as is known: expired, not going to renew, and without a list from Apple.
    case churned

    /// Whether the offer may be made.
    package var isEligible: Bool {
        switch self {
        case .listedByApple(let list): !list.eligibleWinBackOfferIds.isEmpty
        case .churned: true
        default: false
        }
    }
}

/// The relation of a customer to a group of products.
package enum SubscriberKind: String, CaseIterable, Sendable {
    /// Never subscribed.
    case new
    /// Subscribed now, billing grace included.
    case existing
    /// Was subscribed.
    case expired
}

/// The purchase that prevents an offer.
public struct BlockingTransaction: Codable, Hashable, Sendable {
    /// The subscription.
    public let originalTransactionId: String
    /// Every id under which the purchase was seen (Apple's data: trap 4).
    public let transactionIds: [String]
    /// The product.
    public let productId: String
    /// Start of the purchase.
    public let purchaseDate: Instant
    /// Natural end of the purchase.
    public let expiresDate: Instant
    /// The events it is based on, ascending, without duplicates.
    public let positions: [Position]
}
