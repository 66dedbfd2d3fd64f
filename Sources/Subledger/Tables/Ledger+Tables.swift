public import Projector

extension Ledger {
    /// Builds the tables of the ledger's projections from the log, and keeps them up to date:
    /// rebuild, compare, promote, follow.
    public var projector: Projector {
        Projector(log: log, settings: log.settings, projections: projections) {
            FoldContext(catalogs: try await catalogs())
        }
    }

    /// Builds the tables that are missing or that an older version of their fold built, next to the
    /// live ones, and makes them live; does nothing if there are none.
    ///
    /// Call it when your app starts, in a task next to the server: readers have the old tables until
    /// the new ones are complete.
    ///
    /// - Parameter options: The options.
    /// - Returns: The tables that were built and are live now.
    /// - Throws: `permissionDenied`, `viewsInUse`, `databaseUnavailable`; the live tables are then
    ///   unchanged.
    @discardableResult
    public func prepare(
        _ options: Projector.RebuildOptions = Projector.RebuildOptions()
    ) async throws(ProjectorError) -> [Projector.Rebuilt] {
        try await projector.prepare(options)
    }
}
