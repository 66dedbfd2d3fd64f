internal import Events
internal import Projections

/// The products and subscription groups that a question about one customer may name.
///
/// "No access" to a product that does not exist would read as an answer about the customer,
/// although the name was misspelled. Without a catalog, nothing says which products exist, so any
/// may be named.
struct KnownProducts {
    private let products: Set<[UInt8]>
    private let groups: Set<SubscriptionGroup>
    private let identifiers: [String: Set<SubscriptionGroup>]
    private let names: [String]
    private let isComplete: Bool

    /// The most products or groups that an error lists.
    private static let namedMax = 10

    /// The products and groups known for a customer.
    init(_ known: Known) {
        self.init(known.everTimelines, known.environment, known.catalogs)
    }

    /// Those in every version of the catalog, and everything ever bought with these subscriptions.
    init(_ timelines: [Timeline], _ environment: StoreEnvironment, _ catalogs: CatalogHistory) {
        let bought = Entitlement(timelines, environment: environment, catalogs: catalogs)
        let subscriptions = catalogs.versions.flatMap(\.subscriptions)
        let sold =
            subscriptions.map(\.productId)
            + catalogs.versions.flatMap(\.otherProducts).map(\.productId)
        let all =
            sold + bought.periods.map(\.period.productId)
            + bought.oneTimePurchases.map(\.productId)
        products = Set(all.map { Array($0.utf8) })
        names = Set(all).sorted()
        groups = Set(
            subscriptions.map { .identified($0.subscriptionGroupIdentifier) }
                + bought.periods.map(\.group)
        )
        identifiers = Dictionary(
            subscriptions.compactMap { product in
                product.groupName.map {
                    ($0.lowercased(), [.identified(product.subscriptionGroupIdentifier)])
                }
            },
            uniquingKeysWith: { $0.union($1) }
        )
        isComplete = !catalogs.versions.isEmpty
    }

    /// The scope of the question, with a group replaced by its identifier.
    ///
    /// - Throws: `unknownProduct`, `unknownGroup`.
    func known(_ scope: AccessScope) throws(QuestionError) -> AccessScope {
        switch scope {
        case .anything: return scope
        case .product(let productId):
            guard isComplete, !products.contains(Array(productId.utf8)) else { return scope }
            throw QuestionError(
                .unknownProduct,
                "\(productId) is in no version of the catalog, and the customer never bought it; "
                    + "known products: " + KnownProducts.list(names) + "; ask about one of these"
            )
        case .group(let group):
            if groups.contains(group) || !isComplete { return scope }
            let meant = group.identifier.flatMap { identifiers[$0.lowercased()] } ?? []
            if let only = meant.first, meant.count == 1 { return .group(only) }
            throw QuestionError(
                .unknownGroup,
                meant.isEmpty
                    ? "the catalog has no subscription group \(group), and the customer never "
                        + "bought from one; known groups: "
                        + KnownProducts.list(groups.compactMap(\.identifier).sorted())
                        + "; ask about one of these"
                    : "\(meant.count) subscription groups of the catalog are named \(group): "
                        + KnownProducts.list(meant.compactMap(\.identifier).sorted())
                        + "; ask about one of these"
            )
        }
    }

    private static func list(_ names: [String]) -> String {
        names.prefix(namedMax).joined(separator: ", ")
            + (names.count > namedMax ? " and \(names.count - namedMax) more" : "")
    }
}
