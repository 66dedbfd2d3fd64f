public import EventLog
internal import Events
internal import Postgres
public import Projections

extension Projector {
    /// How a rebuild goes about it.
    public struct RebuildOptions: Sendable {
        /// Connections that read and fold at the same time, from 1 to the log's `readersMax`.
        public var jobs = 1
        /// Told the number of events folded so far, now and then.
        public var progress: @Sendable (Int) -> Void = { _ in }
        /// Told in a sentence what a person should know besides the result.
        public var notice: @Sendable (String) -> Void = { _ in }

        /// One connection, and nothing is told.
        public init() {}
    }

    /// Builds tables beside the live ones from the whole log, catches up with what is committed
    /// meanwhile, and puts them in the place of the live ones.
    ///
    /// Memory does not grow with the log. Rebuilds of one database wait for each other.
    ///
    /// - Parameters:
    ///   - chosen: What to build; nil for all, but those on request that are not live.
    ///   - options: How to go about it.
    /// - Returns: What became of each projection.
    /// - Throws: `databaseUnavailable`; `viewsInUse`, at once where a view that has to be made anew
    ///   has others upon it. The live tables are then as they were.
    public func rebuild(
        _ chosen: [any Projection]? = nil,
        _ options: RebuildOptions = RebuildOptions()
    ) async throws(ProjectorError) -> [Rebuilt] {
        try await exclusively("rebuild", options) { session in
            let usual = try await usualProjections(in: session)
            let plan = BuildPlan(
                projections: chosen ?? usual,
                context: try await context(),
                promotingAction: "rebuild"
            )
            let heads = try await log.heads()
            let (build, folded) = try await fill(plan, options, in: session) { _ in heads }
            let tables = ShadowTables(schema: build.schema, names: plan.names)
            try await orDrop(tables.schema, options, in: session) {
                try await catchUp(tables, to: try await log.heads(), in: session)
                _ = try await promote(tables, options, in: session)
            }
            try await forgetWaiting(plan.names, options, in: session)
            return try await rebuilt(tables, folded, in: session)
        }
    }

    /// Builds tables that are kept under a schema of their own, beside the live ones.
    ///
    /// `follow` keeps them up to date as it does the live ones, but for those up to a given place
    /// of the log. Nothing but `discard` drops them.
    ///
    /// - Parameters:
    ///   - chosen: What to build; nil for all, but those on request that are not live.
    ///   - schema: The schema's name, of at most 63 bytes; it must not exist.
    ///   - knownAt: Up to where the log is read; the whole commits that begin up to there.
    ///   - isFollowed: Whether `follow` brings the tables on; nil for those up to the end only.
    ///   - options: How to go about it.
    /// - Returns: What became of each projection.
    /// - Throws: `schemaTaken`, `databaseUnavailable`.
    public func build(
        _ chosen: [any Projection]? = nil,
        into schema: String,
        upTo knownAt: KnownAt = .latest,
        isFollowed: Bool? = nil,
        _ options: RebuildOptions = RebuildOptions()
    ) async throws(ProjectorError) -> [Rebuilt] {
        try await exclusively("rebuild --into \(schema)", options) { session in
            try await checkFree(schema, in: session)
            let usual = try await usualProjections(in: session)
            let plan = BuildPlan(
                projections: chosen ?? usual,
                context: try await context(),
                schema: schema
            )
            let heads = try await wholeHeads(knownAt)
            let (_, folded) = try await fill(plan, options, in: session) { _ in heads }
            let tables = ShadowTables(schema: schema, names: plan.names)
            // What was known then stays what was known then.
            let staysThere = !(isFollowed ?? (knownAt == .latest))
            try await set(tables, to: staysThere ? .fixed : .beside, in: session)
            return try await rebuilt(tables, folded, in: session)
        }
    }

    /// Another policy, to be judged before it is adopted.
    public struct WhatIf: Sendable {
        /// What folds may know, with the policy.
        public let context: FoldContext
        /// The policy in words that say it again, kept beside the tables.
        public let text: String

