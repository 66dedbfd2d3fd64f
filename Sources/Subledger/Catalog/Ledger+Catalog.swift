internal import AppStore
public import Catalog
public import EventLog
public import Events
public import Projections
internal import Synchronization

extension Ledger {
    /// Every version of the product catalog that was imported by then; `.none` where none was.
    ///
    /// - Throws: `EventLogError`; `CatalogError` where a version cannot be read back.
    public func catalogs(knownAt: KnownAt = .latest) async throws -> CatalogHistory {
        try await catalogStore.history(knownAt: knownAt)
    }
}

/// The product catalog of a ledger: versions in, history out.
public struct CatalogStore: Sendable {
    private let log: EventLog
    private let read = ReadVersions()

    /// The catalog beside a log.
    public init(log: EventLog) {
        self.log = log
    }

    /// Every version that was imported by then, as folds need them; `.none` where there is none.
    ///
    /// Offsets count as the instant at which the newest commit they name was made.
    ///
    /// - Throws: `EventLogError`; `CatalogError` where a version cannot be read back.
    public func history(knownAt: KnownAt = .latest) async throws -> CatalogHistory {
        let versions = try await versions()
        guard let instant = try await log.recordingBound(of: knownAt) else {
            return CatalogHistory(versions.map(\.catalog))
        }
        return CatalogHistory(
            versions.filter { $0.record.recordedAt <= instant }.map(\.catalog)
        )
    }

    /// A version, read.
    public struct Version: Sendable {
        /// How it is kept.
        public let record: CatalogVersion
        /// What it says.
        public let catalog: ProductCatalog

        init(_ record: CatalogVersion) throws(CatalogError) {
            self.record = record
            catalog = try CatalogDocument.catalog(
                record.version,
                effectiveFrom: record.effectiveFrom,
                body: record.body
            )
        }
    }

    /// What an import came to.
    public struct Import: Sendable {
        /// The version that says it; in a dry run the one it would be.
        public let version: Version
        /// Whether it was added, or would be; false where the newest version says the same.
        public let isAdded: Bool
        /// What is said otherwise than in the version imported before; empty where nothing was
        /// added.
        public let difference: CatalogDifference
        /// The version imported before; nil for the first.
        public let previous: Version?
    }

    /// Every version, by number.
    ///
    /// - Throws: `EventLogError`; `CatalogError` where one cannot be read back.
    public func versions() async throws -> [Version] {
        let known = read.versions.withLock { $0 }
        let records = try await log.catalogs(havingRead: known.map(\.record))
        let versions = try records.map { record in
            try known.first { $0.record == record } ?? Version(record)
        }
        read.versions.withLock { $0 = versions }
        return versions
    }

    /// Adds what a file says as the next version, unless the newest one says it already.
    ///
    /// - Parameters:
    ///   - content: What was read.
    ///   - effectiveFrom: The first instant it holds for; nil for `recordedAt`, and then only if it
    ///     differs from the newest version.
    ///   - source: The file it was read from.
    ///   - recordedAt: Our clock.
    ///   - isDryRun: Say what would happen, and add nothing.
    /// - Returns: The version that says it, and what is new in it.
    /// - Throws: `EventLogError`; `CatalogError` where the newest version cannot be read back.
    public func add(
        _ content: CatalogContent,
        effectiveFrom: Instant?,
        source: String,
        recordedAt: Instant,
        isDryRun: Bool = false
    ) async throws -> Import {
        let known = try await log.catalogs()
        let body = try CatalogDocument(content.version(0, effectiveFrom: recordedAt)).bytes()
        let outcome: CatalogOutcome
        if isDryRun {
            outcome = CatalogOutcome.expected(
                of: body,
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
        return try CatalogStore.summary(of: outcome, known)
    }

    private static func summary(
        of outcome: CatalogOutcome,
        _ known: [CatalogVersion]
    ) throws -> Import {
        let version = try Version(outcome.version)
        guard case .added = outcome else {
            return Import(
                version: version,
                isAdded: false,
                difference: CatalogDifference(from: version.catalog, to: version.catalog),
                previous: nil
            )
        }
        // Another import may have come between; then its version is not among those known.
        let previous = try known.last { $0.version < version.record.version }.map(Version.init)
        return Import(
            version: version,
            isAdded: true,
            difference: CatalogDifference(from: previous?.catalog, to: version.catalog),
            previous: previous
        )
    }
}

/// The versions as they were read last: every question needs them, and a version does not change.
private final class ReadVersions: Sendable {
    let versions = Mutex<[CatalogStore.Version]>([])
}
