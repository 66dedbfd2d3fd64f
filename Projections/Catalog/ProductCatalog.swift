public import Events

/// The products of an app as the operator imported them: one version, which never changes.
public struct ProductCatalog: Hashable, Sendable {
    /// The version's number, from 1.
    public let version: Int
    /// The first instant at which it is in force.
    public let effectiveFrom: Instant
    /// Its subscriptions, by product id in order of UTF-8 bytes; no id occurs twice.
    public let subscriptions: [Subscription]
    /// All other products, by product id in order of UTF-8 bytes; no id occurs twice.
    public let otherProducts: [OtherProduct]
    /// What grants each entitlement of the app, by its name.
    public let entitlements: [String: EntitlementGrants]

    /// A version of these products, given in any order.
    ///
    /// No product id may occur twice, whether in one list or in both; of two, either one is found.
    public init(
        version: Int,
        effectiveFrom: Instant,
        subscriptions: [Subscription],
        otherProducts: [OtherProduct] = [],
        entitlements: [String: EntitlementGrants] = [:]
    ) {
        self.version = version
        self.effectiveFrom = effectiveFrom
        self.subscriptions = subscriptions.sorted {
            byBytes($0.productId, $1.productId) ?? false
        }
        self.otherProducts = otherProducts.sorted {
            byBytes($0.productId, $1.productId) ?? false
        }
        self.entitlements = entitlements
    }

    /// The subscription with that product id; nil if the catalog does not have it.
    public func subscription(_ productId: String) -> Subscription? {
        ProductCatalog.find(productId, in: subscriptions) { $0.productId }
    }

    /// The product with that id; nil if the catalog does not have it.
    public func product(_ productId: String) -> Product? {
        if let subscription = subscription(productId) { return .subscription(subscription) }
        return ProductCatalog.find(productId, in: otherProducts) { $0.productId }
            .map(Product.other)
    }

    private static func find<Element>(
        _ productId: String,
        in sorted: [Element],
        id: (Element) -> String
    ) -> Element? {
        var (low, high) = (sorted.startIndex, sorted.endIndex)
        while low < high {
            let middle = (low + high) / 2
            guard let isBefore = byBytes(id(sorted[middle]), productId) else {
                return sorted[middle]
            }
            if isBefore { low = middle + 1 } else { high = middle }
        }
        return nil
    }
}

extension ProductCatalog {
    /// A subscription product.
    public struct Subscription: Codable, Hashable, Sendable {
        /// Apple's identifier of the product.
        public let productId: String
        /// The group; a customer has at most one running subscription in each.
        public let subscriptionGroupIdentifier: String
        /// The group's reference name; nil if the catalog does not state it.
        public let groupName: String?
        /// The rank in its group, 1 for the most service; not its price, not its length (Apple's
        /// data: trap 23).
        public let level: Int
        /// The length of a period at the standard price.
        public let duration: SubscriptionPeriod
        private let kind: BundleKind?
        private let bundledProductIds: [String]?
        /// The developer's own name for it; nil if the catalog does not state it.
        public let referenceName: String?
        /// The name customers see, in the catalog's own language; nil if the catalog does not state
        /// it.
        public let displayName: String?
        /// Whether it can be shared with a family.
        public let isFamilyShareable: Bool
        /// The prices of a period, by store; empty if the catalog does not state them.
        public let prices: [CatalogPrice]
        /// The ways to pay for a period; empty if the catalog does not state them.
        public let billingPlans: [BillingPlan]
        /// The offers on it, in the catalog's order.
        public let offers: [CatalogOffer]

        // Members without a value are omitted: a version without bundles has the bytes that
        // earlier programs stored.
        private enum CodingKeys: String, CodingKey {
            case productId, subscriptionGroupIdentifier, groupName, level, duration, kind
            case bundledProductIds, referenceName, displayName, prices, billingPlans, offers
            case isFamilyShareable = "familyShareable"
        }

        private enum BundleKind: String, Codable {
            case bundle, suite
        }

        /// What it contains.
        public var contents: Contents {
            switch kind {
            case nil: .itself
            case .bundle: .bundle(bundledProductIds ?? [])
            case .suite: .suite(bundledProductIds ?? [])
            }
        }

