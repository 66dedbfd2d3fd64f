public import EventLog
public import Events
public import Projections

/// Which offers a customer is eligible for, and what prevents others.
public struct EligibilityDocument: Codable, Hashable, Sendable {
    /// The id that was asked for.
    public let id: String
    /// Where the purchases were made.
    public let environment: Environment
    /// The instant asked about.
    public let at: Instant
    /// Whether anything is known of the customer; if not, they count as having bought nothing.
    public let isKnown: Bool
    /// The products that were asked about, each with its group; empty if none was.
    public let products: [Product]
    /// The subscription groups.
    public let groups: [Group]
    /// All subscriptions that were considered, each with the reason it counts as the customer's.
    public let subscriptions: [SubscriptionGround]
    /// Links to the customer that were not in force at the instant: subscriptions of a link that
    /// had ended still count, those of a link that begins later do not.
    public let linksNotInForce: [LinkNotInForce]
    /// What was erased of the subscriptions.
    public let erasures: [ErasureMark]

    /// A product, and the group whose offers apply to it.
    public struct Product: Codable, Hashable, Sendable {
        /// Apple's identifier of the product.
        public let productId: String
        /// Apple's identifier of its subscription group.
        public let subscriptionGroupIdentifier: String
    }

    /// The offers of one group.
    public struct Group: Codable, Hashable, Sendable {
        /// Apple's identifier; nil if no format named it.
        public let subscriptionGroupIdentifier: String?
        /// The subscription that stands for a group that no format named; otherwise nil.
        public let originalTransactionId: String?
        /// How an offer code classifies the customer: `new`, `existing` or `expired`.
        public let subscriber: String
        /// The introductory offer.
        public let introductory: Verdict
        /// Promotional offers.
        public let promotional: Verdict
        /// Offers to win back.
        public let winBack: Verdict
    }

    /// Whether one kind of offer may be made, and the rule that decides it.
    public struct Verdict: Codable, Hashable, Sendable {
        /// Whether the customer is eligible.
        public let eligible: Bool
        /// The first rule that applies.
        public let rule: String
        /// The purchase that prevents the offer.
        public let blocking: BlockingTransaction?
        /// The offers that Apple lists; nil if it lists none.
        public let listedByApple: WinBackList?
    }
}

extension Ledger {
    /// Which offers a customer is eligible for, and what prevents others.
    ///
    /// - Parameters:
    ///   - subject: The customer; production if it names no environment.
    ///   - instant: The instant asked about.
    ///   - group: Only this subscription group, by its identifier or by its name in the catalog;
    ///     nil for all that are known.
    ///   - products: Only the groups of these products, taken from the catalog in force at the
    ///     instant, or otherwise from what the customer bought; empty for all groups.
    ///   - knownAt: How much of the log is used.
    /// - Returns: The answer; a customer of whom nothing is known counts as having bought nothing.
    /// - Throws: As `access`, except `unknownId`; `unknownProduct` if the group of a product is not
    ///   known, `unknownGroup` if the catalog does not contain the group.
    public func eligibility(
        of subject: SubjectID,
        at instant: Instant,
        group: String? = nil,
        products: [String] = [],
        knownAt: KnownAt = .latest
    ) async throws -> EligibilityDocument {
        let known = try await known(of: subject, at: instant, knownAt: knownAt, orNew: true)
        let offers = OfferEligibility(
            known.everTimelines,
            environment: known.environment,
            catalogs: known.catalogs
        )
        let asked = try products.map { productId in
            guard let found = offers.group(ofProduct: productId, at: instant)?.identifier else {
                throw QuestionError(
                    .unknownProduct,
                    known.catalogs.versions.isEmpty
                        ? "no catalog was imported, so the subscription group of \(productId) is "
                            + "unknown; name the group instead"
                        : "the catalog of \(instant) does not contain the subscription "
                            + "\(productId); name the group instead"
                )
            }
            return EligibilityDocument.Product(
                productId: productId,
                subscriptionGroupIdentifier: found
            )
        }
        var named = Set(asked.map { SubscriptionGroup.identified($0.subscriptionGroupIdentifier) })
        if let group {
            let scope = try KnownProducts(known).known(.group(.identified(group)))
            if case .group(let found) = scope { named.insert(found) }
        }
        let groups =
            named.isEmpty
            ? offers.groups(at: instant)
            : named.sorted().map { offers.eligibility(in: $0, at: instant) }
        return EligibilityDocument(
            id: known.id,
            environment: known.environment,
            at: instant,
            isKnown: !known.everTimelines.isEmpty,
            products: asked,
            groups: groups.map { EligibilityDocument.Group($0) },
            subscriptions: known.everGrounds.subscriptions,
            linksNotInForce: known.everGrounds.linksNotInForce,
            erasures: known.erasures
        )
    }
}

extension EligibilityDocument.Group {
    init(_ group: GroupEligibility) {
        subscriptionGroupIdentifier = group.group.identifier
        if case .ofStream(let stream) = group.group {
            originalTransactionId = stream.originalTransactionId
        } else {
            originalTransactionId = nil
        }
        subscriber = group.subscriber.rawValue
        introductory = EligibilityDocument.Verdict(group.introductory)
        promotional = EligibilityDocument.Verdict(group.promotional)
        winBack = EligibilityDocument.Verdict(group.winBack)
    }

    /// The name of the group, as text.
    package var name: String {
        subscriptionGroupIdentifier ?? "of \(originalTransactionId ?? "")"
    }

    /// The kinds of offers as text, each with its verdict.
    package var verdicts: [(offer: String, verdict: EligibilityDocument.Verdict)] {
        [("introductory", introductory), ("promotional", promotional), ("win-back", winBack)]
    }
}

extension EligibilityDocument.Verdict {
    fileprivate init(_ verdict: IntroductoryOfferEligibility) {
        (rule, blocking) =
            switch verdict {
            case .neverSubscribed: ("neverSubscribed", nil)
            case .usedIntroductoryOffer(let used): ("usedIntroductoryOffer", used)
            case .refunded(let refund): ("refunded", refund)
            case .currentlySubscribed(let current): ("currentlySubscribed", current)
            case .inGracePeriod(let grace): ("inGracePeriod", grace)
            case .lapsed: ("lapsed", nil)
            }
        eligible = verdict.isEligible
        listedByApple = nil
    }

    fileprivate init(_ verdict: PromotionalOfferEligibility) {
        eligible = verdict.isEligible
        rule = verdict == .subscriber ? "subscriber" : "neverSubscribed"
        blocking = nil
        listedByApple = nil
    }

    fileprivate init(_ verdict: WinBackOfferEligibility) {
        (rule, blocking) =
            switch verdict {
            case .neverSubscribed: ("neverSubscribed", nil)
            case .currentlySubscribed(let current): ("currentlySubscribed", current)
            case .inGracePeriod(let grace): ("inGracePeriod", grace)
            case .listedByApple: ("listedByApple", nil)
            case .inBillingRetry(let retry): ("inBillingRetry", retry)
            case .awaitingRenewal(let awaiting): ("awaitingRenewal", awaiting)
            case .churned: ("churned", nil)
            }
        eligible = verdict.isEligible
        if case .listedByApple(let list) = verdict {
            listedByApple = list
        } else {
            listedByApple = nil
        }
    }
}
