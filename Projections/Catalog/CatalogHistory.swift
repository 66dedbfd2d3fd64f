public import Events

/// Every version of the catalog, so that a change of plan is judged by what was sold then.
public struct CatalogHistory: Hashable, Sendable {
    /// The versions by the instant from which they hold, then by number.
    public let versions: [ProductCatalog]

    /// No catalog: every change is only a `planChange`.
    public static let none = CatalogHistory([])

    /// A history of these versions, in whatever order they come.
    public init(_ versions: [ProductCatalog]) {
        self.versions = versions.sorted {
            ($0.effectiveFrom, $0.version) < ($1.effectiveFrom, $1.version)
        }
    }

    /// The number of the version imported last; 0 where there is none.
    public var newestVersion: Int { versions.map(\.version).max() ?? 0 }

    /// The history as it was when that version was the newest.
    public func imported(through version: Int) -> CatalogHistory {
        CatalogHistory(versions.filter { $0.version <= version })
    }

    /// The version that holds at an instant; nil where there is none at all.
    ///
    /// Of two from one instant on it is the one imported later. Before the first version it is the
    /// first one: nothing better is known of that time.
    public func version(at instant: Instant) -> ProductCatalog? {
        versions.last { $0.effectiveFrom <= instant } ?? versions.first
    }

    /// The product of that id as it was sold at an instant; nil where that version lacks it.
    public func product(_ productId: String, at instant: Instant) -> ProductCatalog.Product? {
        version(at: instant)?.product(productId)
    }

    /// What a change from one product to another at an instant is.
    public func change(from: String, to: String, at instant: Instant) -> PlanChangeClass {
        version(at: instant)?.change(from: from, to: to) ?? .planChange
    }

    /// Whether two products have periods of one length; nil where one is not known.
    public func haveSameDuration(_ one: String, _ other: String, at instant: Instant) -> Bool? {
        version(at: instant)?.haveSameDuration(one, other)
    }
}

extension ProductCatalog {
    /// What a change from one product to another is, by the levels of this version.
    public func change(from: String, to: String) -> PlanChangeClass {
        guard let old = subscription(from), let new = subscription(to),
            byBytes(old.subscriptionGroupIdentifier, new.subscriptionGroupIdentifier) == nil
        else { return .planChange }
        return PlanChangeClass(from: old, to: new)
    }

    /// Whether two products have periods of one length; nil where one is not known.
    public func haveSameDuration(_ one: String, _ other: String) -> Bool? {
        guard let one = subscription(one), let other = subscription(other) else { return nil }
        return one.duration == other.duration
    }
}
