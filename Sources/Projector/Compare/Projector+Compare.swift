internal import EventLog
public import Events
internal import Postgres
public import Projections

extension Projector {
    /// The result of a comparison.
    public struct Comparison: Sendable {
        /// What differs in the new tables.
        package let difference: ProjectionDifference
        /// The new tables as they were compared: each up to the position of the live one.
        public internal(set) var tables: [Rebuilt] = []
        /// Projections whose live table does not match the digest or number of rows recorded in
        /// `ledger_projection`.
        public internal(set) var digestMismatches: [String] = []
        /// Projections whose live table has the rows of a rebuild, but cites other events for some
        /// of them; checked only if the catalog is that of the live tables and all rows are equal.
        public let citationMismatches: [String]
        /// Subscriptions that only the live tables refuse, or only the new ones.
        package let refusals: RefusalDifference
        /// The new tables that have no live one to be compared with.
        public internal(set) var unmatched: [Rebuilt] = []
        /// Live tables and views that differ from what a rebuild creates.
        package internal(set) var alterations: [LiveAlteration]
        /// Projections whose live table is gone, or is altered so much that no row can be compared.
        public internal(set) var uncomparable: [String] = []
        /// Events of the log that were in no live table at the time of the comparison.
        public internal(set) var lag: Int64 = 0
        /// Subscriptions that were left out, because something of them was erased and a live table
        /// does not contain that yet: the log no longer has what this table was folded from.
        public let pendingErasures: Set<StreamID>

        /// Whether the live tables match a rebuild, and the records about them are true.
        public var isClean: Bool {
            difference.isEqual && digestMismatches.isEmpty && citationMismatches.isEmpty
                && refusals.changedCount == 0 && alterations.isEmpty
        }
    }

    /// What to do with tables after the comparison.
    public enum Afterwards: Sendable, Hashable {
        /// Bring them up to date and keep them ready for `promote`, replacing any earlier ones.
        case wait
        /// Keep them next to the live ones, in a schema with that name.
        case keep(into: String)
        /// Drop them.
        case drop
    }

    /// Builds tables next to the live ones, up to the same positions, and reports what differs.
    ///
    /// The difference is then only one of interpretation, not of how much of the log is included.
    /// Subscriptions with an erasure that the live tables do not contain yet are left out.
    /// The live tables may be followed in the meantime.
    ///
    /// - Parameters:
    ///   - chosen: What to compare; nil for all, or, with the catalog of the live tables, for all
    ///     that are live.
    ///   - afterwards: What to do with the new tables.
    ///   - whatIf: The policy of a what-if, which cannot be kept ready for promotion; nil for the
    ///     policy in force.
    ///   - catalog: Whether the new tables use the newest catalog, or that of the live tables.
    ///   - samplesMax: The most subscriptions to show as samples.
    ///   - options: The options.
    /// - Returns: The difference.
    /// - Throws: `nothingLive`, `schemaTaken`, `logForked`, `databaseUnavailable`; `viewsInUse` if
    ///   the new tables could never be promoted.
    public func compare(
        _ chosen: [any Projection]? = nil,
        then afterwards: Afterwards,
        whatIf: WhatIf? = nil,
        catalog: ComparedCatalog = .newest,
        samplesMax: Int = 10,
        _ options: RebuildOptions = RebuildOptions()
    ) async throws(ProjectorError) -> Comparison {
        let action =
            whatIf != nil
            ? "rebuild --with" : catalog == .ofLive ? "tables check" : "tables diff"
        return try await exclusively(action, options) { session in
            let live = try await liveParts(of: chosen ?? projections, in: session)
            let newest = try await context(of: whatIf)
            // A table that was never built has nothing to be checked.
            let checked = projections.filter { projection in
                (catalog == .newest && !projection.isOnRequest)
                    || live.contains { $0.name == projection.name }
            }

            var plan = BuildPlan(
                projections: chosen ?? checked,
                context: newest,
                policy: whatIf?.text
            )
            if catalog == .ofLive {
                if let notice = Projector.staleCatalogNotice(live.map(\.catalogVersion), newest) {
                    options.notice(notice)
                }
                for part in live {
                    plan.contexts[part.name] = newest.knowing(catalog: part.catalogVersion)
                }
            }
            switch afterwards {
            case .keep(let schema):
                try await checkFree(schema, in: session)
                plan.schema = schema
            case .wait: plan.promotingAction = action
            case .drop: break
            }

            let comparing = Comparing(
                projector: self,
                plan: plan,
                live: live,
                comparesCitations: catalog == .ofLive
            )
            return try await comparing.run(
                then: afterwards,
                samplesMax: samplesMax,
                options,
                in: session
            )
        }
    }

