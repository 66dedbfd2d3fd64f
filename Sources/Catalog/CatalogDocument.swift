public import Events
import Foundation
public import Projections

/// A catalog as normalised JSON: the stored form of a version, and the output of `catalog show`.
///
/// Uses Apple's names where they exist. Members without a value are omitted; unknown members are
/// ignored, because later versions may add some.
public struct CatalogDocument: Codable, Sendable {
    /// By product id in UTF-8 bytes.
    public let subscriptions: [Subscription]
    /// By product id in UTF-8 bytes.
    public let products: [Product]

    /// A price in one store.
    public struct Price: Codable, Sendable {
        let storefront: String?
        let currency: String?
        let displayPrice: String
    }

    /// An offer on a subscription.
    public struct Offer: Codable, Sendable {
        let kind: String
        let offerIdentifier: String?
        let offerDiscountType: String
        let offerPeriod: String
        let numberOfPeriods: Int
        let price: Price?
    }

    /// A way to pay for a period.
    public struct BillingPlan: Codable, Sendable {
        let billingPlanType: String
        let price: Price?
        let commitmentPrice: Price?
    }

    /// A subscription product.
    public struct Subscription: Codable, Sendable {
        let productId: String
        let subscriptionGroupIdentifier: String
        let groupName: String?
        let level: Int
        let duration: String
        /// `bundle` or `suite`; nil for any other subscription.
        let kind: String?
        /// The products of the bundle or suite; nil for any other subscription.
        let bundledProductIds: [String]?
        let referenceName: String?
        let displayName: String?
        let familyShareable: Bool
        let prices: [Price]
        let billingPlans: [BillingPlan]
        let offers: [Offer]
    }

    /// A product of another type.
    public struct Product: Codable, Sendable {
        let productId: String
        let type: String
        let referenceName: String?
        let displayName: String?
        let familyShareable: Bool
        let prices: [Price]
    }
}

extension CatalogDocument {
    /// The document of a catalog, without its number and instant.
    public init(_ catalog: ProductCatalog) {
        subscriptions = catalog.subscriptions.map(Subscription.init)
        products = catalog.otherProducts.map(Product.init)
    }

    /// Its JSON in UTF-8: members sorted, so equal catalogs have equal bytes.
    public func bytes() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return [UInt8](try encoder.encode(self))
    }

    /// The catalog that is stored as these bytes.
    ///
    /// - Throws: `unreadableVersion`.
    public static func catalog(
        _ version: Int,
        effectiveFrom: Instant,
        body: [UInt8]
    ) throws(CatalogError) -> ProductCatalog {
        do {
            let document = try JSONDecoder().decode(CatalogDocument.self, from: Data(body))
            return ProductCatalog(
                version: version,
                effectiveFrom: effectiveFrom,
                subscriptions: try document.subscriptions.map { try $0.value() },
                otherProducts: document.products.map(\.value)
            )
        } catch {
            throw CatalogError(
                .unreadableVersion,
                "version \(version) of the catalog cannot be read back. If `subledger verify` "
                    + "reports that no commit accounts for it, `subledger repair` removes it. "
                    + "Otherwise another subledger wrote it: use that one, or import the file again "
                    + "as a new version"
            )
        }
    }

    /// A period or an offer kind that this program would not have written.
    private struct Unexpected: Error {}

    private static func period(_ text: String) throws -> SubscriptionPeriod {
        guard let period = SubscriptionPeriod(text) else { throw Unexpected() }
        return period
    }

    fileprivate static func value(_ offer: Offer) throws -> CatalogOffer {
        guard let kind = CatalogOffer.Kind(rawValue: offer.kind) else { throw Unexpected() }
        return CatalogOffer(
            kind: kind,
            identifier: offer.offerIdentifier,
            paymentMode: CatalogOffer.PaymentMode(word: offer.offerDiscountType),
            period: try period(offer.offerPeriod),
            numberOfPeriods: offer.numberOfPeriods,
            price: offer.price?.value
        )
    }

    private static func contents(
        _ product: Subscription
    ) throws -> ProductCatalog.Contents {
        let ids = product.bundledProductIds ?? []
        switch product.kind {
        case nil: return .itself
        case "bundle": return .bundle(ids)
        case "suite": return .suite(ids)
        default: throw Unexpected()
        }
    }

    fileprivate static func value(
        _ product: Subscription
    ) throws -> ProductCatalog.Subscription {
        ProductCatalog.Subscription(
            productId: product.productId,
            subscriptionGroupIdentifier: product.subscriptionGroupIdentifier,
            groupName: product.groupName,
            level: product.level,
            duration: try period(product.duration),
            contents: try contents(product),
            referenceName: product.referenceName,
            displayName: product.displayName,
            isFamilyShareable: product.familyShareable,
            prices: product.prices.map(\.value),
            billingPlans: product.billingPlans.map {
                ProductCatalog.BillingPlan(
                    type: $0.billingPlanType,
                    price: $0.price?.value,
                    commitmentPrice: $0.commitmentPrice?.value
                )
            },
            offers: try product.offers.map(value)
        )
    }
}

extension CatalogDocument.Price {
    init(_ price: CatalogPrice) {
        self.init(
            storefront: price.storefront,
            currency: price.currency,
            displayPrice: price.text
        )
    }

    var value: CatalogPrice {
        CatalogPrice(storefront: storefront, currency: currency, text: displayPrice)
    }
}

extension CatalogDocument.Subscription {
    init(_ product: ProductCatalog.Subscription) {
        self.init(
            productId: product.productId,
            subscriptionGroupIdentifier: product.subscriptionGroupIdentifier,
            groupName: product.groupName,
            level: product.level,
            duration: "\(product.duration)",
            kind: product.contents.word,
            bundledProductIds: product.contents.word.map { _ in product.contents.productIds },
            referenceName: product.referenceName,
            displayName: product.displayName,
            familyShareable: product.isFamilyShareable,
            prices: product.prices.map(CatalogDocument.Price.init),
            billingPlans: product.billingPlans.map {
                CatalogDocument.BillingPlan(
                    billingPlanType: $0.type,
                    price: $0.price.map(CatalogDocument.Price.init),
                    commitmentPrice: $0.commitmentPrice.map(CatalogDocument.Price.init)
                )
            },
            offers: product.offers.map {
                CatalogDocument.Offer(
                    kind: $0.kind.rawValue,
                    offerIdentifier: $0.identifier,
                    offerDiscountType: $0.paymentMode.word,
                    offerPeriod: "\($0.period)",
                    numberOfPeriods: $0.numberOfPeriods,
                    price: $0.price.map(CatalogDocument.Price.init)
                )
            }
        )
    }

    fileprivate func value() throws -> ProductCatalog.Subscription {
        try CatalogDocument.value(self)
    }
}

extension ProductCatalog.Contents {
    /// The word of the document; nil if it is neither a bundle nor a suite.
    fileprivate var word: String? {
        switch self {
        case .itself: nil
        case .bundle: "bundle"
        case .suite: "suite"
        }
    }
}

extension CatalogDocument.Product {
    init(_ product: ProductCatalog.OtherProduct) {
        self.init(
            productId: product.productId,
            type: product.type,
            referenceName: product.referenceName,
            displayName: product.displayName,
            familyShareable: product.isFamilyShareable,
            prices: product.prices.map(CatalogDocument.Price.init)
        )
    }

    var value: ProductCatalog.OtherProduct {
        ProductCatalog.OtherProduct(
            productId: productId,
            type: type,
            referenceName: referenceName,
            displayName: displayName,
            isFamilyShareable: familyShareable,
            prices: prices.map(\.value)
        )
    }
}
