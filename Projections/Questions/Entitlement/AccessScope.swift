/// The access that a question is about.
public enum AccessScope: Hashable, Sendable {
    /// To anything.
    case anything
    /// To one product.
    case product(String)
    /// To any product of one group.
    case group(SubscriptionGroup)

    func contains(_ access: AccessPeriod) -> Bool {
        switch self {
        case .anything: true
        case .product(let productId): byBytes(access.period.productId, productId) == nil
        case .group(let group): access.group == group
        }
    }

    func contains(_ purchase: OneTimePurchase) -> Bool {
        switch self {
        case .anything: true
        case .product(let productId): byBytes(purchase.productId, productId) == nil
        case .group: false
        }
    }
}

extension EntitlementGrants {
    /// The access that grants the entitlement.
    package var scopes: [AccessScope] {
        products.map(AccessScope.product) + groups.map { .group(.identified($0)) }
    }
}
