public import Events

/// Which offers a customer may be made in one subscription group at one instant
/// (Apple's data: offer eligibility).
public struct GroupEligibility: Hashable, Sendable {
    /// The group: each offer is given once in it, whatever the product.
    public let group: SubscriptionGroup
    /// A trial or an introductory price.
    public let introductory: IntroductoryOfferEligibility
    /// A promotional offer.
    public let promotional: PromotionalOfferEligibility
    /// A win-back offer.
    public let winBack: WinBackOfferEligibility
    /// What the customer is to an offer code, each of which the developer makes for some of these.
    public let subscriber: SubscriberKind
}

/// Whether the customer may start with an introductory offer, in order of precedence.
///
/// A subscription that can be given for the reason is given as the one that stands in the way.
public enum IntroductoryOfferEligibility: Hashable, Sendable {
    /// Eligible: no transaction of the group is known.
    case neverSubscribed
    /// Not eligible, for ever and for each product of the group: had one already.
    case usedIntroductoryOffer(BlockingTransaction)
    /// Not eligible: a purchase was taken back. A rule of this ledger, more careful than Apple's
    /// (Apple's data: offer eligibility).
    case refunded(BlockingTransaction)
    /// Not eligible: a purchase has not reached its end.
    case currentlySubscribed(BlockingTransaction)
    /// Not eligible: the renewal failed, and access goes on for a while; still a subscriber.
    case inGracePeriod(BlockingTransaction)
    /// Eligible: was subscribed, never with an introductory offer, and is no more.
    case lapsed

    /// Whether the offer may be made.
    public var isEligible: Bool { self == .neverSubscribed || self == .lapsed }
}

/// Whether the customer may be made a promotional offer; which of them is up to the developer.
public enum PromotionalOfferEligibility: Hashable, Sendable {
    /// Not eligible: neither a purchase of the group nor a renewal of one is known.
    case neverSubscribed
    /// Eligible: is a subscriber, or was.
    case subscriber

    /// Whether the offer may be made.
    public var isEligible: Bool { self == .subscriber }
}

/// Whether the customer may be won back, in order of precedence (Apple's data: trap 44).
///
/// Apple decides who is eligible by rules of the developer that no payload shows, so that its own
/// list counts wherever there is one
/// (https://developer.apple.com/documentation/appstoreserverapi/eligiblewinbackofferids).
public enum WinBackOfferEligibility: Hashable, Sendable {
    /// Not eligible: there is nobody to win back.
    case neverSubscribed
    /// Not eligible: a purchase has not reached its end.
    case currentlySubscribed(BlockingTransaction)
    /// Not eligible: access goes on for a while after a failed renewal.
    case inGracePeriod(BlockingTransaction)
    /// Eligible for the offers that Apple lists; not eligible where Apple lists none.
    case listedByApple(WinBackList)
    /// Not eligible: the renewal failed and is tried again.
    case inBillingRetry(BlockingTransaction)
    /// Not eligible: expired, but as far as Apple said auto-renewal was on and may yet succeed.
    case awaitingRenewal(BlockingTransaction)
    /// Eligible as far as is known: expired, not to be renewed, and without a list of Apple's.
    case churned

    /// Whether the offer may be made.
    public var isEligible: Bool {
        switch self {
        case .listedByApple(let list): !list.offerIds.isEmpty
        case .churned: true
        default: false
        }
    }
}

/// What a customer is to a group of products.
public enum SubscriberKind: String, CaseIterable, Sendable {
    /// Never subscribed.
    case new
    /// Subscribed now, billing grace included.
    case existing
    /// Was subscribed.
    case expired
}

/// The purchase that stands in the way of an offer.
public struct BlockingTransaction: Hashable, Sendable {
    /// The subscription.
    public let stream: StreamID
    /// Every id under which the purchase was seen (Apple's data: trap 4).
    public let transactionIds: [String]
    /// The product.
    public let productId: String
    /// Start of the purchase.
    public let purchaseDate: Instant
    /// Natural end of the purchase.
    public let expiresDate: Instant
    /// The events that say so, ascending, each once.
    public let positions: [Position]
}
