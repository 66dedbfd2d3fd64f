/// What a change of product is, by the levels of the catalog (Apple's data: trap 23).
public enum PlanChangeClass: String, CaseIterable, Sendable {
    /// To a higher level.
    case upgrade
    /// To a lower level.
    case downgrade
    /// To another product of the same level.
    case crossgrade
    /// Not known: no catalog, or it does not hold both products in one group.
    case planChange = "plan_change"

    /// What a change between two products of one group is; level 1 is the highest
    /// (Apple's data: trap 23).
    init(from old: ProductCatalog.Subscription, to new: ProductCatalog.Subscription) {
        if old.level == new.level {
            self = .crossgrade
        } else {
            self = new.level < old.level ? .upgrade : .downgrade
        }
    }

    /// Whether Apple carries it out at once, and not with the next renewal.
    ///
    /// - Parameter sameDuration: Whether the periods have one length, which decides for a
    ///   crossgrade only (Apple's data: trap 23).
    /// - Returns: Nil where that is not known.
    public func isImmediate(sameDuration: Bool?) -> Bool? {
        switch self {
        case .upgrade: true
        case .downgrade: false
        case .crossgrade: sameDuration
        case .planChange: nil
        }
    }
}
