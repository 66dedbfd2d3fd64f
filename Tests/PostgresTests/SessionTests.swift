import Foundation
import Postgres
import TestSupport
import Testing

@Suite(.enabled { await TestServer.isAvailable })
struct SessionTests {
    @Test func `values of every type are returned as they were sent`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            let rows = try await session.query(
                "SELECT $1, '-2'::smallint, $2, $3, $4, $5, $6, $7::jsonb",
                [
                    .bool(true), .int4(.min), .int8(.max), .text("grüße \u{1F30D}"),
                    .bytea([0, 1, 255]), .timestamptz(microseconds: -1),
                    .text("{\"a\": [1, null]}"),
                ]
            )
            let row = try rows.single()
            #expect(try row.bool(0) == true)
            #expect(try row.int4(1) == -2)
            #expect(try row.int4(2) == .min)
            #expect(try row.int8(2) == Int64(Int32.min))
            #expect(try row.int8(3) == .max)
            #expect(try row.text(4) == "grüße \u{1F30D}")
            #expect(try row.bytea(5) == [0, 1, 255])
            #expect(try row.timestamptz(6) == -1)
            #expect(try row.text(7) == "{\"a\": [1, null]}")
        }
    }

    @Test func `nulls of every type are null in the server`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            let nulls: [PostgresValue] = [
                .bool(nil), .int4(nil), .int8(nil), .text(nil), .bytea(nil),
                .timestamptz(microseconds: nil), .boolArray(nil), .int4Array(nil),
                .int8Array(nil), .textArray(nil), .byteaArray(nil),
            ]
            for (index, null) in nulls.enumerated() {
                let row = try await session.query("SELECT $1 IS NULL, $1", [null]).single()
                #expect(try row.bool(0), "parameter \(index)")
                #expect(try row.isNull(1), "parameter \(index)")
            }
            let row = try await session.query("SELECT $1::text IS NULL", [.null]).single()
            #expect(try row.bool(0))
        }
    }

    @Test func `empty values are not null`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            let row = try await session.query(
                "SELECT $1 = '', $2 = ''::bytea, $3 = '{}'::text[], $1, $2",
                [.text(""), .bytea([]), .textArray([])]
            ).single()
            for column in 0..<3 { #expect(try row.bool(column)) }
            #expect(try row.text(3) == "")
            #expect(try row.bytea(4) == [])
            // As the only parameter, so that the parameter buffer has no other byte to point at.
            let alone = try await session.query("SELECT $1 IS NULL", [.text("")]).single()
            #expect(try alone.bool(0) == false)
        }
    }

    @Test func `instants keep microseconds before and after both epochs`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            let expected: [(Int64, String)] = [
                (0, "1970-01-01 00:00:00+00"),
                (946_684_800_000_000, "2000-01-01 00:00:00+00"),
                (1_700_000_000_123_456, "2023-11-14 22:13:20.123456+00"),
                (-62_135_596_800_000_000, "0001-01-01 00:00:00+00"),
                (.max, "infinity"), (.min, "-infinity"),
            ]
            try await session.execute("SET timezone = 'UTC'")
            for (instant, text) in expected {
                let row = try await session.query(
                    "SELECT $1::text, $1",
                    [.timestamptz(microseconds: instant)]
                ).single()
                #expect(try row.text(0) == text)
                #expect(try row.timestamptz(1) == instant)
            }
            let refusal = await codeOf {
                _ = try await session.query(
                    "SELECT $1",
                    [.timestamptz(microseconds: .min + 1)]
                )
            }
            #expect(refusal == .server("22008"))
        }
    }

    @Test func `an accessor of another type throws and does not trap`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            let row = try await session.query("SELECT 1, 'x', NULL::int8, 5000000000").single()
            #expect(try row.int8(0) == 1)
            #expect(code { try row.bool(0) } == .typeMismatch)
            #expect(code { try row.int8(1) } == .typeMismatch)
            #expect(code { try row.timestamptz(0) } == .typeMismatch)
            #expect(code { try row.int8Array(0) } == .typeMismatch)
            #expect(code { try row.int8(2) } == .unexpectedNull)
            #expect(try row.int8IfPresent(2) == nil)
            #expect(code { try row.int8(4) } == .misuse)
            #expect(code { try row.int8(-1) } == .misuse)
            #expect(code { try row.int4(3) } == .typeMismatch)
        }
    }

    @Test func `bytes are lent without a copy, and rows outlive their session`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            let rows = try await session.query("SELECT i FROM generate_series(1, 3) AS i")
            await session.close()
            var sum = 0
            for row in rows {
                sum += Int(try row.int8(0))
                let length = try row.withBytes(0) { $0?.count }
                #expect(length == 4)
            }
            #expect(sum == 6)
        }
    }

    @Test func `a text with several statements runs as one`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            try await session.execute(
                "CREATE TABLE public.a (i int); INSERT INTO public.a VALUES (1)"
            )
            let refusal = await codeOf {
                try await session.execute("INSERT INTO public.a VALUES (2); SELECT 1/0")
            }
            #expect(refusal == .server("22012"))
            let row = try await session.query("SELECT count(*) FROM public.a").single()
            #expect(try row.int8(0) == 1)
        }
    }

    @Test func `role, application name and database are taken from the settings`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let admin = try await PostgresSession.connect(settings)
            let role = "reader \"x\" \(settings.database ?? "")"
            let quoted = role.replacing("\"", with: "\"\"")
            try await admin.execute("CREATE ROLE \"\(quoted)\"")
            var other = settings
            other.role = role
            other.applicationName = "auditor"
            let session = try await PostgresSession.connect(other)
            let row = try await session.query(
                "SELECT current_user, current_setting('application_name'), current_database()"
            ).single()
            #expect(try row.text(0) == role)
            other.role = "no such role"
            let error = await #expect(throws: PostgresError.self) {
                _ = try await PostgresSession.connect(other)
            }
            #expect(error?.message.contains("no such role") == true, "\(error as Any)")
            #expect(try row.text(1) == "auditor")
            #expect(try row.text(2) == settings.database)
            await session.close()
            try await admin.execute("DROP ROLE \"\(quoted)\"")
        }
    }

    @Test func `two hundred sessions opened and dropped leave no backend`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let watcher = try await PostgresSession.connect(settings)
            for number in 0..<200 {
                let session = try await PostgresSession.connect(settings)
                // Half of them end in the middle of a transaction.
                if number % 2 == 0 { try await session.execute("BEGIN") }
            }
            try await waitUntil(
                watcher,
                "SELECT count(*) = 1 FROM pg_stat_activity "
                    + "WHERE datname = current_database()"
            )
        }
    }

    @Test func `a closed session reports that it is closed`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            await session.close()
            #expect(await session.isBroken)
            let refusal = await codeOf { _ = try await session.query("SELECT 1") }
            #expect(refusal == .closed)
        }
    }
}
