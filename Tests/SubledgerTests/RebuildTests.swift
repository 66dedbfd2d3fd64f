import EventLog
import Events
import Postgres
import Projections
import Projector
import Subledger
import TestSupport
import Testing

/// What a rebuild creates, and what it leaves alone.
@Suite(.enabled { await TestServer.isAvailable })
struct RebuildTests {
    @Test(arguments: [FilledLedger.plain, FilledLedger.divided])
    func `the table contains the live fold of every stream`(template: TestTemplate) async throws {
        try await TestServer.shared.withDatabase(from: template) { settings in
            let ledger = try await FilledLedger.open(settings)
            let rebuilt = try #require(try await rebuild(ledger, settings).first)
            var expected: [TableRow] = []
            for stream in try await ledger.allStreams() {
                let rows = try await ledger.periods(of: stream).rows
                let lane = ledger.log.identity.lanes.lane(of: stream.originalTransactionId)
                expected += rows.enumerated().map { TableRow($1, ordinal: $0 + 1, lane: lane) }
            }
            let session = try await PostgresSession.connect(settings)
            let found = try await TableRow.all(in: session)
            #expect(found.count == rebuilt.rows)
            #expect(Set(found).count == found.count)
            #expect(Set(found) == Set(expected))
            #expect(rebuilt.streams == (try await ledger.allStreams().count))
            #expect(rebuilt.positions == (try await ledger.log.heads().mapValues(\.offset)))
            await session.close()
            await ledger.log.close()
        }
    }

    @Test func `two rebuilds, other lanes and another order of arrival give one digest`()
        async throws
    {
        var digests: Set<[Digest]> = []
        for template in [FilledLedger.plain, FilledLedger.divided] {
            try await TestServer.shared.withDatabase(from: template) { settings in
                let ledger = try await FilledLedger.open(settings)
                for _ in 0..<2 {
                    digests.insert(try await rebuild(ledger, settings).map(\.digest))
                }
                await ledger.log.close()
            }
        }
        #expect(digests.count == 1)
    }

    @Test func `a ledger without events has tables without rows`() async throws {
        try await TestServer.shared.withDatabase(from: .migrated) { settings in
            let ledger = try await FilledLedger.open(settings)
            let rebuilt = try await rebuild(ledger, settings)
            #expect(rebuilt.map(\.rows) == allProjections.map { _ in 0 })
            let session = try await PostgresSession.connect(settings)
            #expect(try await TableRow.all(in: session).isEmpty)
            await session.close()
            await ledger.log.close()
        }
    }

