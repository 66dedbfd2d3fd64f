import Foundation
import TestSupport
import Testing

/// `subledger-bench` with a few events: its numbers mean nothing then, but each must be present.
///
/// The tests run one after the other, because all work in one database.
@Suite(.enabled { await TestServer.isAvailable }, .serialized)
struct BenchTests {
    /// Every kind, with arguments as small as measure something.
    static let arguments = [
        "effects": ["--events", "1000"],
        "append": ["--rounds", "1", "--appends", "2", "--batches", "1"],
        "ingest": ["--rounds", "1", "--megabytes", "1"],
        "read": ["--streams", "2", "--queries", "3"],
        "rebuild": ["--rounds", "1", "--events", "1000"],
        "report": ["--rounds", "2", "--events", "6000"],
        "serve": ["--requests", "60", "--soak", "100"],
        "verify": ["--rounds", "1", "--seconds", "0.01"],
    ]

    // As a process: it measures its own memory, and starts itself as a service.
    private func measure<Document: Decodable>(
        _ kind: String,
        _ type: Document.Type,
        _ command: Command? = nil
    ) async throws -> Document {
        let ending = try await Program("subledger-bench").run(
            [kind, "--quiet", "--json"] + (try #require(BenchTests.arguments[kind])),
            environment: command?.environment ?? ["DATABASE_URL": "host=/nowhere"]
        )
        #expect(ending.code == 0 && ending.errors.isEmpty, "\(ending.errors)")
        return try JSONDecoder().decode(type, from: Data(ending.output.utf8))
    }

    @Test func `help lists the kinds that these tests run`() async throws {
        let ending = try await Program("subledger-bench").run(["--help"])
        #expect(ending.code == 0)
        let kinds = ending.output.matches(of: /\n  ([a-z]+) {2,}[A-Z]/).map { String($0.1) }
        #expect(Set(kinds) == Set(BenchTests.arguments.keys), "\(ending.output)")
    }

    @Test(arguments: [
        ["read", "--queries", "0"], ["read", "--streams", "-1"], ["verify", "--rounds", "0"],
        ["verify", "--seconds", "0"],
    ])
    func `a count or a time that measures nothing is a usage error`(
        arguments: [String]
    ) async throws {
        let ending = try await Program("subledger-bench").run(arguments)
        #expect(ending.code == 64 && ending.output.isEmpty)
        #expect(!ending.errors.isEmpty)
    }

    @Test func `bench append compares single appends and batches with plain SQL`() async throws {
        try await withLedger { command, _ in
            let rates = try await measure("append", [String: Double].self, command)
            for name in ["singleRatioAt1", "singleRatioAt128", "batchRatioAt1000"] {
                #expect(rates[name] ?? 0 > 0, "\(name): \(rates)")
            }
        }
    }

    @Test func `bench read compares each answer with a plain SELECT of the same rows`()
        async throws
    {
        try await withLedger { command, _ in
            let read = try await measure("read", Read.self, command)
            #expect(read.sizes.count == 2 && read.queries == 3)
            for size in read.sizes {
                #expect(size.bareP50 > 0 && size.periodsRatioP99 > 0 && size.explainRatioP99 > 0)
            }
        }
    }

    @Test func `bench verify needs no database and names its ratios`() async throws {
        let numbers = try await measure("verify", [String: Double].self)
        for name in [
            "notificationRatio", "transactionRatio", "decodeRatio", "bareVerificationsPerSecond",
            "notificationsPerSecond", "transactionsPerSecond", "decodeMegabytesPerSecond",
            "plainDecodeMegabytesPerSecond",
        ] { #expect(numbers[name] ?? 0 > 0, "\(name)") }
        #expect(numbers["rounds"] == 1)
    }

    @Test func `bench rebuild follows at least something, however short the log`() async throws {
        try await withLedger { command, _ in
            let summary = try await measure("rebuild", Summary.self, command)
            #expect(summary.followedEvents > 0 && summary.followedEvents <= 100)
            #expect(summary.followEventsPerSecond > 0)
            #expect(summary.ratioOfAllToBothLimits > 0)
        }
    }

    @Test func `bench effects counts the effects of a log`() async throws {
        try await withLedger { command, _ in
            let numbers = try await measure("effects", [String: Double].self, command)
            for name in ["events", "effects", "seconds", "effectsPerSecond", "mebibytes"] {
                #expect(numbers[name] ?? 0 > 0, "\(name): \(numbers)")
            }
        }
    }

    @Test
    func `bench report compares every report with hand-written SQL, and exports the rows of COPY`()
        async throws
    {
        try await withLedger { command, _ in
            let measured = try await measure("report", Reports.self, command)
            let list = try await command.expect(0, "report", "list")
            // Two of a report's ways to count, and a view for other tools.
            let variants: Set = ["revenue-fiscal", "revenue-rates", "recognised"]
            #expect(variants.isSubset(of: measured.reports.keys))
            for (name, pair) in measured.reports {
                #expect(variants.contains(name) || list.contains("\(name) (definition "))
                #expect(pair.seconds > 0 && pair.sqlSeconds > 0 && pair.ratio > 0, "\(name)")
            }
            #expect(measured.reports.count == 21 + variants.count)
            #expect(measured.export.rows > 1000 && measured.export.ratio > 0)
        }
    }

    @Test func `bench ingest reads every kind of file, twice`() async throws {
        try await withLedger { command, _ in
            let kinds = try await measure("ingest", [String: Ingested].self, command)
            let names = ["notifications", "pages", "responses12", "responses500"]
            #expect(kinds.keys.sorted() == names)
            for (name, kind) in kinds {
                #expect(kind.payloads > 0 && kind.facts > kind.payloads, "\(name)")
                #expect(kind.ratioToLimit > 0 && kind.ratioOfSecondToFirst > 0, "\(name)")
            }
        }
    }

    @Test func `bench serve measures its own service, and none of its requests fails`()
        async throws
    {
        try await withLedger { command, _ in
            let served = try await measure("serve", Served.self, command)
            #expect(served.connections.keys.sorted() == ["1", "256", "32"])
            for cell in [served.halfLoad, served.access] + served.connections.values {
                #expect(cell.errors == 0 && cell.perSecond > 0)
                #expect(cell.p99Milliseconds >= cell.p50Milliseconds && cell.p50Milliseconds > 0)
            }
            #expect(served.connections["32"]?.requests == 60)
            #expect(served.ratioToLimitAt32 > 0)
            #expect(served.requestsPerCommitAt32 >= 1)
        }
    }

    private struct Read: Decodable {
        struct Size: Decodable {
            let bareP50: Double
            let periodsRatioP99: Double
            let explainRatioP99: Double
        }
        let queries: Int
        let sizes: [Size]
    }

    private struct Reports: Decodable {
        struct Pair: Decodable {
            let seconds: Double
            let sqlSeconds: Double
            let ratio: Double
        }
        struct Export: Decodable {
            let rows: Int64
            let ratio: Double
        }
        let reports: [String: Pair]
        let export: Export
    }

    private struct Served: Decodable {
        struct Cell: Decodable {
            let requests: Int
            let perSecond: Double
            let p50Milliseconds: Double
            let p99Milliseconds: Double
            let errors: Int
        }
        let connections: [String: Cell]
        let halfLoad: Cell
        let access: Cell
        let ratioToLimitAt32: Double
        let requestsPerCommitAt32: Double
    }

    private struct Ingested: Decodable {
        let payloads: Int
        let facts: Int
        let ratioToLimit: Double
        let ratioOfSecondToFirst: Double
    }

    private struct Summary: Decodable {
        let followedEvents: Int64
        let followEventsPerSecond: Int
        let ratioOfAllToBothLimits: Double
    }
}
