import Postgres
import TestSupport
import Testing

/// Rows that are returned as one value each.
@Suite(.enabled { await TestServer.isAvailable })
struct RecordTests {
    private static let sql = """
        SELECT record_send(ROW(7, NULL::text, 'é'::text, 8::bigint, true, '{1,2}'::bigint[],
            '1970-01-01 00:00:01Z'::timestamptz)), record_send(ROW())
        """

    private func bytes(_ session: PostgresSession) async throws -> [[UInt8]] {
        let row = try await session.query(RecordTests.sql).single()
        return [try row.bytea(0), try row.bytea(1)]
    }

    @Test func `a record returns its fields and their types`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            let found = try await bytes(session)
            let words = try found[0].withUnsafeBytes { bytes in
                let record = try PostgresRecord(bytes)
                return [
                    "\(record.fieldCount)", "\(try record.int4(0))",
                    try record.textIfPresent(1) ?? "NULL", try record.text(2),
                    "\(try record.int8(3))", "\(try record.bool(4))",
                    "\((try record.int8Array(5) ?? []).compactMap { $0 })",
                    "\(try record.timestamptz(6))",
                    record.type(of: 3) == .int8 && record.type(of: 7) == nil ? "typed" : "untyped",
                ]
            }
            #expect(words == ["7", "7", "NULL", "é", "8", "true", "[1, 2]", "1000000", "typed"])
            let count = try found[1].withUnsafeBytes { try PostgresRecord($0).fieldCount }
            #expect(count == 0)
        }
    }

    @Test func `a missing field or a field of another type is refused`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            let found = try await bytes(session)
            let codes = found[0].withUnsafeBytes { bytes in
                [
                    code { try PostgresRecord(bytes).text(0) },
                    code { try PostgresRecord(bytes).int8(7) },
                    code { try PostgresRecord(bytes).int8(-1) },
                ]
            }
            #expect(codes == [.typeMismatch, .misuse, .misuse])
        }
    }

    @Test func `truncated or extra bytes are not a record`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            let whole = try #require(try await bytes(session).first)
            let prefixes = (0..<whole.count).map { Array(whole[..<$0]) }
            let wrong = prefixes + [whole + [0], [UInt8](repeating: 255, count: 12)]
            for bytes in wrong {
                let refusal = bytes.withUnsafeBytes { bytes in
                    code { try PostgresRecord(bytes).fieldCount }
                }
                #expect(refusal == .protocolViolation, "\(bytes.count) bytes")
            }
        }
    }
}
