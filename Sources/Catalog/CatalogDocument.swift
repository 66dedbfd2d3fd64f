public import Events
import Foundation
public import Projections

/// A catalog as normalised JSON: the stored form of a version, and the output of `catalog show`.
///
/// Uses Apple's names where they exist. Members without a value are omitted; unknown members are
/// ignored, because later versions may add some.
public struct CatalogDocument: Codable, Sendable {
    /// By product id in UTF-8 bytes.
    public let subscriptions: [ProductCatalog.Subscription]
    /// By product id in UTF-8 bytes.
    public let products: [ProductCatalog.OtherProduct]
    /// What grants each entitlement, by its name; nil if there is none, so that a version without
    /// entitlements has the bytes that earlier programs stored.
    public let entitlements: [String: EntitlementGrants]?

    /// The document of a catalog, without its number and instant.
    public init(_ catalog: ProductCatalog) {
        subscriptions = catalog.subscriptions
        products = catalog.otherProducts
        entitlements = catalog.entitlements.isEmpty ? nil : catalog.entitlements
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
                subscriptions: document.subscriptions,
                otherProducts: document.products,
                entitlements: document.entitlements ?? [:]
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
}