        /// A policy and its words.
        public init(context: FoldContext, text: String) {
            self.context = context
            self.text = text
        }
    }

    // Whole commits only, because tables stand at commits.
    private func wholeHeads(_ knownAt: KnownAt) async throws -> [Int: EventLog.Head] {
        var heads = try await log.heads()
        guard knownAt != .latest else { return heads }
        for lane in heads.keys {
            heads[lane] = try await log.newestCommit(lane: lane, knownAt: knownAt)
                .map { EventLog.Head($0) }
        }
        return heads
    }
}

extension BuildPlan {
    /// The projections' names.
    var names: [String] { projections.map(\.name) }
}

extension Projector {
    /// Runs something while no other rebuild of the database can.
    func exclusively<Value: Sendable>(
        _ action: String,
        _ options: RebuildOptions,
        _ body: (PostgresSession) async throws -> Value
    ) async throws(ProjectorError) -> Value {
        do {
            let session = try await PostgresSession.connect(settings)
            do {
                // Held until the session ends, however it does: another rebuild would take the
                // tables of this one for left-overs.
                if !(try await session.query(LiveViews.tryLock).single().bool(0)) {
                    options.notice("another rebuild of this database is running; waiting for it")
                    try await session.execute(LiveViews.lock)
                }
                try await session.execute(LiveViews.disableTimeouts)
                try await session.execute(ProjectionSchema.bootstrap)
                for schema in try await LeftOvers.drop(options, in: session) {
                    options.notice(
                        "dropped schema \(schema), which an unfinished rebuild left behind"
                    )
                }
                let value = try await body(session)
                await session.close()
                return value
            } catch {
                await session.close()
                throw error
            }
        } catch {
            throw ProjectorError(error, doing: action)
        }
    }

    /// Makes tables and fills them, each up to the heads that `heads` names for its projection;
    /// half filled ones are dropped.
    func fill(
        _ plan: BuildPlan,
        _ options: RebuildOptions,
        in session: PostgresSession,
        upTo heads: (any Projection) -> [Int: EventLog.Head]
    ) async throws -> (Build, [String: Folded]) {
        let build = try await Build.begin(plan, log: log, settings: settings, in: session)
        var folded: [String: Folded] = [:]
        // One pass over the log for all that end at the same heads: nearly always one in all.
        var remaining = plan.projections
        try await orDrop(build.schema, options, in: session) {
            if let action = plan.promotingAction {
                try await LiveViews.rehearse(
                    ShadowTables(schema: build.schema, names: plan.names),
                    making: plan.projections,
                    doing: action,
                    in: session
                )
            }
            while let first = remaining.first {
                let end = heads(first)
                let together = remaining.filter { heads($0) == end }
                remaining.removeAll { heads($0) == end }
                let part = try await build.load(
                    together,
                    upTo: end,
                    jobs: min(max(1, options.jobs), log.readersMax),
                    progress: options.progress
                )
                try await record(part, of: together, upTo: end, in: build, session)
                for projection in together {
                    folded[projection.name] = part
                }
            }
        }
        return (build, folded)
    }

    /// Does something with tables that nobody reads yet, which are dropped where it fails: they may
    /// be what fills the disk.
    func orDrop<Value>(
        _ schema: String,
        _ options: RebuildOptions,
        in session: PostgresSession,
        _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch {
            do {
                _ = try await LeftOvers.drop(schema, options, .ofHousekeeping, in: session)
            } catch _ {
                // What went wrong first tells more, and the next rebuild drops the schema.
            }
            throw error
        }
    }

