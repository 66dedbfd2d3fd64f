import Projections

/// The parts of Xcode's StoreKit configuration file, formats 1 to 5, that define what is sold
/// (Apple's data: StoreKit configuration); unknown members are ignored.
struct StoreKitConfiguration: Decodable {
    let version: Version?
    let settings: Settings?
    let products: [Product]?
    let nonRenewingSubscriptions: [Product]?
    let subscriptionGroups: [Group]?

    struct Version: Decodable {
        let major: Int
        let minor: Int?
    }

    struct Settings: Decodable {
        let locale: String?
        let storefront: String?

        enum CodingKeys: String, CodingKey {
            case locale = "_locale"
            case storefront = "_storefront"
        }
    }

    struct Localization: Decodable {
        let displayName: String?
        let locale: String?
    }

    struct Product: Decodable {
        let productID: LooseText
        let type: String?
        let displayPrice: LooseText?
        let familyShareable: Bool?
        let referenceName: String?
        let localizations: [Localization]?
    }

    struct Group: Decodable {
        let id: LooseText
        let name: String?
        let subscriptions: [Subscription]?
    }

    struct Subscription: Decodable {
        let productID: LooseText
        let type: String?
        let bundledSubscriptions: [Bundled]?
        let subscriptionGroupID: LooseText?
        let groupNumber: Int
        let recurringSubscriptionPeriod: String
        let displayPrice: LooseText?
        let familyShareable: Bool?
        let referenceName: String?
        let localizations: [Localization]?
        let billingPlans: [BillingPlan]?
        /// Formats 1 to 4.
        let introductoryOffer: Offer?
        /// Format 5.
        let introductoryOffers: [Offer]?
        /// Promotional offers.
        let adHocOffers: [Offer]?
        let codeOffers: [Offer]?
        let winbackOffers: [Offer]?
    }

    /// A subscription in a bundle or suite.
    struct Bundled: Decodable {
        let productID: LooseText
    }

    struct BillingPlan: Decodable {
        let billingPlanType: String
        let displayPrice: LooseText?
        let commitmentDisplayPrice: LooseText?
        let isEnabled: Bool?
    }

    struct Offer: Decodable {
        let offerID: LooseText?
        let referenceName: String?
        let paymentMode: String?
        let subscriptionPeriod: String?
        let numberOfPeriods: Int?
        let displayPrice: LooseText?
    }
}

extension StoreKitConfiguration {
    /// The newest format that this program knows.
    static let newestFormat = 5

    /// Such as `storekit 4.0`; the oldest files name none.
    var formatName: String {
        guard let version else { return "storekit" }
        return "storekit \(version.major).\(version.minor ?? 0)"
    }

    func add(to builder: inout CatalogBuilder) throws(CatalogError) {
        if let version, version.major > StoreKitConfiguration.newestFormat {
            builder.warn(
                .newerFormat,
                "it has format \(version.major), but the newest known format is "
                    + "\(Self.newestFormat); its new parts are ignored"
            )
        }
        for (number, group) in (subscriptionGroups ?? []).enumerated() {
            for (index, subscription) in (group.subscriptions ?? []).enumerated() {
                let place = "subscriptionGroups[\(number)].subscriptions[\(index)]"
                let read = try self.subscription(subscription, in: group, at: place, &builder)
                try builder.add(read, at: place)
            }
        }
        try add(products, "products", type: "Consumable", to: &builder)
        try add(
            nonRenewingSubscriptions,
            "nonRenewingSubscriptions",
            type: "NonRenewingSubscription",
            to: &builder
        )
    }

    private func add(
        _ products: [Product]?,
        _ list: String,
        type: String,
        to builder: inout CatalogBuilder
    ) throws(CatalogError) {
        for (index, product) in (products ?? []).enumerated() {
            try builder.add(
                ProductCatalog.OtherProduct(
                    productId: product.productID.text,
                    type: Self.typeNames[product.type ?? type] ?? product.type ?? type,
                    referenceName: product.referenceName,
                    displayName: displayName(product.localizations),
                    isFamilyShareable: product.familyShareable ?? false,
                    prices: price(product.displayPrice).map { [$0] } ?? []
                ),
                at: "\(list)[\(index)]"
            )
        }
    }

    /// Xcode's words, and the words of transactions (Apple's data: transactions).
    private static let typeNames = [
        "Consumable": "Consumable", "NonConsumable": "Non-Consumable",
        "NonRenewingSubscription": "Non-Renewing Subscription",
    ]

