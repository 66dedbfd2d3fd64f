import EventLog
import Postgres
import TestSupport
import Testing

/// Who may make schemas must not become whoever uses the log.
@Suite(.enabled { await TestServer.isAvailable })
struct SearchPathTests {
    /// After `SET ROLE ledger_writer`, the name "$user" of the usual search path is that schema; and
    /// `unnest(bytea[])` would be called before PostgreSQL's own, which takes any array.
    @Test func `an append looks into no schema that is called like a role`() async throws {
        try await Variant.plain.withDatabase { settings in
            try await Inspector.inspect(settings) { inspector in
                for role in ["ledger_owner", "ledger_writer", "ledger_reader", "ledger_projector"] {
                    try await inspector.session.execute(
                        """
                        CREATE SCHEMA \(role);
                        GRANT USAGE ON SCHEMA \(role) TO PUBLIC;
                        CREATE FUNCTION \(role).unnest(bytea[]) RETURNS SETOF bytea
                        LANGUAGE plpgsql AS $$
                        BEGIN
                            RAISE EXCEPTION 'a hostile function ran';
                        END
                        $$
                        """
                    )
                }
            }
            let log = try await EventLog.open(settings, .test())
            _ = try await log.append(verified(TestFacts.transaction()))
            // Known by now, so that the look-up reads how it was proven.
            _ = try await log.append(verified(TestFacts.transaction()))
            try await expectSound(log, settings)
            await log.close()
        }
    }

    @Test(.disabled(if: HostileShadows.areEverywhere, "every database has them already"))
    func `every function of the log looks names up in PostgreSQL's schema only`()
        async throws
    {
        try await Variant.plain.withDatabase { settings in
            try await HostileShadows.plant(in: settings)
            try await Inspector.inspect(settings) { inspector in
                let log = try await EventLog.open(settings, .test())
                _ = try await log.append(verified(TestFacts.transaction()))
                _ = try await log.append(verified(TestFacts.transaction(asOf: 2)))
                await log.close()
                // As a person in psql, whose sessions have the search path of the database.
                try await inspector.session.execute("SET search_path = hostile, pg_catalog")
                for call in Self.calls {
                    _ = try await inspector.session.query(call)
                }
                let refused = await #expect(throws: PostgresError.self) {
                    try await inspector.session.execute("UPDATE ledger.event SET as_of_ms = 1")
                }
                #expect(refused?.sqlState == "LG001", "\(refused as Any)")
            }
        }
    }

    private static let calls = [
        "SELECT ledger.content_fields(content) FROM ledger.event",
        "SELECT ledger.content_text(content, 3) FROM ledger.event",
        "SELECT ledger.json_or_text('{}'), ledger.lane_of('1')",
        "SELECT ledger.text_without_nul('\\x5c75303030300041'::bytea)",
        "SELECT r.as_of_ms FROM ledger.confirmation c, ledger.repetitions(c) r",
    ]
}
