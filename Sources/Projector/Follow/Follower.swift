internal import EventLog
internal import Events
internal import Postgres
internal import Projections

/// A process that follows the log, with its state between steps.
struct Follower {
    private(set) var following: Projector.Following

    private let projector: Projector
    private let options: Projector.FollowOptions
    private let session: PostgresSession
    private let lease: Lease
    private var context: FoldContext
    // The live tables, as last reported.
    private var known: [String]?
    // The reports about tables that could not be brought up to date, by schema.
    private var lastNotices: [String: String] = [:]

    /// Continues with an earlier state after the connection was lost.
    init(
        _ projector: Projector,
        _ options: Projector.FollowOptions,
        _ following: Projector.Following,
        in session: PostgresSession
    ) async throws {
        self.projector = projector
        self.options = options
        self.following = following
        self.session = session
        lease = Lease(
            holder: options.holder,
            folds: projector.foldNames,
            seconds: options.leaseSeconds
        )
        context = try await projector.context()
    }

    /// Follows until it is stopped or, with `isOnce`, until the tables include everything that was
    /// committed at the start.
    mutating func follow() async throws {
        try await checkLive()
        try await session.execute("SET ROLE ledger_projector")
        let end = options.isOnce ? try await projector.log.heads() : nil
        while !options.isStopped() {
            var heads = try await projector.log.heads()
            if let end { heads = end }
            let steps = following.steps
            try await advance(to: heads)
            options.progress(following)
            if options.isOnce, following.lag == 0 { break }
            guard following.steps == steps else { continue }
            try await Task.sleep(for: options.pollInterval)
            try await checkLive()
        }
        try await lease.release(in: session)
    }

    /// Takes one step in every lane that has news and that no other process holds.
    private mutating func advance(to heads: [Int: EventLog.Head]) async throws {
        (following.lag, following.lanesHeldByOthers) = (0, 0)
        let parts = try await session.parts(where: ProjectionPart.State.followed.condition)
        // A rebuild may have used a catalog that was imported in the meantime.
        if parts.contains(where: { $0.catalogVersion > context.catalogs.newestVersion }) {
            context = try await projector.context()
        }
        let lanes = Dictionary(grouping: parts, by: \.lane)
        for lane in 0..<projector.log.identity.lanes.value where !options.isStopped() {
            let head = heads[lane] ?? projector.log.origin(lane: lane)
            let here = lanes[lane] ?? []
            try await advanceLive(here.filter { $0.state == .live }, to: head, lane)
            let others = Dictionary(grouping: here.filter { $0.state != .live }, by: \.schema)
            for (schema, parts) in others.sorted(by: { $0.key < $1.key }) {
                try await advanceOthers(parts, of: schema, to: head, lane)
            }
        }
    }

    private mutating func advanceLive(
        _ parts: [ProjectionPart],
        to head: EventLog.Head,
        _ lane: Int
    ) async throws {
        do {
            try await advance(parts, to: head, lane)
        } catch let error as PostgresError where Follower.meansGone(error) {
            throw ProjectorError(
                .nothingLive,
                "follow: a live table no longer exists: \(error); `subledger tables` lists all, "
                    + "and `subledger rebuild` rebuilds it"
            )
        }
    }

    // A stalled side table must not delay the live ones: it may have been dropped or locked, or an
    // older log may have been restored.
    private mutating func advanceOthers(
        _ parts: [ProjectionPart],
        of schema: String,
        to head: EventLog.Head,
        _ lane: Int
    ) async throws {
        let before = following
        do {
            try await advance(parts, to: head, lane)
            if following.steps > before.steps { lastNotices[schema] = nil }
        } catch {
            let problem = ProjectorError(error, doing: "follow")
            guard !Task.isCancelled, !problem.isPassing || Follower.meansLocked(error) else {
                throw error
            }
            (following.lag, following.lanesHeldByOthers) = (before.lag, before.lanesHeldByOthers)
            let message = Follower.message(of: problem, error, schema, parts.first?.state)
            if lastNotices.updateValue(message, forKey: schema) != message {
                options.notice(message)
            }
        }
    }

