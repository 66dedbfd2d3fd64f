public import Events

/// Every version of the catalogue, so that a change of plan is judged by what was sold then.
public struct CatalogueHistory: Hashable, Sendable {
    /// The versions by the instant from which they hold, then by number.
    public let versions: [ProductCatalogue]

    /// No catalogue: every change is only a `planChange`.
    public static let none = CatalogueHistory([])

    /// A history of these versions, in whatever order they come.
    public init(_ versions: [ProductCatalogue]) {
        self.versions = versions.sorted {
            ($0.effectiveFrom, $0.version) < ($1.effectiveFrom, $1.version)
        }
    }

    /// The version that holds at an instant; nil where there is none at all.
    ///
    /// Before the first version that is the first one: nothing better is known of that time.
    public func version(at instant: Instant) -> ProductCatalogue? {
        versions.last { $0.effectiveFrom <= instant } ?? versions.first
    }

    /// What a change from one product to another at an instant is.
    public func change(from: String, to: String, at instant: Instant) -> PlanChangeClass {
        guard let catalogue = version(at: instant), let old = catalogue.subscription(from),
            let new = catalogue.subscription(to),
            byBytes(old.subscriptionGroupIdentifier, new.subscriptionGroupIdentifier) == nil
        else { return .planChange }
        // Level 1 is the highest (app-store.md §G-23).
        if old.level != new.level { return new.level < old.level ? .upgrade : .downgrade }
        return .crossgrade
    }

    /// Whether two products have periods of one length; nil where one is not known.
    public func haveSameDuration(_ one: String, _ other: String, at instant: Instant) -> Bool? {
        guard let catalogue = version(at: instant), let one = catalogue.subscription(one),
            let other = catalogue.subscription(other)
        else { return nil }
        return one.duration == other.duration
    }
}

/// What a change of product is, by the levels of the catalogue (app-store.md §G-23).
public enum PlanChangeClass: String, CaseIterable, Sendable {
    /// To a higher level.
    case upgrade
    /// To a lower level.
    case downgrade
    /// To another product of the same level.
    case crossgrade
    /// Not known: no catalogue, or it does not hold both products in one group.
    case planChange = "plan_change"
}
