internal import EventLog
internal import Events
internal import Postgres
public import Projections

extension Projector {
    /// The result of a promotion.
    public struct Promotion: Sendable {
        /// The tables that are live now.
        public let tables: [Rebuilt]
        /// How long readers of the views may have had to wait, in milliseconds.
        public let lockMilliseconds: Double
    }

    /// Replaces the live tables with those that a comparison left ready.
    ///
    /// They are first brought up to date. Readers keep working throughout: the views are replaced
    /// in one short transaction.
    ///
    /// - Parameters:
    ///   - chosen: What to promote; nil for everything that is ready.
    ///   - schemas: Promotes only from these schemas, so that nothing is promoted that was built
    ///     after somebody looked; nil for any.
    ///   - options: The options.
    /// - Returns: The tables that are live now.
    /// - Throws: `nothingReady`, `viewsInUse`, `logForked`, `databaseUnavailable`; the live tables
    ///   are then unchanged.
    public func promote(
        _ chosen: [any Projection]? = nil,
        from schemas: Set<String>? = nil,
        _ options: RebuildOptions = RebuildOptions()
    ) async throws(ProjectorError) -> Promotion {
        try await exclusively("tables promote", options) { session in
            var promoted: [Rebuilt] = []
            var milliseconds = 0.0
            let ready = try await ready(chosen, in: session)
            // Another comparison may have replaced them while this session waited for its end.
            if let schemas, schemas != Set(ready.map(\.schema)) {
                throw ProjectorError(
                    .nothingReady,
                    "other tables are waiting now than those that were shown; nothing was promoted"
                )
            }
            for tables in ready {
                try await LiveViews.rehearse(tables, doing: "tables promote", in: session)
            }
            for tables in ready {
                try await catchUp(tables, to: try await log.heads(), in: session)
                milliseconds = max(milliseconds, try await promote(tables, options, in: session))
                promoted += try await rebuilt(tables, [:], in: session)
            }
            _ = try await LeftOvers.drop(options, in: session)
            return Promotion(tables: promoted, lockMilliseconds: milliseconds)
        }
    }

    /// Removes ready tables with these names, which are superseded by those of a schema, ready from
    /// now on, or by live ones.
    func supersedeWaiting(
        _ names: [String],
        for schema: String? = nil,
        _ options: RebuildOptions,
        in session: PostgresSession
    ) async throws {
        try await session.transaction { session throws(PostgresError) in
            try session.execute(ProjectionSchema.asOwner)
            try Table.State.ready.unregister(names, in: session)
            guard let schema else { return }
            let tables = ShadowTables(schema: schema, names: names)
            try Table.State.ready.set(tables, in: session)
        }
        _ = try await LeftOvers.drop(options, in: session)
    }

    /// The tables that are ready, by schema; throws if there are none, or not all that were chosen.
    func ready(
        _ chosen: [any Projection]?,
        in session: PostgresSession
    ) async throws -> [ShadowTables] {
        let parts = try await session.parts(
            where: "\(Table.State.ready.condition) AND name = ANY($1)",
            [.textArray((chosen ?? projections).map(\.name))]
        )
        let wanted = chosen.map { $0.map(\.name) }
        guard !parts.isEmpty,
            wanted?.allSatisfy({ name in parts.contains { $0.name == name } }) != false
        else {
            throw ProjectorError(
                .nothingReady,
                "no rebuilt table\(chosen == nil ? "" : " of that name") is waiting to be "
                    + "promoted; `subledger tables diff` builds one and shows what would change"
            )
        }
        if let old = parts.first(where: { part in
            !projections.contains { part.isMade(by: $0) }
        }) {
            throw ProjectorError(
                .nothingReady,
                "another version of this program built the table \(old.name) that waits in schema "
                    + "\(old.schema); `subledger tables diff` builds it again"
            )
        }

        // Tables of several comparisons may be ready.
        return Set(parts.map(\.schema)).sorted().map { schema in
            let names = Set(parts.filter { $0.schema == schema }.map(\.name))
            return ShadowTables(
                schema: schema,
                names: projections.map(\.name).filter { names.contains($0) }
            )
        }
    }

