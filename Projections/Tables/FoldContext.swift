/// What a fold may use in addition to events: the decisions of the operator.
public struct FoldContext: Hashable, Sendable {
    /// The catalog, with its past versions.
    public let catalogs: CatalogHistory
    /// What counts as access.
    public let policy: AccessPolicy

    /// A context with these catalogs and that policy.
    public init(catalogs: CatalogHistory = .none, policy: AccessPolicy = .current) {
        self.catalogs = catalogs
        self.policy = policy
    }
}
