import EventLog
import LedgerSchema
import Postgres
import TestSupport
import Testing

/// Indexes that a migration adds to a large table.
@Suite(.enabled { await TestServer.isAvailable })
struct MigrationIndexTests {
    private static let later =
        Schema.migrations + [
            Schema.Migration(
                version: Schema.migrations.count + 1,
                name: "v999-later",
                sql: "COMMENT ON TABLE ledger.event IS 'Later.'",
                check: "",
                indexes: [
                    Schema.Index(
                        name: "event_links",
                        table: "event",
                        definition: "(lane, as_of_ms) WHERE kind = 'link'"
                    )
                ]
            )
        ]

    @Test func `appends continue during an index build, and an interrupted build is completed`()
        async throws
    {
        try await Variant.plain.withLog { log, settings in
            _ = try await log.append(verified(TestFacts.transaction(asOf: 1)))
            try await Inspector.inspect(settings) { reader in
                // A build waits for every transaction that began before it.
                try await reader.session.execute(
                    "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM ledger.event"
                )
                async let interrupted = Self.code { try await Self.migrate(settings) }
                let builder = try await Self.waitingBuilder(reader)
                _ = try await log.append(verified(TestFacts.transaction(asOf: 2, revoked: 1)))
                _ = try await reader.number("SELECT pg_terminate_backend(\(builder), 10000)::int")
                #expect(await interrupted == .databaseUnavailable)
                try await reader.session.execute("COMMIT")
                #expect(try await Self.validity(reader) == ["false"])
                let changes = try await Self.migrate(settings)
                #expect(changes.applied.isEmpty)
                #expect(changes.indexed == ["ledger.event_links"])
                #expect(try await Self.validity(reader) == ["true"])
                #expect(try await Self.migrate(settings).isEmpty)
                try await reader.session.execute("DROP INDEX ledger.event_links")
                #expect(try await Self.migrate(settings).indexed == ["ledger.event_links"])
                #expect(try await Self.validity(reader) == ["true"])
            }
        }
    }

    @Test func `on partitioned tables the index is built with the migration`() async throws {
        try await Variant.localExtremes[1].withDatabase { settings in
            let changes = try await Self.migrate(settings)
            #expect(changes.applied.map(\.name) == ["v999-later"])
            #expect(changes.indexed == ["ledger.event_links"])
            #expect(try await Self.migrate(settings).isEmpty)
            try await Inspector.inspect(settings) { inspector in
                #expect(try await Self.validity(inspector) == ["true"])
                let parts = try await inspector.number(
                    """
                    SELECT count(*) FROM pg_inherits
                    WHERE inhparent = 'ledger.event_links'::regclass
                    """
                )
                #expect(parts == 4)
            }
        }
    }

    @Test func `a new ledger has the index from the beginning`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let changes = try await Self.migrate(settings)
            #expect(changes.applied.count == Self.later.count && changes.indexed.isEmpty)
            let validity = try await Inspector.inspect(settings) { inspector in
                try await Self.validity(inspector)
            }
            #expect(validity == ["true"])
        }
    }

    private static func migrate(_ settings: ConnectionSettings) async throws -> Migrator.Changes {
        try await Migrator.migrate(settings, to: later)
    }

    private static func code(
        _ body: () async throws -> Migrator.Changes
    ) async -> EventLogError.Code? {
        do {
            _ = try await body()
            return nil
        } catch {
            return (error as? EventLogError)?.code
        }
    }

    // If no process waits, the test's time limit ends this loop.
    private static func waitingBuilder(_ inspector: Inspector) async throws -> Int64 {
        while true {
            try Task.checkCancellation()
            // A transaction sees the sessions as they were when it first looked.
            try await inspector.session.execute("SELECT pg_stat_clear_snapshot()")
            let pids = try await inspector.texts(
                """
                SELECT pid::text FROM pg_stat_activity
                WHERE datname = current_database() AND query LIKE 'CREATE INDEX CONCURRENTLY%'
                    AND wait_event_type = 'Lock'
                """
            )
            if let pid = pids.first.flatMap(Int64.init) { return pid }
            await Task.yield()
        }
    }

    private static func validity(_ inspector: Inspector) async throws -> [String] {
        try await inspector.texts(
            """
            SELECT i.indisvalid::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
            WHERE c.relname = 'event_links'
            """
        )
    }
}
