import EventLog
import Events
import Postgres
import Projections
import Projector
import Subledger
import TestSupport
import Testing

/// Rebuilds that do not finish, and readers that block them.
@Suite(.enabled { await TestServer.isAvailable })
struct FailedRebuildTests {
    @Test(arguments: ["COPY \"projection_%", "COPY (%"])
    func `a rebuild whose backend is terminated leaves the live tables unchanged`(
        victim: String
    ) async throws {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let ledger = try await FilledLedger.open(settings)
            let all = try await rebuild(ledger, settings)
            let before = try #require(all.first { $0.name == "active_periods" })
            let session = try await PostgresSession.connect(settings)
            let failure = try await failureOfRebuild(ledger, settings, session, victim: victim)
            #expect(
                failure.map {
                    [.databaseUnavailable, .log(.databaseUnavailable)].contains($0.code)
                }
                    == true,
                "\(String(describing: failure))"
            )
            #expect(try await TableRow.all(in: session).count == before.rows)
            let live = try await session.query(
                "SELECT build_schema, digest FROM projection.ledger_projection WHERE name = $1 AND state = 'live'",
                [.text(before.name)]
            )
            let schema = try live.single().text(0)
            #expect(try live.single().bytea(1) == before.digest.bytes)
            #expect(try await buildSchemas(settings).contains(schema))

            let after = try await rebuild(ledger, settings)
            #expect(after.map(\.digest) == all.map(\.digest))
            #expect(try await buildSchemas(settings).count == 1)
            await session.close()
            await ledger.log.close()
        }
    }

    /// Stops a rebuild while it waits for the log, kills one of its backends, and lets it continue.
    private func failureOfRebuild(
        _ ledger: Ledger,
        _ settings: ConnectionSettings,
        _ session: PostgresSession,
        victim: String
    ) async throws -> ProjectorError? {
        try await session.execute("BEGIN; LOCK TABLE ledger.event IN ACCESS EXCLUSIVE MODE")
        async let failing = failure(of: ledger, settings)
        while try await terminate(victim, session) == 0 {}
        try await session.execute("COMMIT")
        return await failing
    }

    private func failure(
        of ledger: Ledger,
        _ settings: ConnectionSettings
    ) async -> ProjectorError? {
        do throws(ProjectorError) {
            _ = try await Projector(log: ledger.log, settings: settings).rebuild()
            return nil
        } catch {
            return error
        }
    }

    // When a backend waits during its COPY, so that nothing depends on time.
    private func terminate(_ victim: String, _ session: PostgresSession) async throws -> Int {
        // In a transaction the server would always show the same moment.
        try await session.execute("SELECT pg_stat_clear_snapshot()")
        let rows = try await session.query(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND query LIKE $1 AND state = 'active'
                AND wait_event IS NOT NULL
            """,
            [.text(victim)]
        )
        return rows.count
    }

    @Test func `maintenance of a table only delays dropping it`() async throws {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let ledger = try await FilledLedger.open(settings)
            let projector = Projector(log: ledger.log, settings: settings)
            _ = try await projector.build(into: "side")
            // For as long as the server lets autovacuum continue before it yields to others.
            let keeper = try await PostgresSession.connect(settings)
            let lock = "LOCK TABLE side.refunds IN SHARE UPDATE EXCLUSIVE MODE"
            try await keeper.execute("BEGIN; \(lock)")
            async let discarding: Void = projector.discard(schema: "side")
            try await keeper.execute("SELECT pg_sleep(1.5); COMMIT")
            try await discarding
            #expect(try await projector.tables().isEmpty)
            await keeper.close()
            await ledger.log.close()
        }
    }

    @Test func `a long report blocks neither other readers nor the end of a rebuild`()
        async throws
    {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let ledger = try await FilledLedger.open(settings)
            let rows = try #require(try await rebuild(ledger, settings).first).rows
            let report = try await PostgresSession.connect(settings)
            try await report.execute("BEGIN; SELECT * FROM projection.active_periods LIMIT 1")
            async let rebuilding = rebuild(ledger, settings)
            try await waitForPromotion(ledger, report)
            // A new reader arrives while the promotion waits for the report.
            let reader = try await PostgresSession.connect(settings)
            try await reader.execute("SET statement_timeout = '20s'")
            for _ in 0..<5 {
                let counted = try await reader.query(
                    "SELECT count(*) FROM projection.active_periods",
                    []
                )
                #expect(try counted.single().int8(0) == Int64(rows))
            }
            await reader.close()
            try await report.execute("COMMIT")
            #expect(try await rebuilding.first?.rows == rows)
            await report.close()
            _ = try await rebuild(ledger, settings)
            #expect(try await buildSchemas(settings).count == 1)
            await ledger.log.close()
        }
    }

    // The promotion waits for the lock of the view.
    private func waitForPromotion(_ ledger: Ledger, _ session: PostgresSession) async throws {
        while true {
            let waiting = try await session.query(
                """
                SELECT FROM pg_locks WHERE NOT granted
                    AND relation = 'projection.active_periods'::regclass
                """,
                []
            )
            if !waiting.isEmpty { return }
        }
    }
}
