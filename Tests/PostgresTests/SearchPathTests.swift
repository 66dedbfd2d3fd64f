import Foundation
import Postgres
import TestSupport
import Testing

/// A session trusts no search path but its own.
@Suite(.enabled { await TestServer.isAvailable })
struct SearchPathTests {
    /// What the server resolves names with, and what it does with a backslash in a string.
    private static let shown = """
        SELECT current_setting('search_path'), current_setting('standard_conforming_strings'),
            current_setting('row_security'), current_setting('statement_timeout')
        """

    private static func expectOurs(_ session: PostgresSession) async throws {
        let row = try await session.query(shown).single()
        #expect(try row.text(0) == "pg_catalog, pg_temp")
        #expect(try row.text(1) == "on")
        #expect(try row.text(2) == "off")
        #expect(try row.text(3) == "0")
    }

    @Test(.disabled(if: HostileShadows.areEverywhere, "every database has them already"))
    func `a session calls no function that a database's search path puts first`()
        async throws
    {
        try await TestServer.shared.withDatabase { settings in
            #expect(try await HostileShadows.plant(in: settings) > 2500)
            let session = try await PostgresSession.connect(settings)
            try await Self.expectOurs(session)
            let row = try await session.query(
                "SELECT 'a' = 'a', 1 + 1, lower('A'), (SELECT count(*) > 0 FROM pg_class)"
            ).single()
            #expect(try row.bool(0))
            #expect(try row.int8(1) == 2)
            #expect(try row.text(2) == "a")
            #expect(try row.bool(3))
            // The shadows do what this test believes of them.
            try await session.execute("SET search_path = hostile, pg_catalog")
            for sql in ["SELECT 'a'::text = 'a'::text", "SELECT lower('A'::text)"] {
                let error = await #expect(throws: PostgresError.self) {
                    try await session.query(sql)
                }
                #expect(error?.primaryMessage == "a hostile function ran", "\(sql)")
            }
        }
    }

    @Test func `settings of the role and of the database do not reach a session`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let name = try #require(settings.database)
            let admin = try await PostgresSession.connect(settings)
            for place in ["DATABASE \(name)", "ROLE CURRENT_USER IN DATABASE \(name)"] {
                try await admin.execute(
                    """
                    ALTER \(place) SET search_path = public;
                    ALTER \(place) SET standard_conforming_strings = off;
                    ALTER \(place) SET statement_timeout = '1s';
                    ALTER \(place) SET lock_timeout = '1s'
                    """
                )
                try await Self.expectOurs(try await PostgresSession.connect(settings))
            }
        }
    }

    @Test func `every session prints values and names in one form, whatever a database sets`()
        async throws
    {
        try await TestServer.shared.withDatabase { settings in
            let name = try #require(settings.database)
            let admin = try await PostgresSession.connect(settings)
            for (setting, value) in HostileShadows.printing {
                try await admin.execute("ALTER DATABASE \(name) SET \(setting) = '\(value)'")
            }
            let row = try await PostgresSession.connect(settings).query(
                """
                SELECT '2026-03-04T05:06:07Z'::timestamptz::text, '1 day 2 hours'::interval::text,
                    '\\x00ff'::bytea::text, (0.1::float8 + 0.2::float8)::text, quote_ident('a')
                """
            ).single()
            #expect(try row.text(0) == "2026-03-04 05:06:07+00")
            #expect(try row.text(1) == "1 day 02:00:00")
            #expect(try row.text(2) == "\\x00ff")
            #expect(try row.text(3) == "0.30000000000000004")
            #expect(try row.text(4) == "a")
        }
    }

    @Test func `a limit in the options of the connection is kept`() async throws {
        try await TestServer.shared.withDatabase { settings in
            var limited = settings
            limited.connectionString +=
                settings.connectionString.contains("://")
                ? "&options=-c%20statement_timeout%3D20s" : " options='-c statement_timeout=20s'"
            let session = try await PostgresSession.connect(limited)
            let row = try await session.query(Self.shown).single()
            #expect(try row.text(3) == "20s")
            #expect(try row.text(0) == "pg_catalog, pg_temp")
        }
    }

    @Test func `neither another role nor a session that was reset has another search path`()
        async throws
    {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            try await Self.expectOurs(session)
            try await session.execute("SET ROLE pg_read_all_data")
            try await Self.expectOurs(session)
            try await session.execute("RESET ROLE")
            try await session.execute("DISCARD ALL")
            try await Self.expectOurs(session)
        }
    }

    @Test func `a temporary table never stands before the server's own`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            try await session.execute("CREATE TEMPORARY TABLE pg_class (relname text)")
            let row = try await session.query("SELECT count(*) FROM pg_class").single()
            #expect(try row.int8(0) > 100)
        }
    }
}