    private func record(
        _ folded: Folded,
        of projections: [any Projection],
        upTo heads: [Int: EventLog.Head],
        in build: Build,
        _ session: PostgresSession
    ) async throws {
        let names = projections.map(\.name)
        var parts = try await parts(of: ShadowTables(schema: build.schema, names: names), session)
        for index in parts.indices {
            let lane = parts[index].lane
            parts[index].head = heads[lane] ?? log.origin(lane: lane)
            guard let place = names.firstIndex(of: parts[index].name) else { continue }
            parts[index].content = folded.contents[lane]?[place] ?? ProjectionDigest()
        }
        let updates = parts.map(\.updated)
        let newest = try await log.heads()
        let signatures = heads.sorted { $0.key < $1.key }.filter { $0.value.offset > 0 }.flatMap {
            [
                NewestSignature.forgotten(
                    lane: $0.key,
                    upTo: $0.value.offset,
                    beyond: max($0.value.offset, newest[$0.key]?.offset ?? 0)
                ),
                NewestSignature.kept(lane: $0.key, upTo: $0.value.offset),
            ]
        }
        try await session.transaction { session throws(PostgresError) in
            try session.execute("SET LOCAL ROLE ledger_projector")
            for start in stride(from: 0, to: updates.count, by: 1000) {
                try session.pipeline(Array(updates[start..<min(start + 1000, updates.count)]))
            }
            try session.pipeline(signatures)
        }
    }

    /// The parts of these tables, lane by lane.
    func parts(
        of tables: ShadowTables,
        _ session: PostgresSession
    ) async throws -> [ProjectionPart] {
        try await session.query(
            ProjectionPart.select("build_schema = $1 AND name = ANY($2)"),
            [.text(tables.schema), .textArray(tables.names)]
        ).map { try ProjectionPart($0) }
    }

    /// Says what tables are there for from now on.
    func set(
        _ tables: ShadowTables,
        to state: ProjectionPart.State,
        in session: PostgresSession
    ) async throws {
        try await session.transaction { session throws(PostgresError) in
            try session.execute("SET LOCAL ROLE ledger_projector")
            try state.set(tables, in: session)
        }
    }

    /// What tables hold now.
    func rebuilt(
        _ tables: ShadowTables,
        _ folded: [String: Folded],
        in session: PostgresSession
    ) async throws -> [Rebuilt] {
        let parts = try await parts(of: tables, session)
        let refused = try await refusedCounts(in: session)
        return tables.names.compactMap { name in
            let parts = parts.filter { $0.name == name }
            guard let first = parts.first else { return nil }
            let content = parts.reduce(into: ProjectionDigest()) { $0.add($1.content) }
            let positions = parts.filter { $0.head.commit > 0 }.map { ($0.lane, $0.head.offset) }
            return Rebuilt(
                name: name,
                version: first.version,
                schema: tables.schema,
                rows: content.rowCount,
                streams: folded[name]?.streams ?? 0,
                events: folded[name]?.events ?? 0,
                refused: refused[TablePlace(schema: tables.schema, name: name)] ?? 0,
                digest: content.digest,
                positions: Dictionary(uniqueKeysWithValues: positions)
            )
        }
    }

    func checkFree(_ schema: String, in session: PostgresSession) async throws {
        let isName = !schema.isEmpty && schema.utf8.count <= Projector.schemaByteCountMax
        let isReserved =
            schema.hasPrefix("pg_") || schema.hasPrefix("projection")
            || ["ledger", "public", "information_schema"].contains(schema)
        guard isName, !isReserved, !schema.utf8.contains(0) else {
            throw ProjectorError(
                .schemaTaken,
                "\(schema) cannot be the name of a schema of tables: it must have from 1 to "
                    + "\(Projector.schemaByteCountMax) bytes, must not be used by others, and must "
                    + "not begin with projection or pg_"
            )
        }
        let found = try await session.query(
            """
            SELECT EXISTS (SELECT FROM projection.ledger_projection WHERE build_schema = nspname)
            FROM pg_namespace WHERE nspname = $1
            """,
            [.text(schema)]
        )
        if let isKept = try found.first?.bool(0) {
            throw ProjectorError(
                .schemaTaken,
                "schema \(schema) exists already; choose another name"
                    + (isKept
                        ? ", or drop its tables with `subledger tables discard --schema \(schema)`"
                        : "; no rebuild is recorded as having created it, so only its owner can "
                            + "decide whether it may be dropped")
            )
        }
    }

    /// Longest name that PostgreSQL keeps whole.
    private static let schemaByteCountMax = 63
}
