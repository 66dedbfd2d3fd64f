public import EventLog
public import Events
public import Postgres
public import Projections

/// Makes the tables of projections from the log, and keeps them up to date.
///
/// The tables of one rebuild live in a schema of their own, `projection_<n>`; what people read are
/// views in schema `projection`, which are pointed at new tables in one short transaction when
/// these are whole. Readers never see half a projection. `projection.ledger_projection` says what
/// every table holds.
public struct Projector: Sendable {
    let log: EventLog
    let settings: ConnectionSettings
    let projections: [any Projection]
    /// What folds may know now, asked for anew wherever something begins or goes on: a catalog
    /// may have been imported.
    let context: @Sendable () async throws -> FoldContext

    /// A projector for a log, writing to the same database.
    ///
    /// - Parameters:
    ///   - log: What is folded.
    ///   - settings: The log's database.
    ///   - projections: The folds there are.
    ///   - context: What folds may know besides the log: what the operator has decided, above all
    ///     what is sold. Asked for whenever it may have changed.
    public init(
        log: EventLog,
        settings: ConnectionSettings,
        projections: [any Projection] = allProjections + projectionsOnRequest,
        context: @escaping @Sendable () async throws -> FoldContext = { FoldContext() }
    ) {
        self.log = log
        self.settings = settings
        self.projections = projections
        self.context = context
    }

    /// What a rebuild made of one projection.
    public struct Rebuilt: Sendable {
        /// The projection's name: that of its view.
        public let name: String
        /// The version of the fold.
        public let version: Int
        /// Where the table is.
        public let schema: String
        /// Number of rows.
        public let rows: Int
        /// Number of streams that were folded.
        public let streams: Int
        /// Number of events that were folded.
        public let events: Int
        /// Number of streams that the fold refused; `projection.refused_stream` names them.
        public let refused: Int
        /// Digest of the content; equal for two ledgers that hold the same facts.
        public let digest: Digest
        /// The newest event of each lane that is in the table.
        public let positions: [Int: Int64]
    }

    /// Names and versions of the folds, in the order of the names: who has the same brings the same
    /// tables on.
    package var foldNames: String {
        projections.map { "\($0.name) \($0.version)" }.sorted().joined(separator: ", ")
    }

    /// The versions of the folds, by name.
    package var folds: [String: Int] {
        Dictionary(uniqueKeysWithValues: projections.map { ($0.name, $0.version) })
    }

    /// Those that are built where none is named: what is on request only once it has a live table.
    func usualProjections(in session: PostgresSession) async throws -> [any Projection] {
        let live = try await session.query(
            "SELECT DISTINCT name FROM projection.ledger_projection WHERE state = 'live'"
        ).map { try $0.text(0) }
        return projections.filter { !$0.isOnRequest || live.contains($0.name) }
    }

    /// The projections of these names; all where none is named.
    public func projections(
        named names: [String]
    ) throws(ProjectorError) -> [any Projection] {
        guard !names.isEmpty else { return projections }
        var chosen: [any Projection] = []
        for name in names {
            guard let projection = projections.first(where: { $0.name == name }) else {
                throw Projector.unknown(name, projections)
            }
            if !chosen.contains(where: { $0.name == name }) { chosen.append(projection) }
        }
        return chosen
    }

    static func unknown(_ name: String, _ projections: [any Projection]) -> ProjectorError {
        let known = projections.map(\.name).joined(separator: ", ")
        return ProjectorError(
            .unknownProjection,
            "unknown projection `\(name)`; expected one of: \(known)"
        )
    }

    /// What folds may know by a policy; by the one that holds where there is none.
    func context(of whatIf: WhatIf?) async throws -> FoldContext {
        if let whatIf { return whatIf.context }
        return try await context()
    }
}

extension Projector {
    /// What to say where live tables know less of the catalog than there is; nil where all know
    /// it.
    static func staleCatalogNotice(_ versions: [Int], _ newest: FoldContext) -> String? {
        let imported = newest.catalogs.newestVersion
        guard let oldest = versions.min(), oldest < imported else { return nil }
        return "the live tables use the catalog up to version \(oldest), but version \(imported) "
            + "was imported since; `subledger tables diff` shows what it changes"
    }
}

extension FoldContext {
    /// The same, as it was when that version of the catalog was the newest.
    func knowing(catalog version: Int) -> FoldContext {
        FoldContext(catalogs: catalogs.imported(through: version), policy: policy)
    }
}
