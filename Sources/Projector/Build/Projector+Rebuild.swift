public import EventLog
internal import Events
internal import Postgres
public import Projections

extension Projector {
    /// Options for a rebuild.
    public struct RebuildOptions: Sendable {
        /// Connections that read and fold concurrently, from 1 to the log's `readersMax`.
        public var jobs = 1
        /// Receives the number of events folded so far, from time to time.
        public var progress: @Sendable (Int) -> Void = { _ in }
        /// Receives sentences that the operator should see in addition to the result.
        public var notice: @Sendable (String) -> Void = { _ in }

        /// One connection, without progress and notices.
        public init() {}
    }

    /// Builds tables next to the live ones from the whole log, catches up with what is committed in
    /// the meantime, and replaces the live ones.
    ///
    /// Memory does not grow with the log. Rebuilds of one database wait for each other.
    ///
    /// - Parameters:
    ///   - chosen: What to build; nil for all except those on request that are not live.
    ///   - options: The options.
    /// - Returns: The result for each projection.
    /// - Throws: `databaseUnavailable`; `viewsInUse`, immediately if other views depend on a view
    ///   that has to be recreated. The live tables are then unchanged.
    public func rebuild(
        _ chosen: [any Projection]? = nil,
        _ options: RebuildOptions = RebuildOptions()
    ) async throws(ProjectorError) -> [Rebuilt] {
        try await exclusively("rebuild", options) { session in
            let usual = try await usualProjections(in: session)
            return try await rebuild(chosen ?? usual, doing: "rebuild", options, in: session)
        }
    }

    func rebuild(
        _ chosen: [any Projection],
        doing action: String,
        _ options: RebuildOptions,
        in session: PostgresSession
    ) async throws -> [Rebuilt] {
        let plan = BuildPlan(
            projections: chosen,
            context: try await context(),
            promotingAction: action
        )
        let heads = try await log.heads()
        let (build, folded) = try await fill(plan, options, in: session) { _ in heads }
        let tables = ShadowTables(schema: build.schema, names: plan.names)
        try await orDrop(tables.schema, options, in: session) {
            try await catchUp(tables, to: try await log.heads(), in: session)
            _ = try await promote(tables, options, in: session)
        }
        try await supersedeWaiting(plan.names, options, in: session)
        return try await rebuilt(tables, folded, in: session)
    }

    /// Builds tables that are kept in a schema of their own, next to the live ones.
    ///
    /// `follow` keeps them up to date like the live ones, except those up to a given position of
    /// the log. Only `discard` drops them.
    ///
    /// - Parameters:
    ///   - chosen: What to build; nil for all except those on request that are not live.
    ///   - schema: The schema's name, of at most 63 bytes; it must not exist.
    ///   - knownAt: The bound up to which the log is read; whole commits that begin by then.
    ///   - isFollowed: Whether `follow` keeps the tables up to date; nil only for those up to the
    ///     end of the log.
    ///   - options: The options.
    /// - Returns: The result for each projection.
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
            // A table up to a past position must not be brought up to date.
            let isFixed = !(isFollowed ?? (knownAt == .latest))
            try await set(tables, to: isFixed ? .pinned : .kept, in: session)
            return try await rebuilt(tables, folded, in: session)
        }
    }

    /// Another policy, to be evaluated before it is adopted.
    public struct WhatIf: Sendable {
        /// What folds may use, with the policy.
        public let context: FoldContext
        /// The policy as canonical text, stored with the tables.
        public let text: String

        /// A policy and its text.
        public init(context: FoldContext, text: String) {
            self.context = context
            self.text = text
        }
    }

    // Whole commits only, because tables end at commits.
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
    /// Runs a body while no other rebuild of the database can run.
    func exclusively<Value: Sendable>(
        _ action: String,
        _ options: RebuildOptions,
        _ body: (PostgresSession) async throws -> Value
    ) async throws(ProjectorError) -> Value {
        do {
            return try await PostgresSession.using(settings) { session in
                // Held until the session ends, however it does; without it, another rebuild would
                // consider the tables of this one left over.
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
                return try await body(session)
            }
        } catch {
            throw ProjectorError(error, doing: action)
        }
    }

    /// Creates tables and fills them, each up to the heads that `heads` returns for its projection;
    /// on failure they are dropped.
    func fill(
        _ plan: BuildPlan,
        _ options: RebuildOptions,
        in session: PostgresSession,
        upTo heads: (any Projection) -> [Int: EventLog.Head]
    ) async throws -> (Build, [String: Folded]) {
        let build = try await Build.begin(plan, log: log, settings: settings, in: session)
        var folded: [String: Folded] = [:]
        // One pass over the log for all projections with the same heads: nearly always one pass in
        // all.
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

    /// Works on tables that have no readers yet, and drops them if it fails, because they may be
    /// what fills the disk.
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
                _ = try await LeftOvers.drop(schema, options, .maintenance, in: session)
            } catch _ {
                // The first error is more informative, and the next rebuild drops the schema.
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
                NewestSignature.deletion(
                    lane: $0.key,
                    upTo: $0.value.offset,
                    beyond: max($0.value.offset, newest[$0.key]?.offset ?? 0)
                ),
                NewestSignature.kept(lane: $0.key, upTo: $0.value.offset),
            ]
        }

        try await session.transaction { session throws(PostgresError) in
            try session.execute(ProjectionSchema.asOwner)
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
        try await session.parts(
            where: "build_schema = $1 AND name = ANY($2)",
            [.text(tables.schema), .textArray(tables.names)]
        )
    }

    /// Records the new state of tables.
    func set(
        _ tables: ShadowTables,
        to state: ProjectionPart.State,
        in session: PostgresSession
    ) async throws {
        try await session.transaction { session throws(PostgresError) in
            try session.execute(ProjectionSchema.asOwner)
            try state.set(tables, in: session)
        }
    }

    /// The current content of tables.
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
            let content = parts.content
            return Rebuilt(
                name: name,
                version: first.version,
                schema: tables.schema,
                rows: content.rowCount,
                streams: folded[name]?.streams ?? 0,
                events: folded[name]?.events ?? 0,
                refused: refused[TablePlace(schema: tables.schema, name: name)] ?? 0,
                digest: content.digest,
                positions: parts.positions
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
                "invalid schema name '\(schema)': expected 1 to \(Projector.schemaByteCountMax) "
                    + "bytes, not ledger, public or information_schema, and not beginning with "
                    + "projection or pg_"
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

    /// The longest name, in bytes, that PostgreSQL does not truncate.
    private static let schemaByteCountMax = 63
}