    /// The catalog for the new tables of a comparison.
    public enum ComparedCatalog: Sendable, Hashable {
        /// The newest: shows what changes when they are promoted.
        case newest
        /// That of the live tables: shows whether these match their fold.
        case ofLive
    }

    private func liveParts(
        of chosen: [any Projection],
        in session: PostgresSession
    ) async throws -> [ProjectionPart] {
        let live = try await session.liveParts(of: chosen.map(\.name))
        guard !live.isEmpty else {
            throw ProjectorError(
                .nothingLive,
                "there are no live tables to compare with yet; `subledger rebuild` creates them"
            )
        }
        for part in live { try await check(part.head, lane: part.lane) }
        return live
    }
}

/// A comparison in progress.
private struct Comparing: Sendable {
    let projector: Projector
    let plan: BuildPlan
    /// The live tables at the start of the comparison.
    let live: [ProjectionPart]
    /// Whether equal rows must have equal causes: with the same fold, catalog and log.
    let comparesCitations: Bool

    func run(
        then afterwards: Projector.Afterwards,
        samplesMax: Int,
        _ options: Projector.RebuildOptions,
        in session: PostgresSession
    ) async throws -> Projector.Comparison {
        let log = projector.log
        let newest = try await log.heads()
        // A comparison that keeps its tables for promotion does not read the log twice.
        let signatures =
            afterwards == .drop ? try await LiveAlteration.ofSignatures(in: session) : []
        let (build, folded) = try await projector.fill(plan, options, in: session) { projection in
            let parts = live.filter { $0.name == projection.name }
            // A new projection has no live table, and is compared with no rows.
            guard !parts.isEmpty else { return newest }
            return parts.reduce(into: [:]) { heads, part in
                if part.head.commit > 0 { heads[part.lane] = part.head }
            }
        }

        let tables = ShadowTables(schema: build.schema, names: plan.names)
        return try await projector.orDrop(tables.schema, options, in: session) {
            let (compared, live) = try await compareAtOneCommit(tables, samplesMax, in: session)
            var found = compared
            found.tables = try await projector.rebuilt(tables, folded, in: session)
            try await finish(tables, afterwards, options, in: session)
            let names = Set(live.map(\.name))
            found.digestMismatches = digestMismatches(found, live)
            found.unmatched = found.tables.filter { !names.contains($0.name) }
            found.alterations += signatures
            found.uncomparable = found.difference.tables.filter {
                $0.oldVersion == nil && names.contains($0.name)
            }.map(\.name)
            found.lag = live.map { (newest[$0.lane]?.offset ?? 0) - $0.head.offset }.max() ?? 0
            return found
        }
    }

    private func finish(
        _ tables: ShadowTables,
        _ afterwards: Projector.Afterwards,
        _ options: Projector.RebuildOptions,
        in session: PostgresSession
    ) async throws {
        switch afterwards {
        case .drop:
            _ = try await LeftOvers.drop(tables.schema, options, .maintenance, in: session)
        case .keep:
            try await projector.set(tables, to: .kept, in: session)
        case .wait:
            try await projector.catchUp(tables, to: try await projector.log.heads(), in: session)
            // Only now, so if anything fails, the tables that were ready stay ready.
            try await projector.supersedeWaiting(
                tables.names,
                for: tables.schema,
                options,
                in: session
            )
        }
    }

