/// How one version of a catalog differs from another, product by product.
public struct CatalogDifference: Hashable, Sendable {
    /// A product in both versions that differs between them.
    public struct Changed: Codable, Hashable, Sendable {
        /// Its identifier.
        public let productId: String
        /// What differs, in the order of the properties.
        public let fields: [Field]
    }

    /// A property of a product, or an entitlement, that differs.
    public struct Field: Codable, Hashable, Sendable {
        /// Its name.
        public let name: String
        /// The value in the older version; nil if it has none.
        public let old: String?
        /// The value in the newer version; nil if it has none.
        public let new: String?
    }

    /// Identifiers that only the newer version has, in order of UTF-8 bytes.
    public let added: [String]
    /// Identifiers that only the older version has, in order of UTF-8 bytes.
    public let removed: [String]
    /// Products in both versions that differ, by identifier in order of UTF-8 bytes.
    public let changed: [Changed]

    /// Entitlements that differ, by name: what granted them, and what grants them now.
    public let entitlements: [Field]

    /// Whether both have the same products with the same properties, and the same entitlements.
    public var isEmpty: Bool {
        added.isEmpty && removed.isEmpty && changed.isEmpty && entitlements.isEmpty
    }

    /// The difference from an older version to a newer one; everything is added if there is no
    /// older one.
    public init(from old: ProductCatalog?, to new: ProductCatalog) {
        let before = old.map(CatalogDifference.products) ?? []
        let after = CatalogDifference.products(of: new)
        var (added, removed, changed): ([String], [String], [Changed]) = ([], [], [])
        var (left, right) = (before.makeIterator(), after.makeIterator())
        var (first, second) = (left.next(), right.next())

        while first != nil || second != nil {
            let order: Bool? =
                switch (first, second) {
                case (let first?, let second?): byBytes(first.productId, second.productId)
                case (_, nil): true
                default: false
                }
            switch (order, first, second) {
            case (true, let gone?, _):
                removed.append(gone.productId)
                first = left.next()
            case (false, _, let come?):
                added.append(come.productId)
                second = right.next()
            case (_, let one?, let other?):
                let fields = CatalogDifference.fields(one.values, other.values)
                if !fields.isEmpty {
                    changed.append(Changed(productId: one.productId, fields: fields))
                }
                (first, second) = (left.next(), right.next())
            default: break
            }
        }

        (self.added, self.removed, self.changed) = (added, removed, changed)
        let (granted, grants) = (old?.entitlements ?? [:], new.entitlements)
        entitlements = Set(granted.keys).union(grants.keys).sorted().compactMap { name in
            granted[name] == grants[name]
                ? nil
                : Field(name: name, old: granted[name]?.summary, new: grants[name]?.summary)
        }
    }
}

extension CatalogDifference {
    /// The properties of a product as texts, for comparison.
    private struct Described {
        let productId: String
        let values: [(name: String, text: String?)]
    }

    private static func products(of catalog: ProductCatalog) -> [Described] {
        let all =
            catalog.subscriptions.map(described) + catalog.otherProducts.map(described)
        return all.sorted { byBytes($0.productId, $1.productId) ?? false }
    }

    private static func described(_ product: ProductCatalog.Subscription) -> Described {
        Described(
            productId: product.productId,
            values: [
                ("type", product.contents.type),
                ("subscriptionGroupIdentifier", product.subscriptionGroupIdentifier),
                ("groupName", product.groupName), ("level", "\(product.level)"),
                ("duration", "\(product.duration)"), ("referenceName", product.referenceName),
                ("displayName", product.displayName),
                ("familyShareable", product.isFamilyShareable ? "true" : "false"),
                ("prices", list(product.prices.map(\.summary))),
                ("billingPlans", list(product.billingPlans.map(\.summary))),
                ("offers", list(product.offers.map(\.summary))),
                ("bundledProductIds", list(product.contents.productIds)),
            ]
        )
    }

    private static func described(_ product: ProductCatalog.OtherProduct) -> Described {
        Described(
            productId: product.productId,
            values: [
                ("type", product.type), ("subscriptionGroupIdentifier", nil), ("groupName", nil),
                ("level", nil), ("duration", nil), ("referenceName", product.referenceName),
                ("displayName", product.displayName),
                ("familyShareable", product.isFamilyShareable ? "true" : "false"),
                ("prices", list(product.prices.map(\.summary))), ("billingPlans", nil),
                ("offers", nil), ("bundledProductIds", nil),
            ]
        )
    }

    private static func list(_ parts: [String]) -> String? {
        parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    private static func fields(
        _ old: [(name: String, text: String?)],
        _ new: [(name: String, text: String?)]
    ) -> [Field] {
        zip(old, new).compactMap { old, new in
            isSame(old.text, new.text)
                ? nil : Field(name: old.name, old: old.text, new: new.text)
        }
    }

    // Two Unicode spellings of one letter are different texts here, as they are in the file.
    private static func isSame(_ old: String?, _ new: String?) -> Bool {
        guard let old, let new else { return (old == nil) == (new == nil) }
        return byBytes(old, new) == nil
    }
}

extension CatalogPrice {
    /// A short text: `9.99 USA`.
    public var summary: String {
        [text, currency, storefront].compactMap { $0 }.joined(separator: " ")
    }
}

extension CatalogOffer {
    /// A short text: `introductory FREE_TRIAL 1 × P1W`.
    public var summary: String {
        var words = [kind.rawValue]
        if let identifier { words.append(identifier) }
        words += [paymentMode.rawValue, "\(numberOfPeriods) × \(period)"]
        if let price { words.append(price.summary) }
        return words.joined(separator: " ")
    }
}

extension ProductCatalog.BillingPlan {
    /// A short text: `MONTHLY 9.99 USA of 119.88 USA`.
    public var summary: String {
        var words = [type]
        if let price { words.append(price.summary) }
        if let commitmentPrice { words.append("of \(commitmentPrice.summary)") }
        return words.joined(separator: " ")
    }
}
