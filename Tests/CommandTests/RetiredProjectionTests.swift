import Postgres
import TestSupport
import Testing

/// The live table of a projection that this build no longer has.
@Suite(.enabled { await TestServer.isAvailable })
struct RetiredProjectionTests {
    @Test func `a retired table is listed, delays no wait, and can be dropped`() async throws {
        try await Self.withRetiredTable { command, settings in
            let listed = try await command.run("tables")
            #expect(listed.output.contains("retired"), "\(listed.output)")
            #expect(listed.output.contains("(unknown here)"), "\(listed.output)")
            #expect(listed.errors.contains("tables discard retired"), "\(listed.errors)")

            let simulation = try await Simulation.shared
            try await command.expect(0, simulation.arguments + [simulation.payloads])
            let followed = try await command.run("follow", "--once", "--quiet")
            #expect(followed.code == 0, "\(followed.errors)")
            #expect(followed.errors.contains("tables discard retired"), "\(followed.errors)")
            let end = try await settings.number("SELECT max(lane_offset) FROM ledger.event")
            try await command.expect(0, "follow", "--wait-for", "\(end)", "--timeout", "600")
            try await command.expect(0, "tables", "check", "--quiet")

            let dropped = try await command.expect(0, "tables", "discard", "retired", "--json")
            #expect(dropped.contains("projection_900.retired"), "\(dropped)")
            for left in [
                "SELECT count(*) FROM projection.ledger_projection WHERE name = 'retired'",
                "SELECT count(*) FROM pg_class WHERE relname = 'retired'",
                "SELECT count(*) FROM pg_namespace WHERE nspname = 'projection_900'",
            ] { #expect(try await settings.number(left) == 0, "\(left)") }
            let again = try await command.run("tables", "discard", "retired")
            #expect(again.code == 64, "\(again.errors)")
        }
    }

    @Test func `a current table, one in use and one under a view are not dropped`()
        async throws
    {
        try await Self.withRetiredTable { command, settings in
            let own = try await command.run("tables", "discard", "refunds")
            #expect(own.code == 0 && own.output.isEmpty, "\(own.errors)")
            #expect(own.errors.contains("live"), "\(own.errors)")
            #expect(try await settings.number("SELECT count(*) FROM projection.refunds") >= 0)

            let report = try await PostgresSession.connect(settings)
            try await report.execute("BEGIN; SELECT * FROM projection.retired LIMIT 1")
            let read = try await command.run("tables", "discard", "retired")
            #expect(read.code == 69, "\(read.errors)")
            #expect(read.errors.contains("pg_stat_activity"), "\(read.errors)")
            try await report.execute(
                "ROLLBACK; CREATE VIEW public.mine AS SELECT * FROM projection.retired"
            )
            await report.close()
            let viewed = try await command.run("tables", "discard", "retired")
            #expect(viewed.code == 69, "\(viewed.errors)")
            #expect(viewed.errors.contains("public.mine"), "\(viewed.errors)")
            #expect(try await settings.number("SELECT count(*) FROM public.mine") == 3)
        }
    }

    @Test func `a table of another program stays, and tables and doctor say whose it is`()
        async throws
    {
        try await Self.withRetiredTable(fold: "App.Retired") { command, settings in
            let listed = try await command.run("tables")
            #expect(listed.output.contains("(App.Retired)"), "\(listed.output)")
            #expect(
                listed.errors.contains("other programs update retired (App.Retired)"),
                "\(listed.errors)"
            )
            let followed = try await command.run("follow", "--once", "--quiet")
            #expect(followed.code == 0 && followed.errors.isEmpty, "\(followed.errors)")
            let doctor = try await command.run("doctor", "--json")
            #expect(
                doctor.output.contains("; other programs update retired (App.Retired)"),
                "\(doctor.output)\(doctor.errors)"
            )
            try await command.expect(0, "rebuild", "--quiet")
            #expect(try await settings.number("SELECT count(*) FROM projection.retired") == 3)
            try await command.expect(0, "tables", "discard", "retired")
        }
    }

    private static func withRetiredTable(
        fold: String? = nil,
        _ body: (Command, ConnectionSettings) async throws -> Void
    ) async throws {
        try await withLedger { command, settings in
            try await command.expect(0, "rebuild", "--quiet")
            // As an older program has left it.
            try await settings.meddle(
                """
                CREATE SCHEMA projection_900 AUTHORIZATION ledger_projector;
                COMMENT ON SCHEMA projection_900 IS 'Tables of one rebuild; an older one';
                SET ROLE ledger_projector;
                CREATE TABLE projection_900.retired AS SELECT generate_series(1, 3) AS number;
                CREATE VIEW projection.retired AS SELECT * FROM projection_900.retired;
                INSERT INTO projection.ledger_projection
                SELECT lane, 'projection_900', 'retired', state, version,
                    catalog_version, policy, lane_offset, commit_no, commit_digest, 3, digest,
                    updated_at, \(fold.map { "'\($0)'" } ?? "NULL")
                FROM projection.ledger_projection WHERE name = 'refunds'
                """
            )
            try await body(command, settings)
        }
    }
}