    // A process that follows the live tables waits while the new ones are brought to the same
    // commits and a snapshot is taken, but not while the snapshot is compared.
    private func compareAtOneCommit(
        _ tables: ShadowTables,
        _ samplesMax: Int,
        in session: PostgresSession
    ) async throws -> (Projector.Comparison, [ProjectionPart]) {
        try await catchUp(tables, to: try await session.liveParts(of: plan.names), in: session)
        let holder = try await PostgresSession.connect(projector.settings)
        let reader = try await PostgresSession.connect(projector.settings)
        do {
            // It waits in a transaction while the tables are brought to the positions that it
            // holds.
            try await holder.execute(LiveViews.disableTimeouts)
            try await holder.execute("BEGIN; SET LOCAL ROLE ledger_projector")
            let held = try await holder.liveParts(of: plan.names, "FOR SHARE")
            try await catchUp(tables, to: held, in: session)
            try await reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")
            try await holder.execute("COMMIT")

            let pairs = pairs(tables, held)
            // After the tables were filled, so no erasure that they contain is missed.
            let erased = try await erasures(after: held)
            let difference = try await TableDifference.read(
                pairs,
                of: projector.log.identity.lanes,
                without: erased,
                samplesMax: samplesMax,
                in: reader
            )
            let citationMismatches =
                comparesCitations && difference.isEqual
                ? try await TableDifference.citationMismatches(pairs, without: erased, in: reader)
                : []
            let refusals = try await RefusalDifference.read(
                plan.names.compactMap { name in
                    held.first { $0.name == name }.map { (name, $0.schema, tables.schema) }
                },
                of: projector.log.identity.lanes,
                without: erased,
                in: reader
            )
            let alterations = try await LiveAlteration.all(
                of: held,
                comparedWith: plan.projections,
                in: tables.schema,
                reader
            )
            for session in [holder, reader] { await session.close() }
            let found = Projector.Comparison(
                difference: difference,
                citationMismatches: citationMismatches,
                refusals: refusals,
                alterations: alterations,
                pendingErasures: erased
            )
            return (found, held)
        } catch {
            for session in [holder, reader] { await session.close() }
            throw error
        }
    }

    // Erasures that some live table does not contain yet.
    private func erasures(after live: [ProjectionPart]) async throws -> Set<StreamID> {
        let offsets = live.map { ($0.lane, $0.head.offset) }
        return try await projector.log.streamsErased(
            after: Dictionary(offsets, uniquingKeysWith: min)
        )
    }

    private func pairs(
        _ tables: ShadowTables,
        _ live: [ProjectionPart]
    ) -> [TableDifference.Pair] {
        plan.projections.map { projection in
            let part = live.first { $0.name == projection.name }
            return TableDifference.Pair(
                projection,
                old: part?.schema ?? "projection",
                oldVersion: part?.version,
                new: tables.schema
            )
        }
    }

    private func catchUp(
        _ tables: ShadowTables,
        to live: [ProjectionPart],
        in session: PostgresSession
    ) async throws {
        try await projector.catchUp(
            tables,
            by: { part in
                plan.projections.first { $0.name == part.name }.map {
                    FollowedPart(
                        part: part,
                        projection: $0,
                        context: plan.context(of: $0)
                    )
                }
            },
            in: session
        ) { part in live.first { $0.lane == part.lane && $0.name == part.name }?.head }
    }

    // Equal rows have the same digest; if another one is recorded, following went wrong. Before an
    // erasure reaches the live tables, the rows of its subscription are not equal.
    private func digestMismatches(
        _ found: Projector.Comparison,
        _ live: [ProjectionPart]
    ) -> [String] {
        guard found.pendingErasures.isEmpty else { return [] }
        return found.tables.filter { table in
            let parts = live.filter { $0.name == table.name }
            let content = parts.content
            let isEqual = !found.difference.totals.contains {
                $0.name == table.name && $0.rowsChanged > 0
            }
            return !parts.isEmpty && isEqual
                && (content.digest != table.digest || content.rowCount != table.rows)
        }.map(\.name)
    }
}
