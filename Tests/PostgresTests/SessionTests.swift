import Foundation
import Postgres
import TestSupport
import Testing

@Suite(.enabled { await TestServer.isAvailable })
struct SessionTests {
    @Test func `values of every type come back as they were sent`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            let rows = try await session.query(
                "SELECT $1 AS b, $2, $3, $4 AS i8, $5, $6, $7, $8",
                [
                    .bool(true), .int2(-2), .int4(.min), .int8(.max), .text("grüße \u{1F30D}"),
                    .bytea([0, 1, 255]), .timestamptz(microseconds: -1),
                    .jsonb("{\"a\": [1, null]}"),
                ]
            )
            let row = try rows.single()
            #expect(try row.bool(0) == true)
            #expect(try row.int4(1) == -2)
            #expect(try row.int4(2) == .min)
            #expect(try row.int8(2) == Int64(Int32.min))
            #expect(try row.int8(rows.columnIndex("i8")) == .max)
            #expect(try row.text(4) == "grüße \u{1F30D}")
            #expect(try row.bytea(5) == [0, 1, 255])
            #expect(try row.timestamptz(6) == -1)
            #expect(try row.text(7) == "{\"a\": [1, null]}")
        }
    }
}
