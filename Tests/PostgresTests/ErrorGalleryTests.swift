import Foundation
import Postgres
import TestSupport
import Testing

/// Every failure that a caller can meet, provoked, with its message.
@Suite(.enabled { await TestServer.isAvailable })
struct ErrorGalleryTests {
    private static let secret = "s3cret-value"

    /// The failure of a statement; checks that its loggable text contains no secret.
    private static func failure(
        _ session: PostgresSession,
        _ sql: String,
        _ parameters: [PostgresValue] = []
    ) async throws -> PostgresError {
        let error = await #expect(throws: PostgresError.self) {
            try await session.query(sql, parameters)
        }
        let failure = try #require(error)
        #expect(!failure.description.contains(secret))
        #expect(!"\(failure)".contains(secret))
        return failure
    }

    @Test func `refusals carry SQLSTATE, constraint, table and column, but no values`()
        async throws
    {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            try await session.execute(
                """
                CREATE TABLE public.customer (id text PRIMARY KEY, age int NOT NULL,
                  CONSTRAINT customer_age_positive CHECK (age > 0));
                """
            )
            let insert = "INSERT INTO public.customer VALUES ($1, $2)"
            let row: [PostgresValue] = [.text(Self.secret), .int4(1)]
            try await session.query(insert, row)
            let unique = try await Self.failure(session, insert, row)
            #expect(unique.code == .server("23505"))
            #expect(unique.constraintName == "customer_pkey")
            #expect(unique.tableName == "customer")
            #expect(unique.detail?.contains(Self.secret) == true)
            #expect(unique.debugDescription.contains(Self.secret))
            #expect(!unique.isRetryable)
            let check = try await Self.failure(session, insert, [.text(Self.secret), .int4(-1)])
            #expect(check.constraintName == "customer_age_positive")
            let missing = try await Self.failure(session, insert, [.text(Self.secret), .int4(nil)])
            #expect(missing.columnName == "age")
            let cast = try await Self.failure(
                session,
                "SELECT $1::text::int",
                [.text(Self.secret)]
            )
            #expect(cast.code == .server("22P02"))
            #expect(cast.debugDescription.contains(Self.secret))
            let type = try await Self.failure(session, "SELECT $1 + 1", [.text(Self.secret)])
            #expect(type.sqlState == "42883")
            #expect(type.hint != nil)
        }
    }

    @Test func `text with a zero character and SQL with a zero byte are refused`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            let value = try await Self.failure(session, "SELECT $1", [.text("a\u{0}b")])
            #expect(value.code == .server("22021"))
            let text = try await Self.failure(session, "SELECT 1; \u{0} DROP TABLE t")
            #expect(text.code == .misuse)
            let simple = await codeOf { try await session.execute("SELECT 1 \u{0}") }
            #expect(simple == .misuse)
        }
    }

    @Test(arguments: [
        ("postgresql://me:s3cret-value@localhost:99999/x", "port"),
        ("postgresql://me:s3cret-value@localhost:abc/x", "port"),
        ("postgresql://me:s3cret/value@localhost/x", "port"),
        ("host=localhost connect_timeout=s3cret-value", "connect_timeout"),
        ("host=localhost sslmode=s3cret-value", "sslmode"),
    ])
    func `a value that libpq does not accept is reported as an error in the settings`(
        text: String,
        option: String
    ) async throws {
        let error = await #expect(throws: PostgresError.self) {
            try await PostgresSession.connect(ConnectionSettings(text))
        }
        let failure = try #require(error)
        #expect(failure.code == .invalidSettings)
        #expect(
            failure.description.contains("libpq does not accept the value of \(option)")
        )
        #expect(!failure.description.contains("s3cret"))
    }

    @Test func `an address without a server is named without its password`() async throws {
        let settings = ConnectionSettings(
            "postgresql://me:\(Self.secret)@/x?host=/nonexistent-folder"
        )
        let error = await #expect(throws: PostgresError.self) {
            try await PostgresSession.connect(settings)
        }
        #expect(error?.code == .couldNotConnect)
        #expect(error?.isRetryable == true)
        #expect(error?.description.contains("No such file or directory") == true)
        #expect(error?.description.contains(Self.secret) == false)
        #expect(!"\(settings)".contains(Self.secret))
    }

    @Test(arguments: [
        "host='unclosed \(ErrorGalleryTests.secret)", "postgresql://[\(ErrorGalleryTests.secret)",
        "password=\(ErrorGalleryTests.secret) nonsense", "nosuchkey=\(ErrorGalleryTests.secret)",
    ])
    func `settings that libpq cannot parse are not quoted`(text: String) async throws {
        let error = await #expect(throws: PostgresError.self) {
            try await PostgresSession.connect(ConnectionSettings(text))
        }
        #expect(error?.code == .invalidSettings)
        #expect(error?.description.contains(Self.secret) == false)
    }

    @Test func `a password with a slash is not quoted as a port`() async throws {
        let settings = ConnectionSettings("postgresql://me:\(Self.secret)/x@localhost/db")
        let error = await #expect(throws: PostgresError.self) {
            try await PostgresSession.connect(settings)
        }
        #expect(error?.description.contains(Self.secret) == false)
    }

    @Test func `a database that does not exist is a failure to connect`() async throws {
        var settings = try await TestServer.shared.settings()
        settings.database = "no_such_database"
        let error = await #expect(throws: PostgresError.self) {
            try await PostgresSession.connect(settings)
        }
        #expect(error?.code == .couldNotConnect)
        #expect(error?.description.contains("does not exist") == true)
    }

    @Test func `a session that the server ended is lost, and the error gives the reason`()
        async throws
    {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            let killer = try await PostgresSession.connect(settings)
            let pid = try await session.query("SELECT pg_backend_pid()").single().int8(0)
            try await killer.query("SELECT pg_terminate_backend($1)", [.int4(Int32(pid))])
            try await waitUntil(
                killer,
                "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = \(pid)"
            )
            let error = try await Self.failure(session, "SELECT 1")
            #expect(error.code == .connectionLost)
            #expect(error.isRetryable)
            #expect(await session.isBroken)
        }
    }

    /// A coordinator of Citus gives these no SQLSTATE of their own.
    @Test(arguments: [
        ("postmaster was shut down, exiting", true),
        ("failure on connection marked as essential: 10.0.0.2:5432", true),
        ("a bug", false),
    ])
    func `a lost server of a cluster is an outage`(message: String, isOutage: Bool) async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            let error = await #expect(throws: PostgresError.self) {
                try await session.execute(
                    "DO $$ BEGIN RAISE '\(message)' USING ERRCODE = 'XX000'; END $$"
                )
            }
            #expect(error?.isRetryable == isOutage)
        }
    }

    @Test func `notices from the server are not printed`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            try await session.execute("DO $$ BEGIN RAISE NOTICE 'loud'; END $$")
            try await session.query("DROP TABLE IF EXISTS nothing")
        }
    }
}