        /// A product with these values.
        public init(
            productId: String,
            subscriptionGroupIdentifier: String,
            groupName: String? = nil,
            level: Int,
            duration: SubscriptionPeriod,
            contents: Contents = .itself,
            referenceName: String? = nil,
            displayName: String? = nil,
            isFamilyShareable: Bool = false,
            prices: [CatalogPrice] = [],
            billingPlans: [BillingPlan] = [],
            offers: [CatalogOffer] = []
        ) {
            self.productId = productId
            self.subscriptionGroupIdentifier = subscriptionGroupIdentifier
            self.groupName = groupName
            self.level = level
            self.duration = duration
            switch contents {
            case .itself: (kind, bundledProductIds) = (nil, nil)
            case .bundle(let ids): (kind, bundledProductIds) = (.bundle, ids)
            case .suite(let ids): (kind, bundledProductIds) = (.suite, ids)
            }
            self.referenceName = referenceName
            self.displayName = displayName
            self.isFamilyShareable = isFamilyShareable
            self.prices = prices
            self.billingPlans = billingPlans
            self.offers = offers
        }
    }

    /// What a subscription product contains (Apple's data: bundles).
    public enum Contents: Hashable, Sendable {
        /// Only itself: it is not a bundle.
        case itself
        /// A bundle of these products, in the catalog's order; each is also sold alone.
        case bundle([String])
        /// A suite of these products, in the catalog's order, which are sold only together.
        case suite([String])

        /// Apple's `type` of the product, in the words of a transaction.
        public var type: String {
            switch self {
            case .itself: "Auto-Renewable Subscription"
            case .bundle: "Subscription Bundle"
            case .suite: "Subscription Suite"
            }
        }

        /// The products in it.
        public var productIds: [String] {
            switch self {
            case .itself: []
            case .bundle(let ids), .suite(let ids): ids
            }
        }
    }

    /// A way to pay for a subscription's period: at once, or month by month under a commitment.
    public struct BillingPlan: Codable, Hashable, Sendable {
        /// Apple's `billingPlanType`: `BILLED_UPFRONT`, `MONTHLY`, or a word not known yet.
        public let type: String
        /// The amount of one charge; nil if the catalog does not state it.
        public let price: CatalogPrice?
        /// The total of the commitment; nil if the catalog does not state it.
        public let commitmentPrice: CatalogPrice?

        private enum CodingKeys: String, CodingKey {
            case price, commitmentPrice
            case type = "billingPlanType"
        }

        /// A plan with these values.
        public init(type: String, price: CatalogPrice?, commitmentPrice: CatalogPrice?) {
            self.type = type
            self.price = price
            self.commitmentPrice = commitmentPrice
        }
    }

    /// A product other than an auto-renewable subscription.
    public struct OtherProduct: Codable, Hashable, Sendable {
        /// Apple's identifier of the product.
        public let productId: String
        /// Apple's `type`, in the words of a transaction (Apple's data: transactions):
        /// `Consumable`, `Non-Consumable`, `Non-Renewing Subscription`, or a word not known yet.
        public let type: String
        /// The developer's own name for it; nil if the catalog does not state it.
        public let referenceName: String?
        /// The name customers see, in the catalog's own language; nil if the catalog does not state
        /// it.
        public let displayName: String?
        /// Whether it can be shared with a family.
        public let isFamilyShareable: Bool
        /// Its prices, by store; empty if the catalog does not state them.
        public let prices: [CatalogPrice]

        private enum CodingKeys: String, CodingKey {
            case productId, type, referenceName, displayName, prices
            case isFamilyShareable = "familyShareable"
        }

        /// A product with these values.
        public init(
            productId: String,
            type: String,
            referenceName: String?,
            displayName: String?,
            isFamilyShareable: Bool,
            prices: [CatalogPrice]
        ) {
            self.productId = productId
            self.type = type
            self.referenceName = referenceName
            self.displayName = displayName
            self.isFamilyShareable = isFamilyShareable
            self.prices = prices
        }
    }

    /// Any product.
    public enum Product: Hashable, Sendable {
        /// An auto-renewable subscription.
        case subscription(Subscription)
        /// Anything else.
        case other(OtherProduct)
    }
}
