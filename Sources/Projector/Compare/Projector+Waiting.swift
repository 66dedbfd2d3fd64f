internal import EventLog
internal import Events
internal import Postgres
internal import Projections

extension Projector {
    /// Compares the tables that are ready to be promoted with the live ones, as both are now.
    ///
    /// Builds nothing. Both have to include the same commits, as when a follower has brought both up
    /// to date; until then it looks again for some seconds.
    ///
    /// - Parameter samplesMax: The most subscriptions to show as samples.
    /// - Returns: What a promotion would change.
    /// - Throws: `nothingReady`, `permissionDenied`, `databaseUnavailable`.
    package func compareWaiting(samplesMax: Int) async throws(ProjectorError) -> Comparison {
        try await reading("compare the waiting tables") { session in
            for _ in 0..<Projector.waitingLooksMax {
                try await session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                let ready = try await ready(nil, in: session)
                if let compared = try await compare(ready, samplesMax, in: session) {
                    try await session.execute("COMMIT")
                    return compared
                }
                try await session.execute("ROLLBACK")
                try await Task.sleep(for: Projector.waitingPause)
            }
            throw ProjectorError(
                .nothingReady,
                "the waiting tables and the live ones do not include the same events now; "
                    + "`subledger follow --once` brings both up to date. While new events arrive all "
                    + "the time, `subledger tables diff` compares them"
            )
        }
    }

    /// Looks at the positions before a comparison is given up: some seconds.
    private static let waitingLooksMax = 10
    private static let waitingPause = Duration.milliseconds(300)

    // Nil if the two sides do not include the same events.
    private func compare(
        _ ready: [ShadowTables],
        _ samplesMax: Int,
        in session: PostgresSession
    ) async throws -> Comparison? {
        var tables: [Rebuilt] = []
        for shadow in ready { tables += try await rebuilt(shadow, [:], in: session) }
        let live = try await session.liveParts(of: tables.map(\.name))
        let isEven = tables.allSatisfy { table in
            let parts = live.filter { $0.name == table.name }
            return parts.isEmpty || parts.positions == table.positions
        }
        guard isEven else { return nil }

        let known = live.map { ($0.lane, $0.head.offset) }
        let erased = try await log.streamsErased(after: Dictionary(known, uniquingKeysWith: min))
        let lanes = log.identity.lanes
        let difference = try await TableDifference.read(
            pairs(tables, live),
            of: lanes,
            without: erased,
            samplesMax: samplesMax,
            in: session
        )
        let refusals = try await RefusalDifference.read(
            tables.compactMap { table in
                live.first { $0.name == table.name }.map { (table.name, $0.schema, table.schema) }
            },
            of: lanes,
            without: erased,
            in: session
        )
        var comparison = Comparison(
            difference: difference,
            citationMismatches: [],
            refusals: refusals,
            alterations: [],
            pendingErasures: erased
        )
        let names = Set(live.map(\.name))
        comparison.uncomparable = difference.tables.filter {
            $0.oldVersion == nil && names.contains($0.name)
        }.map(\.name)
        comparison.tables = tables
        comparison.unmatched = tables.filter { table in !live.contains { $0.name == table.name } }
        return comparison
    }

    private func pairs(
        _ tables: [Rebuilt],
        _ live: [ProjectionPart]
    ) -> [TableDifference.Pair] {
        tables.compactMap { table in
            let old = live.first { $0.name == table.name }
            return projections.first { $0.name == table.name }.map { projection in
                TableDifference.Pair(
                    projection,
                    old: old?.schema ?? "projection",
                    oldVersion: old?.version,
                    new: table.schema
                )
            }
        }
    }
}
