internal import EventLog
internal import Projections

extension Ledger {
    /// Exports tables of schema `analytics` into a folder, for engines that read files.
    ///
    /// All tables of one export hold one state. A table is divided into folders as Hive does it, and
    /// each folder has one file. An export into the same folder again writes only the files whose
    /// rows changed, and removes those for which no row is left; a table of which nothing moved is
    /// not read at all. Memory does not grow with the tables.
    ///
    /// Each file appears whole, the manifest last: once it names what the files hold, they are of
    /// one state. An export that was killed is resumed by the same call.
    ///
    /// - Parameters:
    ///   - request: What, and where to.
    ///   - progress: Called with a table and how many of its rows were read so far, on any thread.
    /// - Returns: What was written.
    /// - Throws: `ExportError`; `QuestionError` where the live tables cannot answer;
    ///   `EventLogError`, `ProjectorError`, `PostgresError`.
    public func export(
        _ request: ExportRequest,
        progress: @escaping @Sendable (String, Int) -> Void = { _, _ in }
    ) async throws -> ExportDocument {
        let relations = try request.relations()
        if case .offsets(let offsets) = request.knownAt {
            try await PositionVector(offsets).check("knownAt", in: log)
        }
        return try await readingAnalytics("export") { session in
            let reading = AnalyticsReading(
                ledger: self,
                session: session,
                query: relations.map { "analytics.\($0.name) " }.joined()
                    + "analytics.last_signed_at"
            )
            // Whatever is in the way there, nothing long has begun.
            let folder = try ExportFolder(request.folder)
            return try await reading.answer(knownAt: request.knownAt) { ground in
                try await ExportRun(
                    request: request,
                    ledger: self,
                    session: session,
                    ground: ground,
                    folder: folder,
                    progress: progress
                ).document(relations)
            }
        }
    }
}

extension AnalyticsRelation {
    /// Whether it is there only where a projection was built on request.
    fileprivate var isOnRequest: Bool {
        projections.contains { name in projectionsOnRequest.contains { $0.name == name } }
    }
}

extension ExportRequest {
    /// The views that are asked for.
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
