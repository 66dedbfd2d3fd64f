/// The class of a change of product, by the levels of the catalog (Apple's data: trap 23).
public enum PlanChangeClass: String, CaseIterable, Codable, Sendable {
    /// To a higher level.
    case upgrade
    /// To a lower level.
    case downgrade
    /// To another product of the same level.
    case crossgrade
    /// Not known: there is no catalog, or it does not have both products in one group.
    case planChange = "plan_change"

    /// The class of a change between two products of one group; level 1 is the highest (Apple's
    /// data: trap 23).
    init(from old: ProductCatalog.Subscription, to new: ProductCatalog.Subscription) {
        if old.level == new.level {
            self = .crossgrade
        } else {
            self = new.level < old.level ? .upgrade : .downgrade
        }
    }

    /// Whether Apple carries it out at once rather than at the next renewal.
    ///
    /// - Parameter sameDuration: Whether the periods have the same length, which matters only for a
    ///   crossgrade (Apple's data: trap 23).
    /// - Returns: Nil if that is not known.
    public func isImmediate(sameDuration: Bool?) -> Bool? {
        switch self {
        case .upgrade: true
        case .downgrade: false
        case .crossgrade: sameDuration
        case .planChange: nil
        }
    }
}
