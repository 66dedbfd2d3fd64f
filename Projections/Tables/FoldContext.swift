/// What a fold may know besides events: what the operator has decided.
public struct FoldContext: Hashable, Sendable {
    /// What is sold, and was.
    public let catalogs: CatalogHistory
    /// What counts as access.
    public let policy: AccessPolicy

    /// A context with these catalogs and that policy.
    public init(catalogs: CatalogHistory = .none, policy: AccessPolicy = .current) {
        self.catalogs = catalogs
        self.policy = policy
    }
}
