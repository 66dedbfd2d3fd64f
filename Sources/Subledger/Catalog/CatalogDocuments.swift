public import Catalog
public import Events
public import Projections

/// A version of the catalog, without its content.
public struct CatalogVersionDocument: Codable, Hashable, Sendable {
    /// Its number.
    public let version: Int
    /// The first instant at which it is in force.
    public let effectiveFrom: Instant
    /// When it was imported, on the ledger's clock.
    public let recordedAt: Instant
    /// The file it was read from.
    public let source: String
    /// SHA-256 of its content, in hexadecimal.
    public let digest: String
    /// The number of subscriptions in it.
    public let subscriptions: Int
    /// The number of other products in it.
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

/// A version of the catalog, with its content.
public struct CatalogShowDocument: Codable, Sendable {
    /// Its number.
    public let version: Int
    /// The first instant at which it is in force.
    public let effectiveFrom: Instant
    /// When it was imported, on the ledger's clock.
    public let recordedAt: Instant
    /// The file it was read from.
    public let source: String
    /// SHA-256 of its content, in hexadecimal.
    public let digest: String
    /// Its content.
    public let catalog: CatalogDocument
    /// How it classifies each change of plan.
    public let changes: [PlanChangeMatrix.Change]

    /// The document of a version.
    public init(_ version: CatalogStore.Version) {
        self.version = version.record.version
        effectiveFrom = version.record.effectiveFrom
        recordedAt = version.record.recordedAt
        source = version.record.source
        digest = version.record.digest.hex
        catalog = CatalogDocument(version.catalog)
        changes = PlanChangeMatrix(version.catalog).changes
    }
}

/// How one version of the catalog differs from another.
public struct CatalogDifferenceDocument: Codable, Hashable, Sendable {
    /// The older version; nil if there was none.
    public let from: Int?
    /// The newer version.
    public let to: Int
    /// Products that are new.
    public let added: [String]
    /// Products that are gone.
    public let removed: [String]
    /// Products that differ.
    public let changed: [CatalogDifference.Changed]
    /// Entitlements that differ.
    public let entitlements: [CatalogDifference.Field]

    /// The document of a difference.
    public init(_ difference: CatalogDifference, from: Int?, to: Int) {
        self.from = from
        self.to = to
        added = difference.added
        removed = difference.removed
        changed = difference.changed
        entitlements = difference.entitlements
    }
}

/// The result of an import of a catalog.
public struct CatalogImportDocument: Codable, Hashable, Sendable {
    /// The version with this content; in a dry run, the version it would become.
    public let version: Int
    /// Whether it was added, or would be.
    public let added: Bool
    /// Whether this was a dry run, which changes nothing.
    public let dryRun: Bool
    /// The format of the file.
    public let format: String
    /// The first instant at which it is in force.
    public let effectiveFrom: Instant
    /// When it was imported, on the ledger's clock.
    public let recordedAt: Instant
    /// SHA-256 of its content, in hexadecimal.
    public let digest: String
    /// The number of subscriptions in it.
    public let subscriptions: Int
    /// The number of other products in it.
    public let products: Int
    /// Warnings about the file for the operator.
    public let warnings: [Warning]
    /// How it differs from the previous version.
    public let difference: CatalogDifferenceDocument
    /// How it classifies each change of plan.
    public let changes: [PlanChangeMatrix.Change]

    /// A warning about a file for the operator.
    public struct Warning: Codable, Hashable, Sendable {
        /// The machine-readable code of the warning.
        public let code: String
        /// The warning as text.
        public let message: String
    }

    /// The document of an import.
    public init(_ result: CatalogStore.Import, isDryRun: Bool) {
        let record = result.version.record
        version = record.version
        added = result.isAdded
        dryRun = isDryRun
        format = result.content.format
        effectiveFrom = record.effectiveFrom
        recordedAt = record.recordedAt
        digest = record.digest.hex
        subscriptions = result.version.catalog.subscriptions.count
        products = result.version.catalog.otherProducts.count
        warnings = result.content.warnings.map {
            Warning(code: $0.code.rawValue, message: $0.message)
        }
        difference = CatalogDifferenceDocument(
            result.difference,
            from: result.previous?.record.version,
            to: record.version
        )
        changes = PlanChangeMatrix(result.version.catalog).changes
    }
}
