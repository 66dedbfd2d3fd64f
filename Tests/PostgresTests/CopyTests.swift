import Postgres
import TestSupport
import Testing

@Suite(.enabled { await TestServer.isAvailable })
struct CopyTests {
    /// A row with every type that the formats support, and nulls in many places.
    private struct Row: Equatable, Sendable {
        var id: Int64
        var text: String?
        var bytes: [UInt8]?
        var flag: Bool?
        var small: Int32?
        var instant: Int64?

        init(id: Int64, _ random: inout SeededGenerator) {
            self.id = id
            text = Bool.random(using: &random) ? random.text() : nil
            bytes = Bool.random(using: &random) ? random.bytes() : nil
            flag = Bool.random(using: &random) ? Bool.random(using: &random) : nil
            small = Bool.random(using: &random) ? Int32(truncatingIfNeeded: random.next()) : nil
            instant = Bool.random(using: &random) ? Int64(random.next() >> 14) : nil
        }

        init(_ row: borrowing CopyBinaryRow) throws(PostgresError) {
            id = try row.int8(0)
            text = try row.textIfPresent(1)
            bytes = try row.byteaIfPresent(2)
            flag = try row.boolIfPresent(3)
            small = try row.int4IfPresent(4)
            instant = try row.timestamptzIfPresent(5)
        }

        var values: [PostgresValue] {
            [
                .int8(id), .text(text), .bytea(bytes), .bool(flag), .int4(small),
                .timestamptz(microseconds: instant),
            ]
        }
    }

    private static let table =
        "CREATE TABLE public.t (id int8, text text, bytes bytea, flag bool, small int4, at timestamptz)"
    private static let copyIn = "COPY public.t FROM STDIN (FORMAT BINARY)"
    private static let copyOut =
        "COPY (SELECT * FROM public.t ORDER BY id) TO STDOUT (FORMAT BINARY)"

