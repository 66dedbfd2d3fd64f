internal import Postgres
internal import Projections

extension Projector {
    /// Builds the tables that are missing or that an older version of their fold built, and makes
    /// them live.
    ///
    /// For the start of an app: does nothing, and takes no lock, if every table is there in the
    /// version of its fold. Otherwise the new tables are filled next to the live ones, which can be
    /// read and followed in the meantime, and replace them in one short transaction. Tables of a
    /// newer version stay: the program that built them is being deployed. Those on request are
    /// prepared only if they are live.
    ///
    /// Processes that prepare at once wait for each other; the first builds, the others find the
    /// tables there.
    ///
    /// - Parameter options: The options.
    /// - Returns: The tables that were built and are live now; empty if there was nothing to do.
    /// - Throws: `permissionDenied`, `viewsInUse`, `databaseUnavailable`; the live tables are then
    ///   unchanged.
    public func prepare(
        _ options: RebuildOptions = RebuildOptions()
    ) async throws(ProjectorError) -> [Rebuilt] {
        let isComplete = try await reading("prepare") { try await outdated(in: $0).isEmpty }
        guard !isComplete else { return [] }
        return try await exclusively("prepare", options) { session in
            // Another process may have built them while this one waited for it.
            let chosen = try await outdated(in: session)
            guard !chosen.isEmpty else { return [] }
            return try await rebuild(chosen, doing: "prepare", options, in: session)
        }
    }

    // The projections without a live table of their version, or a newer one.
    private func outdated(in session: PostgresSession) async throws -> [any Projection] {
        let live = try await tables(in: session).filter { $0.state == .live }
        return projections.filter { projection in
            guard let table = live.first(where: { $0.name == projection.name }) else {
                return !projection.isOnRequest
            }
            return table.version < projection.version
        }
    }
}