    private static func message(
        of problem: ProjectorError,
        _ error: any Error,
        _ schema: String,
        _ state: ProjectionPart.State?
    ) -> String {
        let way = "`subledger tables discard" + (state == .ready ? "`" : " --schema \(schema)`")
        let what = "the live tables are updated, but those of schema \(schema) are not: "
        if meansLocked(error) {
            return what + "another session holds a lock on one; they are updated once the "
                + "lock is released"
        }
        if let error = error as? PostgresError, meansGone(error) {
            return what + "one no longer exists (\(error)); \(way) drops the others"
        }
        if problem.code == .logForked {
            return what + "they were built from another log, which was restored or forked since; "
                + "\(way) drops them"
        }
        return what + "\(problem); \(way) drops them"
    }

    // The SQLSTATEs for a missing table, schema or column.
    private static func meansGone(_ error: PostgresError) -> Bool {
        ["42P01", "3F000", "42703"].contains(error.sqlState)
    }

    private static func meansLocked(_ error: any Error) -> Bool {
        (error as? PostgresError)?.sqlState == "55P03"
    }

    private mutating func advance(
        _ found: [ProjectionPart],
        to head: EventLog.Head,
        _ lane: Int
    ) async throws {
        let parts = found.compactMap { projector.followed($0, context) }
        try await checkNotAhead(parts, of: head, lane: lane)
        guard let step = try await projector.step(of: parts, lane: lane, to: { _ in head }) else {
            return
        }
        // A lag counts even if only repetitions are missing.
        let behind = max(1, head.offset - step.from.offset)
        guard try await lease.take(lane: lane, in: session) else {
            following.lanesHeldByOthers += 1
            following.lag += behind
            return
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
            // Parts at other positions, or the rest of a long way.
            let isLeft = step.to != head || step.parts.count < parts.count
            if isLeft, following.lag == 0 { following.lag = 1 }
        }
    }

    // Tables at the log's end, or beyond it, take no step that would detect a different log.
    private func checkNotAhead(
        _ parts: [FollowedPart],
        of head: EventLog.Head,
        lane: Int
    ) async throws {
        for part in parts where part.part.head.commit >= head.commit {
            guard part.part.head.digest != head.digest else { continue }
            // Newer commits may have been made, and followed, since the head was read.
            try await projector.check(part.part.head, lane: lane)
        }
    }

    // Throws if nothing can be followed, and reports once what will not be. Checked again even
    // without news, because another program may have promoted its tables.
    private mutating func checkLive() async throws {
        let live = try await projector.tables(in: session).filter {
            $0.state == .live && !$0.isForeign
        }
        let found = live.map { "\($0.schema).\($0.name) \($0.isCurrent) \($0.catalogVersion)" }
        guard found != known else { return }
        known = found
        guard !live.isEmpty else {
            throw ProjectorError(
                .nothingLive,
                "there are no tables to follow yet; `subledger rebuild` creates them"
            )
        }
        let old = live.filter { !$0.isCurrent }
        guard old.count < live.count else {
            throw ProjectorError(
                .nothingLive,
                "other folds than those of this program built the live tables "
                    + "(\(Follower.difference(of: old, from: projector.projections))), so this "
                    + "program cannot keep them up to date; `subledger tables diff` shows what a "
                    + "rebuild would change"
            )
        }

        following.notFollowed = old.map(\.name)
        if !old.isEmpty {
            let gone = projector.retired(among: old.map(\.name))
            let way =
                gone.isEmpty
                ? "`subledger tables diff` shows what a rebuild would change"
                : "`subledger tables discard \(gone.joined(separator: " "))` drops tables that "
                    + "this program does not have"
            options.notice(
                "not followed, because other folds built them: "
                    + Follower.difference(of: old, from: projector.projections) + "; " + way
            )
        }

        let newest = try await projector.context()
        if let notice = Projector.staleCatalogNotice(live.map(\.catalogVersion), newest) {
            options.notice(notice)
        }
    }

    private static func difference(
        of tables: [Projector.Table],
        from projections: [any Projection]
    ) -> String {
        tables.map { table in
            let here = projections.first { $0.name == table.name }?.version
            return switch here {
            case nil: "\(table.name) is unknown to this program"
            case let version?:
                "\(table.name) has fold version \(table.version), this program \(version)"
            }
        }.joined(separator: ", ")
    }
}
