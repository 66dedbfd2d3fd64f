public import Events

/// Every version of the catalog, so a change of plan is classified by what was on sale at the time.
public struct CatalogHistory: Hashable, Sendable {
    /// The versions by the instant at which they take effect, then by number; each with the products
    /// or the entitlements of the one before, if the imported file left them as they were.
    package let versions: [ProductCatalog]

    // As imported, by number.
    private let imported: [ProductCatalog]

    /// No catalog: every change is only a `planChange`.
    public static let none = CatalogHistory([])

    /// A history of these versions, in whatever order they come.
    package init(_ versions: [ProductCatalog]) {
        imported = versions.sorted { $0.version < $1.version }
        self.versions = CatalogHistory.inEffect(imported)
    }

    // An import is completed with what its predecessor by number has. If versions take effect in
    // another order, it must have what the one before it in effect has, or a version that was
    // imported early for a later time would take back what was imported in between.
    private static func inEffect(_ imported: [ProductCatalog]) -> [ProductCatalog] {
        let places = imported.indices.sorted {
            (imported[$0].effectiveFrom, $0) < (imported[$1].effectiveFrom, $1)
        }
        guard places != Array(imported.indices) else { return imported }
        return places.reduce(into: []) { found, place in
            let own = imported[place]
            guard place > 0, let before = found.last else { return found.append(own) }
            switch (
                own.hasProducts(of: imported[place - 1]),
                own.entitlements == imported[place - 1].entitlements
            ) {
            case (true, false): found.append(own.with(products: before, entitlements: own))
            case (false, true): found.append(own.with(products: own, entitlements: before))
            // The same content for another time, or a file that defines both.
            case (true, true), (false, false): found.append(own)
            }
        }
    }

    /// The number of the last imported version; 0 if there is none.
    public var newestVersion: Int { versions.map(\.version).max() ?? 0 }

    /// The history as it was when that version was the newest.
    public func imported(through version: Int) -> CatalogHistory {
        CatalogHistory(imported.filter { $0.version <= version })
    }

    /// The version in force at an instant; nil if there is none at all.
    ///
    /// If two take effect at the same instant, the one imported later applies. Before the first
    /// version, the first one applies, because nothing better is known about that time.
    package func version(at instant: Instant) -> ProductCatalog? {
        versions.last { $0.effectiveFrom <= instant } ?? versions.first
    }

    /// The product with that id as sold at an instant; nil if that version lacks it.
    package func product(_ productId: String, at instant: Instant) -> ProductCatalog.Product? {
        version(at: instant)?.product(productId)
    }

    /// The class of a change from one product to another at an instant.
    public func change(from: String, to: String, at instant: Instant) -> PlanChangeClass {
        version(at: instant)?.change(from: from, to: to) ?? .planChange
    }

    /// Whether two products have periods of the same length; nil if either is not known.
    public func haveSameDuration(_ one: String, _ other: String, at instant: Instant) -> Bool? {
        version(at: instant)?.haveSameDuration(one, other)
    }
}

extension ProductCatalog {
    /// The class of a change from one product to another, by the levels of this version.
    package func change(from: String, to: String) -> PlanChangeClass {
        guard let old = subscription(from), let new = subscription(to),
            byBytes(old.subscriptionGroupIdentifier, new.subscriptionGroupIdentifier) == nil
        else { return .planChange }
        return PlanChangeClass(from: old, to: new)
    }

    /// Whether two products have periods of the same length; nil if either is not known.
    package func haveSameDuration(_ one: String, _ other: String) -> Bool? {
        guard let one = subscription(one), let other = subscription(other) else { return nil }
        return one.duration == other.duration
    }
}

extension ProductCatalog {
    fileprivate func hasProducts(of other: ProductCatalog) -> Bool {
        subscriptions == other.subscriptions && otherProducts == other.otherProducts
    }

    // This version with the products and the entitlements of others.
    fileprivate func with(
        products: ProductCatalog,
        entitlements others: ProductCatalog
    ) -> ProductCatalog {
        ProductCatalog(
            version: version,
            effectiveFrom: effectiveFrom,
            subscriptions: products.subscriptions,
            otherProducts: products.otherProducts,
            entitlements: others.entitlements
        )
    }
}
