internal import EventLog
internal import Events
internal import Postgres
internal import Projections

extension Projector {
    /// How the log is followed.
    public struct FollowOptions: Sendable {
        /// Whether to end when all that was committed at the start is in the tables.
        public var isOnce = false
        /// How long to wait before looking for new commits again, where there were none.
        public var pollInterval = Duration.milliseconds(500)
        /// This process, in words that `projection.lease` shows; no two may share them.
        public var holder: String
        /// For how long a lane is left to a process that does not answer.
        public var leaseSeconds = 15.0
        /// Asked between steps whether to end.
        public var isStopped: @Sendable () -> Bool = { false }
        /// Told after each look at the log what was done so far and what is left.
        public var progress: @Sendable (Following) -> Void = { _ in }
        /// Told in a sentence what a person should know, once.
        public var notice: @Sendable (String) -> Void = { _ in }

        /// Following by a process of that name, until it is stopped.
        public init(holder: String) {
            self.holder = holder
        }
    }

    /// What following has come to.
    public struct Following: Sendable {
        /// Events that this process has brought into the tables.
        public internal(set) var events: Int64 = 0
        /// Streams that it folded for that, each as often as it had news.
        public internal(set) var streams = 0
        /// How many of them a fold refused.
        public internal(set) var refused = 0
        /// Steps it took: transactions.
        public internal(set) var steps = 0
        /// Events of the log that are not yet in every followed table.
        public internal(set) var lag: Int64 = 0
        /// Lanes with news that another process holds.
        public internal(set) var lanesHeldByOthers = 0
    }

    /// Brings what is committed into the tables, again and again, until it is stopped.
    ///
    /// Keeps up every table that the folds of this program made: the live ones, those that wait to
    /// be promoted and those kept beside. Several processes may do so at once; each event enters
    /// each table once, because rows and place are written by one transaction. After any step the
    /// tables equal those of a rebuild up to the same commit, byte for byte.
    ///
    /// - Parameter options: How.
    /// - Returns: What was done.
    /// - Throws: `nothingLive` where no table is there that this program may follow, `logForked`,
    ///   `databaseUnavailable`.
    public func follow(_ options: FollowOptions) async throws(ProjectorError) -> Following {
        var following = Following()
        while true {
            do {
                let session = try await PostgresSession.connect(settings)
                do {
                    try await follow(options, &following, in: session)
                    await session.close()
                    return following
                } catch {
                    await session.close()
                    throw error
                }
            } catch {
                let error = ProjectorError(error, doing: "follow")
                guard error.isPassing, !options.isOnce, !options.isStopped() else { throw error }
                // What a step did not commit it has not done, so that it can just be tried again.
                options.notice("the database went away, trying again: \(error)")
            }
            do {
                try await Task.sleep(for: max(options.pollInterval, Projector.reconnectPause))
            } catch {
                return following
            }
        }
    }

    /// How long a server gets to come back before it is tried again.
    private static let reconnectPause = Duration.seconds(1)

    private func follow(
        _ options: FollowOptions,
        _ following: inout Following,
        in session: PostgresSession
    ) async throws {
        var known = try await checkLive(nil, options, in: session)
        try await session.execute("SET ROLE ledger_owner")
        let lease = Lease(holder: options.holder, seconds: options.leaseSeconds)
        let end = options.isOnce ? try await log.heads() : nil
        var context = try await self.context()
        while !options.isStopped() {
            var heads = try await log.heads()
            if let end { heads = end }
            let steps = following.steps
            try await advance(to: heads, lease, &following, &context, in: session, options)
            options.progress(following)
            if options.isOnce, following.lag == 0 { break }
            guard following.steps == steps else { continue }
            try await Task.sleep(for: options.pollInterval)
            known = try await checkLive(known, options, in: session)
        }
        try await lease.release(in: session)
    }

