internal import EventLog
public import Projections
public import Projector

extension Ledger {
    /// Builds the tables of projections from the log, and keeps them up to date: rebuild, compare,
    /// promote, follow.
    public var projector: Projector { projector(allProjections + projectionsOnRequest) }

    /// The same with your own folds.
    public func projector(_ projections: [any Projection]) -> Projector {
        Projector(log: log, settings: log.settings, projections: projections) {
            FoldContext(catalogs: try await catalogs())
        }
    }
}
