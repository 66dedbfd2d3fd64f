internal import EventLog
internal import Projections

extension Ledger {
    /// Exports tables of schema `analytics` into a folder, for engines that read files.
    ///
    /// All tables of one export show the same state. A table is partitioned into folders in Hive's
    /// layout, and each folder has one file. Another export into the same folder writes only the
    /// files whose rows changed, and removes those that have no rows left; a table that did not
    /// change is not read at all. Memory does not grow with the tables.
    ///
    /// Each file appears whole, and the manifest is written last: once it lists the files, they
    /// show the same state. The same call resumes an export that was killed.
    ///
    /// - Parameters:
    ///   - request: What to export, and where.
    ///   - progress: Called with a table and the number of its rows read so far, on any thread.
    /// - Returns: What was written.
    /// - Throws: `ExportError`; `QuestionError` if the live tables cannot answer; `EventLogError`,
    ///   `ProjectorError`, `PostgresError`.
    package func export(
        _ request: ExportRequest,
        progress: @escaping @Sendable (String, Int) -> Void = { _, _ in }
    ) async throws -> ExportDocument {
        let relations = try request.relations()
        if case .offsets(let offsets) = request.knownAt {
            try await PositionVector(offsets).check("knownAt", in: log)
        }
        let duckDB = try request.format == .parquet ? DuckDB() : nil
        // Opened first, so an unusable folder is reported before any long work begins.
        let folder = try ExportFolder(request.folder)
        return try await readingAnalytics(
            "export",
            of: relations.map { "analytics.\($0.name) " }.joined() + "analytics.last_signed_at",
            knownAt: request.knownAt
        ) { session, ground in
            try await ExportRun(
                request: request,
                ledger: self,
                session: session,
                ground: ground,
                folder: folder,
                duckDB: duckDB,
                progress: progress
            ).document(relations)
        }
    }
}

extension AnalyticsRelation {
    /// Whether it exists only if a projection was built on request.
    fileprivate var isOnRequest: Bool {
        projections.contains { name in projectionsOnRequest.contains { $0.name == name } }
    }
}

extension ExportRequest {
    /// The requested views.
    fileprivate func relations() throws(ExportError) -> [AnalyticsRelation] {
        let all = AnalyticsRelation.all.filter { $0.grain != nil }
        let names = all.map(\.name)
        for name in tables where !names.contains(name) {
            throw ExportError(
                .unknownTable,
                "unknown table '\(name)'; expected one of \(names.joined(separator: ", "))"
            )
        }
        let chosen = all.filter {
            tables.isEmpty ? !$0.isOnRequest : tables.contains($0.name)
        }
        guard knownAt != nil else { return chosen }
        if let other = chosen.first(where: { !$0.followsFromLog }), !tables.isEmpty {
            throw ExportError(
                .notKnownAt,
                "\(other.name) counts ingest runs, which have no position in the log; export it "
                    + "without --known-at"
            )
        }
        return chosen.filter(\.followsFromLog)
    }
}
