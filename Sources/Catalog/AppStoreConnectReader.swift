import Projections

/// Builds a catalog from responses of the App Store Connect API.
///
/// Prices are not read: they are dated, separate resources for each of 175 stores.
struct AppStoreConnectReader {
    private typealias Resource = AppStoreConnectResponse.Resource
    private typealias Identifier = AppStoreConnectResponse.Relationship.Identifier

    private let responses: [AppStoreConnectResponse]
    private var resources: [Identifier: Resource] = [:]
    /// The group of a subscription, if the group's own list or a link names it.
    private var groupOfSubscription: [String: String] = [:]
    private var order: [Resource] = []

    init(_ responses: [AppStoreConnectResponse]) {
        self.responses = responses
        for response in responses {
            for resource in response.data.resources + (response.included ?? []) {
                let identifier = Identifier(type: resource.type, id: resource.id)
                // A resource may occur in several pages.
                guard resources.updateValue(resource, forKey: identifier) == nil else { continue }
                order.append(resource)
            }
            notice(response)
        }
    }

    func add(to builder: inout CatalogBuilder) throws(CatalogError) {
        let known = ["subscriptionGroups", "subscriptions", "inAppPurchases"]
        guard
            responses.allSatisfy({ $0.data.resources.isEmpty })
                || order.contains(where: { known.contains($0.type) })
        else {
            throw CatalogError(
                .notACatalog,
                "it is another kind of response; expected that of "
                    + "/v1/apps/ID/subscriptionGroups?include=subscriptions"
            )
        }
        warnOfMissingPages(&builder)
        for resource in order {
            switch resource.type {
            case "subscriptions": try add(subscription: resource, to: &builder)
            case "inAppPurchases": try add(product: resource, to: &builder)
            default: break
            }
        }
    }

    private mutating func notice(_ response: AppStoreConnectResponse) {
        for group in response.data.resources + (response.included ?? [])
        where group.type == "subscriptionGroups" {
            for member in group.relationships?.subscriptions?.identifiers ?? [] {
                groupOfSubscription[member.id] = group.id
            }
        }
        // For …/v1/subscriptionGroups/21400001/subscriptions, only the link names the group.
        let parts = (response.links?.own ?? "").split { $0 == "/" || $0 == "?" }
        guard let index = parts.firstIndex(of: "subscriptionGroups"), index + 2 < parts.count,
            parts[index + 2] == "subscriptions"
        else { return }
        for member in response.data.resources where member.type == "subscriptions" {
            groupOfSubscription[member.id] = String(parts[index + 1])
        }
    }

    private func warnOfMissingPages(_ builder: inout CatalogBuilder) {
        if responses.last?.links?.next != nil {
            builder.warn(
                .incompleteResponse,
                "it is one page of several, so the others are missing. Save all pages and put them "
                    + "into one JSON array"
            )
        }
        for group in order where group.type == "subscriptionGroups" {
            guard let members = group.relationships?.subscriptions else { continue }
            let present = members.identifiers.filter { resources[$0] != nil }.count
            let total = max(members.total ?? 0, members.identifiers.count)
            guard present < total else { continue }
            builder.warn(
                .incompleteResponse,
                "the group \(group.id) has \(total) subscriptions, of which \(present) are here; "
                    + "ask for them with include=subscriptions&limit[subscriptions]=50"
            )
        }
    }

    private func add(
        subscription resource: Resource,
        to builder: inout CatalogBuilder
    ) throws(CatalogError) {
        let attributes = resource.attributes
        guard let productId = attributes?.productId, let level = attributes?.groupLevel,
            level >= 1, let group = group(of: resource),
            let duration = attributes?.subscriptionPeriod.flatMap(Self.period)
        else {
            let name = attributes?.productId ?? "the subscription \(resource.id)"
            builder.warn(
                .productLeftOut,
                "\(name) is left out (state \(attributes?.state ?? "not given")): a product needs "
                    + "productId, groupLevel from 1 on, subscriptionPeriod and its group"
            )
            return
        }

        try builder.add(
            ProductCatalog.Subscription(
                productId: productId,
                subscriptionGroupIdentifier: group,
                groupName: resources[Identifier(type: "subscriptionGroups", id: group)]?
                    .attributes?.referenceName,
                level: level,
                duration: duration,
                referenceName: attributes?.name,
                isFamilyShareable: attributes?.familySharable ?? false,
                offers: offers(of: resource, productId, &builder)
            ),
            at: "subscription \(resource.id)"
        )
    }