    private func subscription(
        _ read: Subscription,
        in group: Group,
        at place: String,
        _ builder: inout CatalogBuilder
    ) throws(CatalogError) -> ProductCatalog.Subscription {
        let id = read.productID.text
        guard read.groupNumber >= 1 else {
            throw CatalogError(
                .malformed,
                "\(place).groupNumber of \(id) is \(read.groupNumber); a level from 1 on is expected"
            )
        }
        guard let duration = SubscriptionPeriod(read.recurringSubscriptionPeriod) else {
            throw CatalogError(
                .malformed,
                "\(place).recurringSubscriptionPeriod of \(id) is not a period; expected P1W, P1M, "
                    + "P2M, P3M, P6M or P1Y"
            )
        }
        // A hand-written file may omit the group; in any case the containing group counts.
        if let named = read.subscriptionGroupID?.text, named != group.id.text {
            builder.warn(
                .groupMismatch,
                "\(id) names the group \(named) but is listed under \(group.id.text), which is used"
            )
        }

        return ProductCatalog.Subscription(
            productId: id,
            subscriptionGroupIdentifier: group.id.text,
            groupName: group.name,
            level: read.groupNumber,
            duration: duration,
            contents: contents(read),
            referenceName: read.referenceName,
            displayName: displayName(read.localizations),
            isFamilyShareable: read.familyShareable ?? false,
            prices: price(read.displayPrice).map { [$0] } ?? [],
            billingPlans: (read.billingPlans ?? []).filter { $0.isEnabled ?? true }.map {
                ProductCatalog.BillingPlan(
                    type: $0.billingPlanType,
                    price: price($0.displayPrice),
                    commitmentPrice: price($0.commitmentDisplayPrice)
                )
            },
            offers: offers(read, &builder)
        )
    }

    // Xcode's words for the types of StoreKit's Product.ProductType. They are not confirmed: to
    // change one, change one line here (Apple's data: bundles).
    private static let bundleType = "SubscriptionBundle"
    private static let suiteType = "SubscriptionSuite"

    private func contents(_ read: Subscription) -> ProductCatalog.Contents {
        let ids = (read.bundledSubscriptions ?? []).map(\.productID.text)
        return switch read.type {
        case Self.bundleType: .bundle(ids)
        case Self.suiteType: .suite(ids)
        default: .itself
        }
    }

    private func offers(
        _ read: Subscription,
        _ builder: inout CatalogBuilder
    ) -> [CatalogOffer] {
        let lists: [(CatalogOffer.Kind, [Offer])] = [
            (.introductory, [read.introductoryOffer].compactMap { $0 }),
            (.introductory, read.introductoryOffers ?? []),
            (.promotional, read.adHocOffers ?? []), (.code, read.codeOffers ?? []),
            (.winBack, read.winbackOffers ?? []),
        ]
        var offers: [CatalogOffer] = []
        for (kind, list) in lists {
            for read in list.map({ (id: read.productID.text, offer: $0) }) {
                if let offer = offer(read.offer, kind) {
                    offers.append(offer)
                } else {
                    builder.warn(
                        .offerLeftOut,
                        "a \(kind.rawValue) offer of \(read.id) is left out: expected a "
                            + "paymentMode, a subscriptionPeriod such as P1M, and a "
                            + "numberOfPeriods from 1 on where there is one"
                    )
                }
            }
        }
        return offers
    }

    private func offer(_ read: Offer, _ kind: CatalogOffer.Kind) -> CatalogOffer? {
        guard let mode = read.paymentMode,
            let period = read.subscriptionPeriod.flatMap({ SubscriptionPeriod($0) }),
            (read.numberOfPeriods ?? 1) >= 1
        else { return nil }
        let paymentMode = CatalogOffer.PaymentMode(rawValue: Self.modeWords[mode] ?? mode)
        // A transaction identifies an offer code's offer by its reference name (Apple's data:
        // transactions).
        let names =
            kind == .code
            ? [read.referenceName, read.offerID?.ifAny] : [read.offerID?.ifAny, read.referenceName]
        return CatalogOffer(
            kind: kind,
            identifier: kind == .introductory ? nil : names.compactMap { $0 }.first,
            paymentMode: paymentMode,
            period: period,
            numberOfPeriods: read.numberOfPeriods ?? 1,
            price: paymentMode == .freeTrial ? nil : price(read.displayPrice)
        )
    }

    private static let modeWords = [
        "free": "FREE_TRIAL", "payAsYouGo": "PAY_AS_YOU_GO", "payUpFront": "PAY_UP_FRONT",
    ]

    private func price(_ text: LooseText?) -> CatalogPrice? {
        // The file names the store, but never the currency.
        text?.ifAny.map {
            CatalogPrice(storefront: settings?.storefront, currency: nil, text: $0)
        }
    }

    private func displayName(_ localizations: [Localization]?) -> String? {
        let all = localizations ?? []
        let chosen = all.first { $0.locale != nil && $0.locale == settings?.locale } ?? all.first
        return chosen?.displayName.flatMap { $0.isEmpty ? nil : $0 }
    }
}
