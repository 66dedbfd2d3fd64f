public import Events
public import Projections

/// What an app sells according to a file, before it becomes a version of the catalog.
public struct CatalogContent: Hashable, Sendable {
    /// The format it was read from, such as `storekit 4.0` or `app-store-connect`.
    public let format: String
    /// The subscriptions, each product id once.
    public internal(set) var subscriptions: [ProductCatalog.Subscription]
    /// Everything else that is sold, each product id once.
    public internal(set) var otherProducts: [ProductCatalog.OtherProduct]
    /// What grants each entitlement, by its name; nil if the file does not say, so those of the
    /// newest version stay.
    public internal(set) var entitlements: [String: EntitlementGrants]?
    /// What the operator should know, in the order of the file.
    public internal(set) var warnings: [Warning]

    /// Something in the file that does less than it appears to.
    public struct Warning: Hashable, Sendable {
        /// What it is, for scripts.
        public let code: Code
        /// What it is, for people; names the group or product.
        public let message: String

        /// The kinds.
        public enum Code: String, CaseIterable, Sendable {
            /// A group identifier that Xcode generated: it occurs in no payload.
            case localGroup = "local-group"
            /// A subscription that names another group than the one that contains it.
            case groupMismatch = "group-mismatch"
            /// A product that cannot be sold yet because something is missing.
            case productLeftOut = "product-left-out"
            /// An offer that cannot be read.
            case offerLeftOut = "offer-left-out"
            /// A response that is one page of several.
            case incompleteResponse = "incomplete-response"
            /// A newer format than this program knows.
            case newerFormat = "newer-format"
            /// No subscription at all.
            case noSubscriptions = "no-subscriptions"
            /// An entitlement that names a product or a group that is not sold.
            case unknownGrant = "unknown-grant"
            /// A product that is sold, and in no entitlement.
            case notEntitled = "not-entitled"
        }
    }

    /// This content as a version of the catalog.
    public func version(_ number: Int, effectiveFrom: Instant) -> ProductCatalog {
        ProductCatalog(
            version: number,
            effectiveFrom: effectiveFrom,
            subscriptions: subscriptions,
            otherProducts: otherProducts,
            entitlements: entitlements ?? [:]
        )
    }
}

/// Collects what a reader finds, and applies the rules that both formats share.
struct CatalogBuilder {
    private var subscriptions: [ProductCatalog.Subscription] = []
    private var otherProducts: [ProductCatalog.OtherProduct] = []
    private var warnings: [CatalogContent.Warning] = []
    private var groupsWarnedOf: Set<[UInt8]> = []
    // Bytes, because two spellings of one letter are two identifiers.
    private var placeOfProduct: [[UInt8]: String] = [:]

    mutating func add(
        _ subscription: ProductCatalog.Subscription,
        at place: String
    ) throws(CatalogError) {
        try claim(subscription.productId, at: place)
        warnOfLocalGroup(subscription.subscriptionGroupIdentifier)
        subscriptions.append(subscription)
    }

    mutating func add(
        _ product: ProductCatalog.OtherProduct,
        at place: String
    ) throws(CatalogError) {
        try claim(product.productId, at: place)
        otherProducts.append(product)
    }

    mutating func warn(_ code: CatalogContent.Warning.Code, _ message: String) {
        warnings.append(CatalogContent.Warning(code: code, message: message))
    }

    /// Returns what was collected.
    func content(format: String) -> CatalogContent {
        var all = warnings
        if subscriptions.isEmpty {
            all.append(
                CatalogContent.Warning(
                    code: .noSubscriptions,
                    message: "it contains no subscription, so it cannot classify any plan change"
                )
            )
        }
        return CatalogContent(
            format: format,
            subscriptions: subscriptions,
            otherProducts: otherProducts,
            entitlements: nil,
            warnings: all
        )
    }

    private mutating func claim(_ productId: String, at place: String) throws(CatalogError) {
        if let other = placeOfProduct.updateValue(place, forKey: Array(productId.utf8)) {
            throw CatalogError(
                .duplicateProduct,
                "two products have the identifier \(productId): \(other) and \(place); an "
                    + "identifier names one product; remove one of them"
            )
        }
    }

    // App Store Connect's identifiers are numbers; Xcode generates eight hexadecimal digits
    // (Apple's data: StoreKit configuration). Eight digits that happen to be decimal cannot be
    // distinguished from a number.
    private mutating func warnOfLocalGroup(_ group: String) {
        guard group.utf8.contains(where: { !(48...57).contains($0) }),
            groupsWarnedOf.insert(Array(group.utf8)).inserted
        else { return }
        warn(
            .localGroup,
            "only Xcode knows the group \(group): App Store Connect's identifiers are numbers, and "
                + "Apple's signed data contains only those. Synchronise the file with App Store "
                + "Connect in Xcode to get them"
        )
    }
}
