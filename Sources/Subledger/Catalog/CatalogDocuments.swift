package import Catalog
package import Events
package import Projections

/// A version of the catalog, without its content.
package struct CatalogVersionDocument: Codable, Hashable, Sendable {
    /// Its number.
    package let version: Int
    /// The first instant at which it is in force.
    package let effectiveFrom: Instant
    /// When it was imported, on the ledger's clock.
    package let recordedAt: Instant
    /// The file it was read from.
    package let source: String
    /// SHA-256 of its content, in hexadecimal.
    package let digest: String
    /// The number of subscriptions in it.
    package let subscriptions: Int
    /// The number of other products in it.
    package let products: Int

    /// The document of a version.
    package init(_ version: CatalogStore.Version) {
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
package struct CatalogShowDocument: Codable, Sendable {
    /// Its number.
    package let version: Int
    /// The first instant at which it is in force.
    package let effectiveFrom: Instant
    /// When it was imported, on the ledger's clock.
    package let recordedAt: Instant
    /// The file it was read from.
    package let source: String
    /// SHA-256 of its content, in hexadecimal.
    package let digest: String
    /// Its content.
    package let catalog: CatalogDocument
    /// How it classifies each change of plan.
    package let changes: [PlanChangeMatrix.Change]

    /// The document of a version.
    package init(_ version: CatalogStore.Version) {
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
package struct CatalogDifferenceDocument: Codable, Hashable, Sendable {
    /// The older version; nil if there was none.
    package let from: Int?
    /// The newer version.
    package let to: Int
    /// Products that are new.
    package let added: [String]
    /// Products that are gone.
    package let removed: [String]
    /// Products that differ.
    package let changed: [CatalogDifference.Changed]
    /// Entitlements that differ.
    package let entitlements: [CatalogDifference.Field]

    /// The document of a difference.
    package init(_ difference: CatalogDifference, from: Int?, to: Int) {
        self.from = from
        self.to = to
        added = difference.added
        removed = difference.removed
        changed = difference.changed
        entitlements = difference.entitlements
    }
}

/// The result of an import of a catalog.
package struct CatalogImportDocument: Codable, Hashable, Sendable {
    /// The version with this content; in a dry run, the version it would become.
    package let version: Int
    /// Whether it was added, or would be.
    package let added: Bool
    /// Whether this was a dry run, which changes nothing.
    package let dryRun: Bool
    /// The format of the file.
    package let format: String
    /// The first instant at which it is in force.
    package let effectiveFrom: Instant
    /// When it was imported, on the ledger's clock.
    package let recordedAt: Instant
    /// SHA-256 of its content, in hexadecimal.
    package let digest: String
    /// The number of subscriptions in it.
    package let subscriptions: Int
    /// The number of other products in it.
    package let products: Int
    /// Warnings about the file for the operator.
    package let warnings: [Warning]
    /// How it differs from the previous version.
    package let difference: CatalogDifferenceDocument
    /// How it classifies each change of plan.
    package let changes: [PlanChangeMatrix.Change]

    /// A warning about a file for the operator.
    package struct Warning: Codable, Hashable, Sendable {
        /// The machine-readable code of the warning.
        package let code: String
        /// The warning as text.
        package let message: String
    }

    /// The document of an import.
    package init(_ result: CatalogStore.Import, isDryRun: Bool) {
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
