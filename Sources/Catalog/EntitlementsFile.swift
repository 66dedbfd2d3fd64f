public import Projections

/// What grants entitlements, as the operator writes it down.
struct EntitlementsFile: Decodable {
    private let entitlements: [String: EntitlementGrants]?

    /// What grants each entitlement; nil if the file does not say.
    ///
    /// - Throws: `malformed` for a name that an entitlement cannot have, and for an entitlement that
    ///   nothing grants.
    func checked() throws(CatalogError) -> [String: EntitlementGrants]? {
        for (name, grants) in (entitlements ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard EntitlementGrants.isName(name) else {
                throw CatalogError(
                    .malformed,
                    "an entitlement has the name '\(name.prefix(64))'; expected 1 to "
                        + "\(EntitlementGrants.nameByteCountMax) of the characters a–z, A–Z, "
                        + "0–9, '.', '-' and '_'"
                )
            }
            let ids = grants.products + grants.groups
            guard !ids.isEmpty, !ids.contains("") else {
                throw CatalogError(
                    .malformed,
                    "entitlements.\(name) has "
                        + (ids.isEmpty ? "no product and no group" : "an empty identifier")
                        + "; name what grants it in products, groups or both, or remove it"
                )
            }
        }
        return entitlements
    }
}

extension CatalogContent {
    /// The format of a file that defines entitlements alone.
    private static let entitlementsFormat = "entitlements"

    /// The content of a file that defines entitlements alone.
    init(entitlements: [String: EntitlementGrants]) {
        self.init(
            format: CatalogContent.entitlementsFormat,
            subscriptions: [],
            otherProducts: [],
            entitlements: entitlements,
            warnings: []
        )
    }

    /// The content of the next version: what the file does not define stays as it is in the newest.
    ///
    /// A group that an entitlement names by its reference name becomes its identifier. The warnings
    /// are those of the file, and those about its entitlements.
    public func completed(by newest: ProductCatalog?) -> CatalogContent {
        var content = self
        if format == CatalogContent.entitlementsFormat, let newest {
            (content.subscriptions, content.otherProducts) = (
                newest.subscriptions, newest.otherProducts
            )
        }
        let sold = content.subscriptions
        let groups = Set(sold.map(\.subscriptionGroupIdentifier))
        let identifiers = Dictionary(
            sold.compactMap { product in
                product.groupName.map { ($0, Set([product.subscriptionGroupIdentifier])) }
            },
            uniquingKeysWith: { $0.union($1) }
        )
        content.entitlements = (entitlements ?? newest?.entitlements ?? [:]).mapValues { grants in
            EntitlementGrants(
                products: grants.products,
                groups: grants.groups.map { group in
                    let named = groups.contains(group) ? [] : identifiers[group] ?? []
                    return named.count == 1 ? named.first ?? group : group
                }
            )
        }
        content.warnings += content.unknownGrants + content.notEntitled
        return content
    }

    // Without products there is nothing to compare with.
    private var unknownGrants: [Warning] {
        guard !subscriptions.isEmpty || !otherProducts.isEmpty else { return [] }
        let products = Set(subscriptions.map(\.productId) + otherProducts.map(\.productId))
        let groups = Set(subscriptions.map(\.subscriptionGroupIdentifier))
        return (entitlements ?? [:]).sorted { $0.key < $1.key }.flatMap { name, grants in
            let unknown =
                grants.products.filter { !products.contains($0) }.map { "product \($0)" }
                + grants.groups.filter { !groups.contains($0) }.map { "subscription group \($0)" }
            return unknown.map { thing in
                Warning(
                    code: .unknownGrant,
                    message: "the entitlement \(name) names the \(thing), which the catalog does "
                        + "not contain; check its spelling"
                )
            }
        }
    }

    // Whoever defines no entitlements does not miss any. Only the app knows what is left of a
    // consumable.
    private var notEntitled: [Warning] {
        guard let granting = entitlements?.values, !granting.isEmpty else { return [] }
        let products = Set(granting.flatMap(\.products))
        let groups = Set(granting.flatMap(\.groups))
        let left =
            subscriptions.filter { !groups.contains($0.subscriptionGroupIdentifier) }
            .map(\.productId)
            + otherProducts.filter { $0.type == "Non-Consumable" }.map(\.productId)
        let missing = left.filter { !products.contains($0) }
        guard !missing.isEmpty else { return [] }
        let more = missing.count - CatalogContent.namedMax
        return [
            Warning(
                code: .notEntitled,
                message: "no entitlement contains "
                    + missing.prefix(CatalogContent.namedMax).joined(separator: ", ")
                    + (more > 0 ? " and \(more) more" : "")
            )
        ]
    }

    /// The most products that a warning lists.
    private static let namedMax = 10
}