    private static func rows(_ count: Int, seed: UInt64) -> [Row] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { Row(id: Int64($0), &random) }
    }

    private static func stream(_ rows: [Row]) -> [UInt8] {
        var writer = CopyBinaryWriter()
        for row in rows { writer.row(row.values) }
        writer.finish()
        return writer.takeBytes()
    }

    private static func parse(_ bytes: [UInt8], chunk: Int) throws(PostgresError) -> [Row] {
        var reader = CopyBinaryReader()
        var rows: [Row] = []
        var start = 0
        while start < bytes.count {
            let part = Array(bytes[start..<min(start + chunk, bytes.count)])
            try part.withUnsafeBufferPointer { (raw) throws(PostgresError) in
                try reader.consume(UnsafeRawBufferPointer(raw)) { (row) throws(PostgresError) in
                    rows.append(try Row(row))
                }
            }
            start += chunk
        }
        try reader.finish()
        return rows
    }

    @Test func `rows survive a round trip through COPY`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            try await session.execute(Self.table)
            let seed: UInt64 = 11
            let rows = Self.rows(5_000, seed: seed)
            let count = try await session.copyIn(Self.copyIn, from: rows[...]) {
                (rest, writer: inout CopyBinaryWriter) throws(PostgresError) in
                guard let row = rest.popFirst() else { return false }
                writer.row(row.values)
                return true
            }
            #expect(count == 5_000)
            let back = try await session.copyOut(Self.copyOut, into: [Row]()) {
                (rows, row: borrowing CopyBinaryRow) throws(PostgresError) in
                rows.append(try Row(row))
            }
            #expect(back == rows, "seed \(seed)")
        }
    }

    @Test func `the stream may be split anywhere in both directions`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            try await session.execute(Self.table)
            let seed: UInt64 = 12
            let rows = Self.rows(6, seed: seed)
            let bytes = Self.stream(rows)
            for chunk in 1...bytes.count {
                #expect(try Self.parse(bytes, chunk: chunk) == rows, "seed \(seed), chunk \(chunk)")
            }
            for chunk in [1, 2, 3, 7, 19, 20, 21, bytes.count] {
                try await session.execute("TRUNCATE public.t")
                let count = try await session.copyIn(Self.copyIn, from: bytes[...]) {
                    (rest) throws(PostgresError) -> [UInt8]? in
                    guard !rest.isEmpty else { return nil }
                    defer { rest = rest.dropFirst(chunk) }
                    return Array(rest.prefix(chunk))
                }
                #expect(count == 6)
                let back = try await session.copyOut(Self.copyOut, into: [UInt8]()) {
                    (all, part: UnsafeRawBufferPointer) throws(PostgresError) in
                    all.append(contentsOf: part)
                }
                #expect(back == bytes, "seed \(seed), chunk \(chunk)")
            }
        }
    }

    @Test func `a truncated or damaged stream is refused`() throws {
        let bytes = Self.stream(Self.rows(3, seed: 13))
        for end in 0..<bytes.count {
            let refusal = code { try Self.parse(Array(bytes[..<end]), chunk: 5) }
            #expect(refusal == .protocolViolation, "cut at \(end)")
        }
        #expect(code { try Self.parse(bytes + [0], chunk: 1000) } == .protocolViolation)
        #expect(code { try Self.parse(bytes + [0], chunk: bytes.count) } == .protocolViolation)
        var damaged = bytes
        damaged[0] = 0
        #expect(code { try Self.parse(damaged, chunk: 1000) } == .protocolViolation)
        damaged = bytes
        damaged[21] = 0xFE
        #expect(code { try Self.parse(damaged, chunk: 1000) } == .protocolViolation)
    }

    @Test func `an error of the source ends the COPY and writes nothing`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            try await session.execute(Self.table)
            let rows = Self.rows(5_000, seed: 14)
            let refusal = await codeOf {
                try await session.copyIn(Self.copyIn, from: rows[...]) {
                    (rest, writer: inout CopyBinaryWriter) throws(PostgresError) in
                    guard let row = rest.popFirst(), row.id < 4_000 else {
                        throw try Self.someError()
                    }
                    writer.row(row.values)
                    return true
                }
            }
            #expect(refusal == .misuse)
            let row = try await session.query("SELECT count(*) FROM public.t").single()
            #expect(try row.int8(0) == 0)
        }
    }

    @Test func `an error of the fold ends the COPY and the session survives`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            let refusal = await codeOf {
                try await session.copyOut(
                    "COPY (SELECT generate_series(1, 10000000)::int8) TO STDOUT (FORMAT BINARY)",
                    into: Int64(0)
                ) { (sum, row: borrowing CopyBinaryRow) throws(PostgresError) in
                    sum += try row.int8(0)
                    if sum > 1_000 { _ = try row.int8(1) }
                }
            }
            #expect(refusal == .misuse)
            let row = try await session.query("SELECT 1").single()
            #expect(try row.int8(0) == 1)
        }
    }

    @Test func `a row that the server refuses fails the COPY and the session survives`()
        async throws
    {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            try await session.execute("CREATE TABLE public.t (id int8 PRIMARY KEY)")
            let refusal = await codeOf {
                try await session.copyIn(Self.copyIn, from: 0) {
                    (sent, writer: inout CopyBinaryWriter) throws(PostgresError) in
                    writer.row([.int8(1)])
                    sent += 1
                    return sent < 2
                }
            }
            #expect(refusal == .server("23505"))
            let empty = try await session.copyIn(Self.copyIn, from: 0) {
                (_, _: inout CopyBinaryWriter) throws(PostgresError) in false
            }
            #expect(empty == 0)
        }
    }

    @Test func `a statement of the wrong kind is refused and the session survives`() async throws {
        try await TestServer.shared.withDatabase { settings in
            let session = try await PostgresSession.connect(settings)
            try await session.execute("CREATE TABLE public.t (id int8)")
            for sql in ["SELECT 1", "COPY public.t TO STDOUT", "INSERT INTO public.t VALUES (1)"] {
                let refusal = await codeOf {
                    try await session.copyIn(sql, from: 0) {
                        (_) throws(PostgresError) -> [UInt8]? in nil
                    }
                }
                #expect(refusal == .misuse, "\(sql)")
            }
            for sql in ["SELECT 1", "COPY public.t FROM STDIN"] {
                let refusal = await codeOf {
                    try await session.copyOut(sql, into: 0) {
                        (_, _: UnsafeRawBufferPointer) throws(PostgresError) in
                    }
                }
                #expect(refusal == .misuse, "\(sql)")
            }
            for sql in ["COPY public.t FROM STDIN", "COPY public.t TO STDOUT; SELECT 1"] {
                let refusal = await codeOf { try await session.execute(sql) }
                #expect(refusal == .misuse, "\(sql)")
            }
            let unknown = await codeOf {
                try await session.copyOut("COPY missing TO STDOUT", into: 0) {
                    (_, _: UnsafeRawBufferPointer) throws(PostgresError) in
                }
            }
            #expect(unknown == .server("42P01"))
            let row = try await session.query("SELECT count(*) FROM public.t").single()
            #expect(try row.int8(0) == 1)
        }
    }

    /// One of our own errors, made by an accessor because only the module can create one.
    private static func someError() throws(PostgresError) -> PostgresError {
        var writer = CopyBinaryWriter()
        writer.row([])
        writer.finish()
        var reader = CopyBinaryReader()
        try writer.takeBytes().withUnsafeBufferPointer { (raw) throws(PostgresError) in
            try reader.consume(UnsafeRawBufferPointer(raw)) { (row) throws(PostgresError) in
                _ = try row.int8(0)
            }
        }
        preconditionFailure("A row without fields had one.")
    }
}
