package import EventLog
package import Events
package import Postgres
public import Projections

/// Builds the tables of projections from the log, and keeps them up to date.
///
/// The tables of one rebuild are in a schema of their own, `projection_<n>`; readers use views in
/// schema `projection`, which are switched to new tables in one short transaction when these are
/// complete. Readers never see half a projection. `projection.ledger_projection` records the
/// content of every table.
public struct Projector: Sendable {
    let log: EventLog
    let settings: ConnectionSettings
    let projections: [any Projection]
    /// What folds may use now, requested again whenever something begins or continues, because a
    /// catalog may have been imported.
    private let currentContext: @Sendable () async throws -> FoldContext

    /// A projector for a log, writing to the same database.
    ///
    /// - Parameters:
    ///   - log: What is folded.
    ///   - settings: The log's database.
    ///   - projections: The available folds; two with one name, or a name that is not one of a
    ///     table, end the program.
    ///   - context: What folds may use in addition to the log: the operator's decisions, above all
    ///     the catalog. Called whenever it may have changed.
    package init(
        log: EventLog,
        settings: ConnectionSettings,
        projections: [any Projection] = .standard,
        context: @escaping @Sendable () async throws -> FoldContext = { FoldContext() }
    ) {
        if let fault = Projector.fault(in: projections.map(\.name)) { preconditionFailure(fault) }
        self.log = log
        self.settings = settings
        self.projections = projections
        currentContext = context
    }

    /// What folds may use now.
    ///
    /// - Throws: `unreadableCatalog`, or why the log cannot be read.
    func context() async throws -> FoldContext {
        do {
            return try await currentContext()
        } catch {
            guard !(error is EventLogError || error is PostgresError || error is CancellationError)
            else { throw error }
            throw ProjectorError(.unreadableCatalog, "\(error)")
        }
    }

    /// The result of a rebuild for one projection.
    public struct Rebuilt: Codable, Sendable {
        /// The projection's name: that of its view.
        public let name: String
        /// The version of the fold.
        public let version: Int
        /// The schema with the table.
        public let schema: String
        /// Number of rows.
        public let rows: Int
        /// Number of streams that were folded.
        public let streams: Int
        /// Number of events that were folded.
        public let events: Int
        /// Number of streams that the fold refused; `projection.refused_stream` lists them.
        public let refused: Int
        /// Digest of the content; equal for two ledgers with the same facts.
        package let digest: Digest
        /// The newest event of each lane that the table includes.
        public let positions: [Int: Int64]
    }

    /// Names and versions of the folds, in the order of the names: processes with the same value
    /// keep the same tables up to date.
    package var foldNames: String {
        projections.map { "\($0.name) \($0.version)" }.sorted().joined(separator: ", ")
    }

    /// The versions of the folds, by name.
    package var folds: [String: Int] {
        Dictionary(uniqueKeysWithValues: projections.map { ($0.name, $0.version) })
    }

    /// The names of the projections that are built by default on a new ledger.
    package var usualNames: [String] { projections.filter { !$0.isOnRequest }.map(\.name) }

    /// The projections that are built by default: those on request only once they have a live
    /// table.
    func usualProjections(in session: PostgresSession) async throws -> [any Projection] {
        let live = try await session.query(
            "SELECT DISTINCT name FROM projection.ledger_projection WHERE state = 'live'"
        ).map { try $0.text(0) }
        return projections.filter { !$0.isOnRequest || live.contains($0.name) }
    }

    /// The projections with these names; all if none is named.
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

    /// What folds may use under a policy, or without one under the policy in force.
    func context(of whatIf: WhatIf?) async throws -> FoldContext {
        if let whatIf { return whatIf.context }
        return try await context()
    }
}

extension Projector {
    /// What is wrong with names of projections; nil if each can name a table and its view.
    static func fault(in names: [String]) -> String? {
        var known: Set<String> = ["ledger_projection", "refused_stream"]
        for name in names {
            guard name.wholeMatch(of: /[a-z_][a-z0-9_]{0,62}/) != nil else {
                return "the projection '\(name)' cannot name a table: expected lower-case letters, "
                    + "digits and underscores, not beginning with a digit, at most 63 bytes"
            }
            guard known.insert(name).inserted else {
                return "two tables of schema projection would have the name \(name)"
            }
        }
        return nil
    }

    /// The notice that live tables use an older catalog than the newest; nil if all use the newest.
    static func staleCatalogNotice(_ versions: [Int], _ newest: FoldContext) -> String? {
        let imported = newest.catalogs.newestVersion
        guard let oldest = versions.min(), oldest < imported else { return nil }
        return "the live tables use the catalog up to version \(oldest), but version \(imported) "
            + "was imported since; `subledger tables diff` shows what it changes"
    }
}

extension FoldContext {
    /// The same context when that version of the catalog was the newest.
    func knowing(catalog version: Int) -> FoldContext {
        FoldContext(catalogs: catalogs.imported(through: version), policy: policy)
    }
}