    /// Switches the views to tables, in one short transaction, and drops the tables they showed.
    ///
    /// - Returns: For how many milliseconds the locks were held.
    func promote(
        _ tables: ShadowTables,
        _ options: RebuildOptions,
        in session: PostgresSession
    ) async throws -> Double {
        let live = try await session.liveParts(of: tables.names)
        try await notifyOfChanges(from: live, to: tables, options, in: session)
        let isOtherLog = try await isOfOtherLog(live)

        var isNotified = false
        for _ in 0..<Projector.promotionAttemptsMax {
            do throws(PostgresError) {
                if let milliseconds = try await promoteAtOnce(tables, isOtherLog, in: session) {
                    return milliseconds
                }
            } catch {
                if let refusal = LiveViews.refusal(error, doing: "rebuild") { throw refusal }
                guard error.sqlState == "55P03" else { throw error }
                // A report, or a step of `follow`, holds a lock that is needed.
                if !isNotified {
                    options.notice(
                        "the new tables wait until an open transaction releases the views"
                    )
                }
                isNotified = true
                try await Task.sleep(for: Projector.promotionPause)
                continue
            }
            try await catchUp(tables, to: try await log.heads(), in: session)
        }
        throw ProjectorError(
            .viewsInUse,
            "rebuild: the new tables are ready, but an open transaction reads the views of schema "
                + "projection and does not end, or `follow` is always ahead; pg_stat_activity "
                + "lists the sessions. End it and run `subledger rebuild` again"
        )
    }

    // If the log was restored or forked, the records about the live tables no longer count.
    private func isOfOtherLog(_ live: [ProjectionPart]) async throws -> Bool {
        for part in live {
            let known = try await log.head(lane: part.lane, commit: part.head.commit)
            if known?.digest != part.head.digest { return true }
        }
        return false
    }

    // Reports what makes new tables differ apart from the log: the operator may have forgotten one
    // cause, and not want another.
    private func notifyOfChanges(
        from live: [ProjectionPart],
        to tables: ShadowTables,
        _ options: RebuildOptions,
        in session: PostgresSession
    ) async throws {
        let new = try await parts(of: tables, session)
        var catalogs: Set<Int> = []
        var versions: [String] = []
        for name in tables.names {
            guard let old = live.first(where: { $0.name == name }),
                let new = new.first(where: { $0.name == name })
            else { continue }
            if old.catalogVersion != new.catalogVersion {
                catalogs.insert(old.catalogVersion)
            }
            if old.version > new.version {
                versions.append(
                    "\(name) has fold version \(old.version), this program \(new.version)"
                )
            }
        }

        if let oldest = catalogs.min(), let newest = new.first?.catalogVersion {
            options.notice(
                "the new tables use version \(newest) of the catalog; the tables that they replace "
                    + "used \(oldest == 0 ? "none" : "version \(oldest)")"
            )
        }
        if !versions.isEmpty {
            options.notice(
                "newer folds built the replaced live tables; this program may be outdated: "
                    + "\(versions.joined(separator: ", "))"
            )
        }
    }

    // Nil if the live tables are further along than the new ones: readers must not see less than
    // before.
    private func promoteAtOnce(
        _ tables: ShadowTables,
        _ isOtherLog: Bool,
        in session: PostgresSession
    ) async throws(PostgresError) -> Double? {
        // Before any lock is taken.
        let statements = tables.names.map {
            LiveViews.point($0, to: ProjectionSchema.table($0, in: tables.schema))
        }
        let begin = ContinuousClock.now
        let isDone = try await session.transaction { session throws(PostgresError) in
            try session.execute(LiveViews.begin)
            let parts = try session.parts(
                where: "name = ANY($2) AND (\(Table.State.live.condition) OR build_schema = $1)",
                [.text(tables.schema), .textArray(tables.names)],
                "FOR UPDATE"
            )
            guard isOtherLog || isFarEnough(tables, parts) else { return false }
            for statement in statements { try session.execute(statement) }
            try AnalyticsSchema.publish(in: session)
            try Table.State.live.unregister(tables.names, in: session)
            try Table.State.live.set(tables, in: session)
            return true
        }
        return isDone ? (ContinuousClock.now - begin) / .milliseconds(1) : nil
    }

    private func isFarEnough(_ tables: ShadowTables, _ parts: [ProjectionPart]) -> Bool {
        parts.filter { $0.state == .live }.allSatisfy { live in
            parts.contains {
                $0.schema == tables.schema && $0.name == live.name && $0.lane == live.lane
                    && $0.head.commit >= live.head.commit
            }
        }
    }

    /// The pause for readers between two attempts at a promotion.
    private static let promotionPause = Duration.milliseconds(500)

    /// Attempts at a promotion before a rebuild gives up: about ten minutes of a transaction that
    /// has read a view and does not end.
    private static let promotionAttemptsMax = 900
}
