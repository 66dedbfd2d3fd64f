public import EventLog
public import Events
public import Postgres
public import Projections

/// Makes the tables of projections from the log.
///
/// The tables of one rebuild live in a schema of their own, `projection_<n>`; what people read are
/// views in schema `projection`, which a rebuild points at its tables in one short transaction when
/// they are whole. Readers never see half a projection.
public struct Projector: Sendable {
    let log: EventLog
    let settings: ConnectionSettings

    /// Most connections that a rebuild reads with: as many as a log's pool of readers has.
    public static let jobsMax = EventLog.Options().readersMax

    /// A projector for a log, writing to the same database.
    public init(log: EventLog, settings: ConnectionSettings) {
        self.log = log
        self.settings = settings
    }

    /// What a rebuild made of one projection.
    public struct Rebuilt: Sendable {
        /// The projection's name: that of its view.
        public let name: String
        /// The version of the fold.
        public let version: Int
        /// Number of rows.
        public let rows: Int
        /// Number of streams that were folded.
        public let streams: Int
        /// Number of events that were folded.
        public let events: Int
        /// Digest of the content; equal for two ledgers that hold the same facts.
        public let digest: Digest
        /// The newest event of each lane that was folded.
        public let positions: [Int: Int64]
    }

    /// The projections of these names; all where none is named.
    public static func projections(
        named names: [String]
    ) throws(ProjectorError) -> [any Projection] {
        guard !names.isEmpty else { return allProjections }
        var chosen: [any Projection] = []
        for name in names {
            guard let projection = allProjections.first(where: { $0.name == name }) else {
                let known = allProjections.map(\.name).joined(separator: ", ")
                throw ProjectorError(
                    .unknownProjection,
                    "there is no projection `\(name)`; there are: \(known)"
                )
            }
            chosen.append(projection)
        }
        return chosen
    }

    /// Builds tables beside the live ones from the whole log, then puts them in their place.
    ///
    /// Memory does not grow with the log. What is committed meanwhile is not in the tables; their
    /// positions say up to where they go. Rebuilds of one database wait for each other.
    ///
    /// - Parameters:
    ///   - projections: What to build.
    ///   - context: What the operator has decided, above all what is sold;
    ///     nothing where it is left out.
    ///   - jobs: Connections that read and fold at the same time, from 1 to `jobsMax`.
    ///   - progress: Told the number of events folded so far, now and then.
    /// - Returns: What became of each projection.
    /// - Throws: `databaseUnavailable`, `viewsInUse`; the live tables are then as they were.
    public func rebuild(
        _ projections: [any Projection] = allProjections,
        in context: FoldContext = FoldContext(),
        jobs: Int = 1,
        progress: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws(ProjectorError) -> [Rebuilt] {
        let jobs = min(max(1, jobs), Projector.jobsMax)
        do {
            let session = try await PostgresSession.connect(settings)
            do {
                let rebuilt = try await rebuild(
                    projections,
                    context,
                    jobs,
                    in: session,
                    progress
                )
                await session.close()
                return rebuilt
            } catch {
                await session.close()
                throw error
            }
        } catch {
            throw ProjectorError(error, doing: "rebuild")
        }
    }

    private func rebuild(
        _ projections: [any Projection],
        _ context: FoldContext,
        _ jobs: Int,
        in session: PostgresSession,
        _ progress: @escaping @Sendable (Int) -> Void
    ) async throws -> [Rebuilt] {
        // Held until the session ends, however it does: another rebuild would take the tables of
        // this one for left-overs.
        try await session.execute(LiveViews.lock)
        let heads = try await log.heads()
        let build = try await Build.begin(
            projections,
            context: context,
            in: session,
            settings: settings
        )
        let folded = try await build.load(
            log: log,
            heads: heads,
            jobs: jobs,
            progress: progress
        )
        return try await build.promote(folded, heads: heads, in: session)
    }
}
