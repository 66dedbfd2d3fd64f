internal import AppStore
package import Catalog
public import EventLog
public import Events
public import Projections
internal import Synchronization

extension Ledger {
    /// Every version of the product catalog imported by then; `.none` if there was none.
    ///
    /// - Throws: `EventLogError`; `CatalogError` if a version cannot be read back.
    public func catalogs(knownAt: KnownAt = .latest) async throws -> CatalogHistory {
        try await catalogStore.history(knownAt: knownAt)
    }

    /// Imports a file of products or entitlements, as `subledger catalog import` does.
    ///
    /// What the file does not define, products or entitlements, stays as it is. If the newest version
    /// already has its content, nothing is added.
    ///
    /// - Parameters:
    ///   - file: A `.storekit` file of Xcode, a saved response of the App Store Connect API, or an
    ///     object with `entitlements`; at most 16 MiB.
    ///   - effectiveFrom: The first instant at which it is in force; nil for now.
    ///   - source: The name of the file, for the record.
    /// - Returns: The number of the version that has its content, from 1.
    /// - Throws: `CatalogError` if it is not a catalog, or the newest version cannot be read back;
    ///   `EventLogError`.
    @discardableResult
    public func importCatalog(
        _ file: [UInt8],
        effectiveFrom: Instant? = nil,
        source: String
    ) async throws -> Int64 {
        let added = try await catalogStore.add(
            try CatalogFile.read(file),
            effectiveFrom: effectiveFrom,
            source: source,
            recordedAt: .systemClock()
        )
        return Int64(added.version.record.version)
    }
}

/// The product catalog of a ledger: versions in, history out.
package struct CatalogStore: Sendable {
    private let log: EventLog
    private let read = ReadVersions()

    /// The catalog stored next to a log.
    package init(log: EventLog) {
        self.log = log
    }

    /// Every version imported by then, as folds need them; `.none` if there is none.
    ///
    /// Offsets stand for the instant of the newest commit that they name.
    ///
    /// - Throws: `EventLogError`; `CatalogError` if a version cannot be read back.
    package func history(knownAt: KnownAt = .latest) async throws -> CatalogHistory {
        let versions = try await versions()
        guard let instant = try await log.recordingBound(of: knownAt) else {
            return CatalogHistory(versions.map(\.catalog))
        }
        return CatalogHistory(
            versions.filter { $0.record.recordedAt <= instant }.map(\.catalog)
        )
    }

    /// A version, parsed.
    package struct Version: Sendable {
        /// The stored record.
        package let record: CatalogVersion
        /// Its content.
        package let catalog: ProductCatalog

        init(_ record: CatalogVersion) throws(CatalogError) {
            self.record = record
            catalog = try CatalogDocument.catalog(
                record.version,
                effectiveFrom: record.effectiveFrom,
                body: record.body
            )
        }
    }

    /// The result of an import.
    package struct Import: Sendable {
        /// The version with this content; in a dry run, the version it would become.
        package let version: Version
        /// Whether it was added, or would be; false if the newest version has the same content.
        package let isAdded: Bool
        /// How it differs from the version imported before; empty if nothing was added.
        package let difference: CatalogDifference
        /// The version imported before; nil for the first.
        package let previous: Version?
        /// What was read, with what it left as it was.
        package let content: CatalogContent
    }

    /// Every version, by number.
    ///
    /// - Throws: `EventLogError`; `CatalogError` if one cannot be read back.
    package func versions() async throws -> [Version] {
        let known = read.versions.withLock { $0 }
        let records = try await log.catalogs(havingRead: known.map(\.record))
        let versions = try records.map { record in
            try known.first { $0.record == record } ?? Version(record)
        }
        read.versions.withLock { $0 = versions }
        return versions
    }

    /// Adds the content of a file as the next version, unless the newest version already has it.
    ///
    /// What the file does not define, products or entitlements, stays as it is.
    ///
    /// - Parameters:
    ///   - content: What was read.
    ///   - effectiveFrom: The first instant at which it is in force; nil for `recordedAt`, and then
    ///     only if it differs from the newest version.
    ///   - source: The file it was read from.
    ///   - recordedAt: Our clock.
    ///   - isDryRun: Report what would happen, and add nothing.
    /// - Returns: The version with this content, and what is new in it.
    /// - Throws: `EventLogError`; `CatalogError` if the newest version cannot be read back.
    package func add(
        _ content: CatalogContent,
        effectiveFrom: Instant?,
        source: String,
        recordedAt: Instant,
        isDryRun: Bool = false
    ) async throws -> Import {
        let known = try await log.catalogs()
        var complete = content
        func body(after newest: CatalogVersion?) throws -> [UInt8] {
            complete = content.completed(by: try newest.map { try Version($0).catalog })
            return try CatalogDocument(complete.version(0, effectiveFrom: recordedAt)).bytes()
        }

        let outcome: CatalogOutcome
        if isDryRun {
            outcome = CatalogOutcome.expected(
                of: try body(after: known.last),
                after: known.last,
                effectiveFrom: effectiveFrom,
                source: source,
                recordedAt: recordedAt
            )
        } else {
            outcome = try await log.addCatalog(
                body,
                effectiveFrom: effectiveFrom,
                source: source,
                recordedAt: recordedAt
            ) { version in
                CatalogStatement(
                    version: version.version,
                    effectiveFrom: version.effectiveFrom,
                    bodyDigest: version.digest,
                    fileName: version.source,
                    importedAt: recordedAt
                ).verified(source: Ledger.operatorSource, receivedAt: recordedAt)
            }
        }
        return try CatalogStore.summary(of: outcome, known, complete)
    }

    private static func summary(
        of outcome: CatalogOutcome,
        _ known: [CatalogVersion],
        _ content: CatalogContent
    ) throws -> Import {
        let version = try Version(outcome.version)
        guard case .added = outcome else {
            return Import(
                version: version,
                isAdded: false,
                difference: CatalogDifference(from: version.catalog, to: version.catalog),
                previous: nil,
                content: content
            )
        }
        // Another import may have added a version in between, which is not among those known.
        let previous = try known.last { $0.version < version.record.version }.map(Version.init)
        return Import(
            version: version,
            isAdded: true,
            difference: CatalogDifference(from: previous?.catalog, to: version.catalog),
            previous: previous,
            content: content
        )
    }
}

/// The versions read so far: every question needs them, and a version does not change.
private final class ReadVersions: Sendable {
    let versions = Mutex<[CatalogStore.Version]>([])
}