    @Test func `readers see all rows and no error while views are promoted`() async throws {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let ledger = try await FilledLedger.open(settings)
            let rows = try #require(try await rebuild(ledger, settings).first).rows
            let reads = try await withThrowingTaskGroup(of: Int.self) { group in
                group.addTask {
                    let session = try await PostgresSession.connect(settings)
                    var reads = 0
                    while !Task.isCancelled {
                        do throws(PostgresError) {
                            let counted = try await session.query(
                                "SELECT count(*) FROM projection.active_periods",
                                []
                            )
                            #expect(try counted.single().int8(0) == Int64(rows))
                            reads += 1
                        } catch {
                            // The end of the test may interrupt a read; nothing else may.
                            guard error.code == .cancelled else { throw error }
                        }
                    }
                    await session.close()
                    return reads
                }
                for _ in 0..<8 { _ = try await rebuild(ledger, settings) }
                group.cancelAll()
                return try await group.next() ?? 0
            }
            #expect(reads > 8)
            #expect(try await buildSchemas(settings).count == 1)
            await ledger.log.close()
        }
    }

    @Test func `a transaction older than a rebuild finds all rows in the new tables`()
        async throws
    {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let ledger = try await FilledLedger.open(settings)
            let rows = try #require(try await rebuild(ledger, settings).first).rows
            let report = try await PostgresSession.connect(settings)
            try await report.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT")
            _ = try await rebuild(ledger, settings)
            let counted = try await report.query(
                "SELECT count(*) FROM projection.active_periods",
                []
            )
            #expect(rows > 0)
            #expect(try counted.single().int8(0) == Int64(rows))
            try await report.execute("COMMIT")
            await report.close()
            await ledger.log.close()
        }
    }

    @Test func `views on a view and grants survive a rebuild`() async throws {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let ledger = try await FilledLedger.open(settings)
            let rows = try #require(try await rebuild(ledger, settings).first).rows
            let session = try await PostgresSession.connect(settings)
            try await session.execute(
                """
                CREATE VIEW public.report AS SELECT count(*) FROM projection.active_periods;
                GRANT SELECT ON projection.active_periods TO pg_monitor
                """
            )
            _ = try await rebuild(ledger, settings)
            let counted = try await session.query("SELECT * FROM public.report", [])
            #expect(try counted.single().int8(0) == Int64(rows))
            let granted = try await session.query(
                "SELECT has_table_privilege('pg_monitor', 'projection.active_periods', 'SELECT')",
                []
            )
            #expect(try granted.single().bool(0))
            await session.close()
            await ledger.log.close()
        }
    }

    @Test func `concurrent rebuilds all succeed`() async throws {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let digests = try await withThrowingTaskGroup(of: [[Digest]].self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        let ledger = try await FilledLedger.open(settings)
                        var digests: [[Digest]] = []
                        for _ in 0..<4 {
                            digests.append(try await rebuild(ledger, settings).map(\.digest))
                        }
                        await ledger.log.close()
                        return digests
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(digests.count == 8)
            #expect(Set(digests).count == 1)
            #expect(try await buildSchemas(settings).count == 1)
        }
    }
}

/// Rebuilds everything.
func rebuild(
    _ ledger: Ledger,
    _ settings: ConnectionSettings
) async throws -> [Projector.Rebuilt] {
    try await Projector(log: ledger.log, settings: settings).rebuild()
}

/// The schemas of all builds that were not dropped.
func buildSchemas(_ settings: ConnectionSettings) async throws -> [String] {
    let session = try await PostgresSession.connect(settings)
    let rows = try await session.query(
        "SELECT nspname FROM pg_namespace WHERE nspname ~ '^projection_[0-9]+$' ORDER BY 1",
        []
    )
    await session.close()
    return try rows.map { try $0.text(0) }
}

/// A row of the table `active_periods` with all columns.
struct TableRow: Hashable {
    let texts: [String]
    let numbers: [Int64]

    init(_ row: ActivePeriod, ordinal: Int, lane: Int) {
        texts = [
            row.stream.environment.word, row.stream.originalTransactionId, row.productId,
            row.kind.rawValue, row.endReason.rawValue,
        ]
        let instants = [row.purchaseDate, row.expiresDate, row.validFrom, row.validTo]
        numbers =
            [Int64(lane), Int64(ordinal)] + instants.map(\.milliseconds)
            + row.positions.map(\.offset)
    }

    private init(_ row: PostgresRow) throws {
        texts = try (0..<5).map { try row.text($0) }
        let positions = try row.int8Array(11) ?? []
        numbers =
            try (5..<7).map { Int64(try row.int4($0)) } + (7..<11).map { try row.int8($0) }
            + positions.compactMap { $0 }
    }

    static func all(in session: PostgresSession) async throws -> [TableRow] {
        try await session.query(
            """
            SELECT environment, original_transaction_id, product_identifier, kind, end_reason, lane,
                ordinal, purchase_date_ms, expires_date_ms,
                (extract(epoch FROM valid_from) * 1000)::bigint,
                (extract(epoch FROM valid_to) * 1000)::bigint, positions
            FROM projection.active_periods
            """,
            []
        ).map { try TableRow($0) }
    }
}