    /// Takes one step in every lane that has news and that nobody else holds.
    private func advance(
        to heads: [Int: EventLog.Head],
        _ lease: Lease,
        _ following: inout Following,
        _ context: inout FoldContext,
        in session: PostgresSession,
        _ options: FollowOptions
    ) async throws {
        (following.lag, following.lanesHeldByOthers) = (0, 0)
        for lane in 0..<log.identity.lanes.value where !options.isStopped() {
            let head = heads[lane] ?? log.origin(lane: lane)
            let found = try await followableParts(lane: lane, in: session)
            // A rebuild may have used a catalogue that was imported meanwhile.
            if found.contains(where: { $0.catalogueVersion > context.catalogues.newestVersion }) {
                context = try await self.context()
            }
            let parts = found.compactMap { followed($0, context) }
            try await checkNotAhead(parts, of: head, lane: lane)
            guard let step = try await step(of: parts, lane: lane, to: { _ in head }) else {
                continue
            }
            // A lag of repetitions only is a lag too.
            let behind = max(1, head.offset - step.from.offset)
            guard try await lease.take(lane: lane, in: session) else {
                following.lanesHeldByOthers += 1
                following.lag += behind
                continue
            }
            switch try await step.run(in: session, waits: false) {
            case .overtaken:
                following.lag += behind
            case .done(let counts):
                following.steps += 1
                following.events += counts.events
                following.streams += counts.streams
                following.refused += counts.refused
                following.lag += head.offset - step.to.offset
                // Parts that stood elsewhere, or the rest of a long way.
                let isLeft = step.to != head || step.parts.count < parts.count
                if isLeft, following.lag == 0 { following.lag = 1 }
            }
        }
    }

    // Tables that are at the log's end, or beyond it, take no step that would notice that the log
    // is another one.
    private func checkNotAhead(
        _ parts: [FollowedPart],
        of head: EventLog.Head,
        lane: Int
    ) async throws {
        for part in parts where part.part.head.commit >= head.commit {
            guard part.part.head.digest != head.digest else { continue }
            // Newer commits may have come, and been followed, since the head was read.
            try await check(part.part.head, lane: lane)
        }
    }

    private func followableParts(
        lane: Int,
        in session: PostgresSession
    ) async throws -> [ProjectionPart] {
        try await session.query(
            ProjectionPart.select("lane = $1 AND state IN ('live', 'ready', 'beside')"),
            [.int4(Int32(lane))]
        ).map { try ProjectionPart($0) }
    }

    // Refuses where nothing can be followed, and says what will not be.
    // Asked again while there is no news: another program may have promoted its tables. Gives what
    // was found, so that it is told only once.
    private func checkLive(
        _ known: [String]?,
        _ options: FollowOptions,
        in session: PostgresSession
    ) async throws -> [String] {
        let live = try await tables(in: session).filter { $0.state == .live }
        let found = live.map { "\($0.schema).\($0.name) \($0.isCurrent) \($0.catalogueVersion)" }
        guard found != known else { return found }
        guard !live.isEmpty else {
            throw ProjectorError(
                .nothingLive,
                "there are no tables to follow yet; `subledger rebuild` makes them"
            )
        }
        let old = live.filter { !$0.isCurrent }
        guard old.count < live.count else {
            throw ProjectorError(
                .nothingLive,
                "the live tables were made by other folds than those of this program "
                    + "(\(Projector.difference(of: old, from: projections))), which cannot keep them "
                    + "up to date; `subledger rebuild --diff` shows what a rebuild would change"
            )
        }
        if !old.isEmpty {
            let gone = retired(among: old.map(\.name))
            let way =
                gone.isEmpty
                ? "`subledger rebuild --diff` shows what a rebuild would change"
                : "`subledger rebuild --discard \(gone.joined(separator: " "))` drops what this "
                    + "program does not have"
            options.notice(
                "not followed, because other folds made them: "
                    + Projector.difference(of: old, from: projections) + "; " + way
            )
        }
        let newest = try await context().catalogues.newestVersion
        if let table = live.first(where: { $0.catalogueVersion < newest }) {
            options.notice(
                "the live tables know the catalogue up to version \(table.catalogueVersion), and "
                    + "version \(newest) was imported since; `subledger rebuild --diff` shows "
                    + "what it changes"
            )
        }
        return found
    }

    private static func difference(
        of tables: [Table],
        from projections: [any Projection]
    ) -> String {
        tables.map { table in
            let here = projections.first { $0.name == table.name }?.version
            return switch here {
            case nil: "\(table.name) is not known here"
            case table.version: "\(table.name) of version \(table.version) from another source"
            case let version?: "\(table.name) of version \(table.version), here \(version)"
            }
        }.joined(separator: ", ")
    }
}
