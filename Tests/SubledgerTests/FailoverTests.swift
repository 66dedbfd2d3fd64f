import AppStoreSimulator
import Catalog
import EventLog
import Events
import Postgres
import Subledger
import TestSupport
import Testing

/// A server that comes back without its newest commits.
///
/// After a failover to a lagging replica, or an older backup: the lost commits are lost, but the
/// log must stay consistent.
@Suite(.enabled { await TestServer.isAvailable })
struct FailoverTests {
    @Test func `a writer continues from what the server still has, in every lane`() async throws {
        let simulator = AppStoreSimulator(seed: 8)
        try await TestServer.shared.withDatabase(from: .fourLanes) { settings in
            let ledger = Ledger(
                log: try await EventLog.open(settings, FilledLedger.options),
                verifier: try simulator.verifier()
            )
            let lives = Array(simulator.lives(24))
            let first = lives[0]
            let lane = ledger.log.identity.lanes.lane(of: first.originalTransactionId)
            let other = try #require(
                lives.first {
                    ledger.log.identity.lanes.lane(of: $0.originalTransactionId) != lane
                }
            )
            // The writer knows the heads of both lanes and the certificates in them.
            for life in [first, other] { try await ledger.ingest(life.notifications()) }
            try await lose(lane, of: settings)
            // The other lane notices the lost connection.
            try await ledger.ingest(other.polls())
            try await ledger.ingest(first.notifications())
            let report = try await ledger.log.verify()
            #expect(report.isOK, "\(String(describing: report.firstMismatch))")
            for life in [first, other] {
                let found = try await ledger.periods(of: life.stream)
                let difference = life.difference(found, by: "what was sent again")
                #expect(difference == nil, "\(difference ?? "")")
            }
            await ledger.log.close()
        }
    }

    /// Removes all rows of a lane, and terminates everyone else's connections.
    private func lose(_ lane: Int, of settings: ConnectionSettings) async throws {
        let session = try await PostgresSession.connect(settings)
        try await session.execute(Tampering.begin)
        for table in [
            "event", "confirmation", "evidence", "evidence_segment", "root_certificate", "commit",
        ] {
            try await session.execute("DELETE FROM ledger.\(table) WHERE lane = \(lane)")
        }
        try await session.execute(
            """
            SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """
        )
        await session.close()
    }

    @Test(.disabled(if: CitusCluster.shared != nil, "it adds triggers to the log"))
    func `no database setting makes an append return before the flush`() async throws {
        try await TestServer.shared.withDatabase(from: .migrated) { settings in
            let admin = try await PostgresSession.connect(settings)
            let name = try #require(settings.database)
            try await admin.execute("ALTER DATABASE \(name) SET synchronous_commit = off")
            let simulator = AppStoreSimulator(seed: 8)
            let ledger = Ledger(
                log: try await EventLog.open(settings, FilledLedger.options),
                verifier: try simulator.verifier()
            )
            try await admin.execute(
                """
                CREATE TABLE public.seen (relation text, setting text);
                GRANT INSERT ON public.seen TO PUBLIC;
                CREATE FUNCTION public.look() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    INSERT INTO public.seen
                    VALUES (TG_TABLE_NAME, current_setting('synchronous_commit'));
                    RETURN NULL;
                END $$
                """
            )
            let tables = ["catalog", "commit", "ingestion", "rejection"]
            for table in tables {
                try await admin.execute(
                    "CREATE TRIGGER look AFTER INSERT ON ledger.\(table) "
                        + "EXECUTE FUNCTION public.look()"
                )
            }
            try await ledger.ingest(simulator.life(0).notifications())
            _ = try await ledger.ingest([[1, 2, 3]])
            _ = try await CatalogStore(log: ledger.log).add(
                try CatalogFile.read(SimulatedCatalog.storekit),
                effectiveFrom: nil,
                source: "test",
                recordedAt: .systemClock()
            )
            let seen = try await admin.query("SELECT DISTINCT relation, setting FROM public.seen")
            #expect(try Set(seen.map { try $0.text(0) }) == Set(tables))
            #expect(try Set(seen.map { try $0.text(1) }) == ["on"])
            await ledger.log.close()
            await admin.close()
        }
    }
}

extension TestTemplate {
    /// An empty ledger of four lanes.
    static let fourLanes = TestTemplate("four_lanes") {
        _ = try await Migrator.migrate($0, Migrator.Layout(lanes: LaneCount(4)))
    }
}
