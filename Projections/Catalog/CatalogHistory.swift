public import Events

/// Every version of the catalog, so a change of plan is classified by what was on sale at the time.
public struct CatalogHistory: Hashable, Sendable {
    /// The versions by the instant at which they take effect, then by number.
    package let versions: [ProductCatalog]

    /// No catalog: every change is only a `planChange`.
    public static let none = CatalogHistory([])

    /// A history of these versions, in whatever order they come.
    package init(_ versions: [ProductCatalog]) {
        self.versions = versions.sorted {
            ($0.effectiveFrom, $0.version) < ($1.effectiveFrom, $1.version)
        }
    }

    /// The number of the last imported version; 0 if there is none.
    public var newestVersion: Int { versions.map(\.version).max() ?? 0 }

    /// The history as it was when that version was the newest.
    public func imported(through version: Int) -> CatalogHistory {
        CatalogHistory(versions.filter { $0.version <= version })
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
