public import Catalog
public import Events
public import Projections

/// A version of the catalog, without what it says.
public struct CatalogVersionDocument: Codable, Hashable, Sendable {
    /// Its number.
    public let version: Int
    /// The first instant it holds for.
    public let effectiveFrom: Instant
    /// When it was imported, on the ledger's clock.
    public let recordedAt: Instant
    /// The file it was read from.
    public let source: String
    /// SHA-256 of what it says, in hexadecimal.
    public let digest: String
    /// How many subscriptions it has.
    public let subscriptions: Int
    /// How many other products it has.
    public let products: Int

    /// The document of a version.
    public init(_ version: CatalogStore.Version) {
        self.version = version.record.version
        effectiveFrom = version.record.effectiveFrom
        recordedAt = version.record.recordedAt
        source = version.record.source
        digest = version.record.digest.hex
        subscriptions = version.catalog.subscriptions.count
        products = version.catalog.otherProducts.count
    }
}

/// A version of the catalog, with what it says.
public struct CatalogShowDocument: Codable, Sendable {
    /// Its number.
    public let version: Int
    /// The first instant it holds for.
    public let effectiveFrom: Instant
    /// When it was imported, on the ledger's clock.
    public let recordedAt: Instant
    /// The file it was read from.
    public let source: String
    /// SHA-256 of what it says, in hexadecimal.
    public let digest: String
    /// What it says.
    public let catalog: CatalogDocument
    /// What each change of plan is by it.
    public let changes: [CatalogChangeDocument]

    /// The document of a version.
    public init(_ version: CatalogStore.Version) {
        self.version = version.record.version
        effectiveFrom = version.record.effectiveFrom
        recordedAt = version.record.recordedAt
        source = version.record.source
        digest = version.record.digest.hex
        catalog = CatalogDocument(version.catalog)
        changes = CatalogChangeDocument.all(of: version.catalog)
    }
}

/// How one version of the catalog differs from another.
public struct CatalogDifferenceDocument: Codable, Hashable, Sendable {
    /// The older version; nil where there was none.
    public let from: Int?
    /// The newer version.
    public let to: Int
    /// Products that are new.
    public let added: [String]
    /// Products that are gone.
    public let removed: [String]
    /// Products that are otherwise.
    public let changed: [Changed]

    /// A product that differs.
    public struct Changed: Codable, Hashable, Sendable {
        /// The product.
        public let productId: String
        /// What differs.
        public let fields: [Field]
    }

    /// A property that differs.
    public struct Field: Codable, Hashable, Sendable {
        /// Its name.
        public let name: String
        /// Its value before; nil for none.
        public let old: String?
        /// Its value after; nil for none.
        public let new: String?
    }

    /// The document of a difference.
    public init(_ difference: CatalogDifference, from: Int?, to: Int) {
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

/// A change of plan: what it is, and when Apple carries it out.
public struct CatalogChangeDocument: Codable, Hashable, Sendable {
    /// The group of both products.
    public let subscriptionGroupIdentifier: String
    /// The product before.
    public let from: String
    /// The product after.
    public let to: String
    /// `upgrade`, `downgrade` or `crossgrade`.
    public let `class`: String
    /// Whether the periods of both are of one length.
    public let sameDuration: Bool
    /// `now`, or `nextRenewal`.
    public let takesEffect: String

    /// All changes within the groups of a catalog.
    static func all(of catalog: ProductCatalog) -> [CatalogChangeDocument] {
        PlanChangeMatrix(catalog).groups.flatMap { group in
            group.changes.map { change in
                CatalogChangeDocument(
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

/// What an import of a catalog came to.
public struct CatalogImportDocument: Codable, Hashable, Sendable {
    /// The version that says it; in a dry run the one it would be.
    public let version: Int
    /// Whether it was added, or would be.
    public let added: Bool
    /// Whether nothing was done.
    public let dryRun: Bool
    /// What the file is.
    public let format: String
    /// The first instant it holds for.
    public let effectiveFrom: Instant
    /// When it was imported, on the ledger's clock.
    public let recordedAt: Instant
    /// SHA-256 of what it says, in hexadecimal.
    public let digest: String
    /// How many subscriptions it has.
    public let subscriptions: Int
    /// How many other products it has.
    public let products: Int
    /// What a person should know of the file.
    public let warnings: [Warning]
    /// How it differs from the previous version.
    public let difference: CatalogDifferenceDocument
    /// What each change of plan is by it.
    public let changes: [CatalogChangeDocument]

    /// What a person should know of a file.
    public struct Warning: Codable, Hashable, Sendable {
        /// What it is about, as a word of the machine.
        public let code: String
        /// What it is about.
        public let message: String
    }

    /// The document of an import.
    public init(_ result: CatalogStore.Import, _ content: CatalogContent, isDryRun: Bool) {
        let record = result.version.record
        version = record.version
        added = result.isAdded
        dryRun = isDryRun
        format = content.format
        effectiveFrom = record.effectiveFrom
        recordedAt = record.recordedAt
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
        changes = CatalogChangeDocument.all(of: result.version.catalog)
    }
}
