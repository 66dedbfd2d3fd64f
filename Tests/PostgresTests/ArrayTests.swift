import Postgres
import TestSupport
import Testing

@Suite(.enabled { await TestServer.isAvailable })
struct ArrayTests {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `random arrays survive a round trip through the server`(seed: UInt64) async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            var random = SeededGenerator(seed: seed)
            for round in 0..<40 {
                let count = Int.random(in: 0...20, using: &random)
                let bools = random.list(count) { Bool.random(using: &$0) }
                let ints = random.list(count) { Int32.random(in: .min ... .max, using: &$0) }
                let longs = random.list(count) { Int64.random(in: .min ... .max, using: &$0) }
                let texts = random.list(count) { $0.text() }
                let bytes = random.list(count) { $0.bytes() }
                let row = try await session.query(
                    "SELECT $1, $2, $3, $4, $5, $6 = cardinality($3), "
                        + "(SELECT array_agg(x ORDER BY n) FROM unnest($4) WITH ORDINALITY u(x, n))",
                    [
                        .boolArray(bools), .int4Array(ints), .int8Array(longs), .textArray(texts),
                        .byteaArray(bytes), .int4(Int32(count)),
                    ]
                ).single()
                let place = "seed \(seed), round \(round)"
                #expect(try row.boolArray(0) == bools, "\(place)")
                #expect(try row.int4Array(1) == ints, "\(place)")
                #expect(try row.int8Array(2) == longs, "\(place)")
                #expect(try row.textArray(3) == texts, "\(place)")
                #expect(try row.byteaArray(4) == bytes, "\(place)")
                #expect(try row.bool(5), "\(place)")
                #expect(try row.textArray(6) == (count == 0 ? nil : texts), "\(place)")
            }
        }
    }

    @Test func `the server prints the arrays it received`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            let row = try await session.query(
                "SELECT $1::text, $2::text, $3::text",
                [
                    .int8Array([1, nil, -3]), .textArray(["a b", nil, "", "NULL"]),
                    .boolArray([]),
                ]
            ).single()
            #expect(try row.text(0) == "{1,NULL,-3}")
            #expect(try row.text(1) == "{\"a b\",NULL,\"\",\"NULL\"}")
            #expect(try row.text(2) == "{}")
        }
    }

    @Test func `a two-dimensional array is refused`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            let row = try await session.query("SELECT '{{1,2},{3,4}}'::int8[]").single()
            #expect(code { try row.int8Array(0) } == .typeMismatch)
        }
    }
}

extension SeededGenerator {
    mutating func list<V>(_ count: Int, _ make: (inout SeededGenerator) -> V) -> [V?] {
        var values: [V?] = []
        for _ in 0..<count {
            values.append(Int.random(in: 0..<4, using: &self) == 0 ? nil : make(&self))
        }
        return values
    }

    mutating func text() -> String {
        let alphabet = Array("aZ0,{}\"\\ \n\täß漢\u{1F600}'$")
        let count = Int.random(in: 0...12, using: &self)
        return String(
            (0..<count).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &self)] }
        )
    }

    mutating func bytes() -> [UInt8] {
        let count = Int.random(in: 0...12, using: &self)
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
    }
}
