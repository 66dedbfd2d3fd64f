import EventLog
import Events
import Foundation
import Postgres
import TestSupport
import Testing

/// Rebuilds that fail on the way: the exit code gives the reason, the live tables are whole, and
/// the next rebuild finishes.
@Suite(.enabled { await TestServer.isAvailable })
struct RebuildFailureTests {
    private static let fourLanes = TestTemplate("command_four_lanes") {
        let lanes = try #require(LaneCount(4))
        _ = try await Migrator.migrate($0, Migrator.Layout(lanes: lanes, partitions: 4))
    }

    @Test func `a reader that dies ends the rebuild with 69, even if others wait for a lock`()
        async throws
    {
        try await TestServer.shared.withDatabase(from: Self.fourLanes) { settings in
            let command = Command(settings)
            let simulation = try await Simulation.shared
            try await command.expect(0, simulation.arguments + [simulation.payloads])
            let before = try await command.rebuiltDigest()
            let session = try await PostgresSession.connect(settings)
            // The first partition holds one lane; the other reader folds the lanes after it.
            let partition = try await session.query(
                """
                SELECT tableoid::regclass::text FROM ledger.event
                GROUP BY 1 HAVING count(DISTINCT lane) = 1 ORDER BY min(lane) LIMIT 1
                """
            ).single().text(0)
            try await session.execute(
                "BEGIN; LOCK TABLE \(partition) IN ACCESS EXCLUSIVE MODE"
            )
            let program = try Program("subledger").start(
                ["rebuild", "--jobs", "2", "--quiet"],
                environment: command.environment
            )
            while try await Self.terminateWaitingReaders(session) == 0 {}
            // Still held: the command ends at once, not when the log can be read again.
            let ending = await program.ending()
            #expect(ending.code == 69, "\(ending.errors)")
            #expect(ending.errors.hasPrefix("subledger: "), "\(ending.errors)")
            try await session.execute("ROLLBACK")
            await session.close()
            try await Self.expectWholeTables(command, settings, before)
        }
    }

    // When a backend waits for the lock during its COPY, so that nothing depends on time.
    private static func terminateWaitingReaders(_ session: PostgresSession) async throws -> Int {
        // In a transaction the server would always show the same moment.
        try await session.execute("SELECT pg_stat_clear_snapshot()")
        return try await session.query(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND query LIKE 'COPY (%'
                AND wait_event_type = 'Lock'
            """
        ).count
    }

    /// The live tables are unchanged, and nothing else is left.
    static func expectWholeTables(
        _ command: Command,
        _ settings: ConnectionSettings,
        _ digests: [String],
        location: SourceLocation = #_sourceLocation
    ) async throws {
        let tables = try await command.json([TableLine].self, "tables")
        let live = tables.filter { $0.state == "live" }
        #expect(live.map(\.digest) == digests, sourceLocation: location)
        for table in live {
            let rows = try await settings.number("SELECT count(*) FROM projection.\(table.name)")
            #expect(rows == table.rows, "\(table.name)", sourceLocation: location)
        }
        // Partly filled tables are dropped at once: they may be what filled a disk.
        #expect(tables.count == live.count, sourceLocation: location)
        #expect(try await command.rebuiltDigest() == digests, sourceLocation: location)
        let left = try await settings.number(
            "SELECT count(*) FROM pg_namespace WHERE nspname ~ '^projection_[0-9]+$'"
        )
        #expect(left == 1, sourceLocation: location)
        try await command.expect(0, ["tables", "check", "--quiet"], location: location)
    }
}
