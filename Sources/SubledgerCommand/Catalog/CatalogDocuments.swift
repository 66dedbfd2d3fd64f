import Catalog
import EventLog
import Events
import Projections
import Subledger

/// A version of the catalog in `catalog list --json`.
struct CatalogVersionLine: Encodable {
    let version: Int
    let effectiveFrom: Int64
    let recordedAt: Int64
    let source: String
    let digest: String
    let subscriptions: Int
    let products: Int

    init(_ version: CatalogStore.Version) {
        self.version = version.record.version
        effectiveFrom = version.record.effectiveFrom.milliseconds
        recordedAt = version.record.recordedAt.milliseconds
        source = version.record.source
        digest = version.record.digest.hex
        subscriptions = version.catalog.subscriptions.count
        products = version.catalog.otherProducts.count
    }
}

/// `catalog show --json`.
struct CatalogShowDocument: Encodable {
    let version: Int
    let effectiveFrom: Int64
    let recordedAt: Int64
    let source: String
    let digest: String
    let catalog: CatalogDocument
    let changes: [CatalogChangeLine]

    init(_ version: CatalogStore.Version) {
        self.version = version.record.version
        effectiveFrom = version.record.effectiveFrom.milliseconds
        recordedAt = version.record.recordedAt.milliseconds
        source = version.record.source
        digest = version.record.digest.hex
        catalog = CatalogDocument(version.catalog)
        changes = CatalogChangeLine.lines(of: version.catalog)
    }
}

/// `catalog diff --json`.
struct CatalogDifferenceDocument: Encodable {
    let from: Int?
    let to: Int
    let added: [String]
    let removed: [String]
    let changed: [Changed]

    struct Changed: Encodable {
        let productId: String
        let fields: [Field]
    }

    struct Field: Encodable {
        let name: String
        let old: String?
        let new: String?
    }

    init(_ difference: CatalogDifference, from: Int?, to: Int) {
        self.from = from
        self.to = to
        added = difference.added
        removed = difference.removed
        changed = difference.changed.map { product in
            Changed(
                productId: product.productId,
                fields: product.fields.map { Field(name: $0.name, old: $0.old, new: $0.new) }
            )
        }
    }
}

/// A change of plan in JSON: what it is, and when Apple carries it out.
struct CatalogChangeLine: Encodable {
    let subscriptionGroupIdentifier: String
    let from: String
    let to: String
    let `class`: String
    let sameDuration: Bool
    let takesEffect: String

    /// All changes within the groups of a catalog.
    static func lines(of catalog: ProductCatalog) -> [CatalogChangeLine] {
        PlanChangeMatrix(catalog).groups.flatMap { group in
            group.changes.map { change in
                CatalogChangeLine(
                    subscriptionGroupIdentifier: group.subscriptionGroupIdentifier,
                    from: change.from,
                    to: change.to,
                    class: change.kind.rawValue,
                    sameDuration: change.sameDuration,
                    takesEffect: change.isImmediate ? "now" : "nextRenewal"
                )
            }
        }
    }
}

/// `catalog import --json`.
struct CatalogImportDocument: Encodable {
    let version: Int
    let added: Bool
    let dryRun: Bool
    let format: String
    let effectiveFrom: Int64
    let recordedAt: Int64
    let digest: String
    let subscriptions: Int
    let products: Int
    let warnings: [Warning]
    let difference: CatalogDifferenceDocument
    let changes: [CatalogChangeLine]

    struct Warning: Encodable {
        let code: String
        let message: String
    }

    init(_ result: CatalogStore.Import, _ content: CatalogContent, isDryRun: Bool) {
        let record = result.version.record
        version = record.version
        added = result.isAdded
        dryRun = isDryRun
        format = content.format
        effectiveFrom = record.effectiveFrom.milliseconds
        recordedAt = record.recordedAt.milliseconds
        digest = record.digest.hex
        subscriptions = result.version.catalog.subscriptions.count
        products = result.version.catalog.otherProducts.count
        warnings = content.warnings.map {
            Warning(code: $0.code.rawValue, message: $0.message)
        }
        difference = CatalogDifferenceDocument(
            result.difference,
            from: result.previous?.record.version,
            to: record.version
        )
        changes = CatalogChangeLine.lines(of: result.version.catalog)
    }
}