    private func add(
        product resource: Resource,
        to builder: inout CatalogBuilder
    ) throws(CatalogError) {
        guard let productId = resource.attributes?.productId else { return }
        let type = resource.attributes?.inAppPurchaseType ?? ""
        try builder.add(
            ProductCatalog.OtherProduct(
                productId: productId,
                type: Self.typeNames[type] ?? type,
                referenceName: resource.attributes?.name,
                displayName: nil,
                isFamilyShareable: resource.attributes?.familySharable ?? false,
                prices: []
            ),
            at: "in-app purchase \(resource.id)"
        )
    }

    private func group(of resource: Resource) -> String? {
        resource.relationships?.group?.identifiers.first?.id ?? groupOfSubscription[resource.id]
    }

    /// The included offers, each once: App Store Connect has one introductory offer per store.
    private func offers(
        of resource: Resource,
        _ productId: String,
        _ builder: inout CatalogBuilder
    ) -> [CatalogOffer] {
        let relationships = resource.relationships
        let lists: [(CatalogOffer.Kind, AppStoreConnectResponse.Relationship?)] = [
            (.introductory, relationships?.introductoryOffers),
            (.promotional, relationships?.promotionalOffers),
            (.code, relationships?.offerCodes), (.winBack, relationships?.winBackOffers),
        ]
        var offers: [CatalogOffer] = []
        for (kind, list) in lists {
            for identifier in list?.identifiers ?? [] {
                guard let included = resources[identifier] else { continue }
                guard let offer = Self.offer(included, kind) else {
                    builder.warn(
                        .offerLeftOut,
                        "the \(kind.rawValue) offer \(identifier.id) of \(productId) is left out: "
                            + "expected offerMode, duration and a number of periods from 1 on"
                    )
                    continue
                }
                if !offers.contains(offer) { offers.append(offer) }
            }
        }
        return offers
    }

    private static func offer(
        _ resource: Resource,
        _ kind: CatalogOffer.Kind
    ) -> CatalogOffer? {
        let attributes = resource.attributes
        let periods = attributes?.numberOfPeriods ?? attributes?.periodCount ?? 1
        guard let mode = attributes?.offerMode, periods >= 1,
            let period = attributes?.duration.flatMap(Self.period)
        else { return nil }
        let identifier: String? =
            switch kind {
            case .introductory: nil
            case .promotional: attributes?.offerCode
            case .code: attributes?.name
            case .winBack: attributes?.offerId
            }
        return CatalogOffer(
            kind: kind,
            identifier: identifier,
            paymentMode: CatalogOffer.PaymentMode(rawValue: mode),
            period: period,
            numberOfPeriods: periods,
            price: nil
        )
    }

    /// Converts App Store Connect's words for durations.
    private static func period(_ word: String) -> SubscriptionPeriod? {
        let words = [
            "THREE_DAYS": "P3D", "ONE_WEEK": "P1W", "TWO_WEEKS": "P2W", "ONE_MONTH": "P1M",
            "TWO_MONTHS": "P2M", "THREE_MONTHS": "P3M", "SIX_MONTHS": "P6M", "ONE_YEAR": "P1Y",
        ]
        return words[word].flatMap { SubscriptionPeriod($0) }
    }

    private static let typeNames = [
        "CONSUMABLE": "Consumable", "NON_CONSUMABLE": "Non-Consumable",
        "NON_RENEWING_SUBSCRIPTION": "Non-Renewing Subscription",
    ]
}
