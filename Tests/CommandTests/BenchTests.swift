import Foundation
import TestSupport
import Testing

/// `bench` with a few events: its numbers mean nothing then, but each must be present.
///
/// The tests run one after the other, because all work in one database.
@Suite(.enabled { await TestServer.isAvailable }, .serialized)
struct BenchTests {
    @Test func `bench rebuild follows at least something, however short the log`() async throws {
        try await withLedger { command, _ in
            let output = try await command.expect(
                0,
                "bench",
                "rebuild",
                "--events",
                "1000",
                "--rounds",
                "1",
                "--quiet",
                "--json"
            )
            let summary = try JSONDecoder().decode(Summary.self, from: Data(output.utf8))
            #expect(summary.followedEvents > 0 && summary.followedEvents <= 100)
            #expect(summary.followEventsPerSecond > 0)
            #expect(summary.ratioOfAllToBothLimits > 0)
        }
    }

    @Test
    func `bench report compares every report with hand-written SQL, and exports the rows of COPY`()
        async throws
    {
        try await withLedger { command, _ in
            let output = try await command.expect(
                0,
                "bench",
                "report",
                "--events",
                "6000",
                "--rounds",
                "2",
                "--quiet",
                "--json"
            )
            let measured = try JSONDecoder().decode(Reports.self, from: Data(output.utf8))
            let list = try await command.expect(0, "report", "list")
            for (name, pair) in measured.reports {
                #expect(list.contains("\(name) (definition "))
                #expect(pair.seconds > 0 && pair.sqlSeconds > 0 && pair.ratio > 0, "\(name)")
            }
            #expect(measured.reports.count == 14)
            #expect(measured.export.rows > 1000 && measured.export.ratio > 0)
        }
    }

    @Test func `bench ingest reads every kind of file, twice`() async throws {
        try await withLedger { command, _ in
            let output = try await command.expect(
                0,
                "bench",
                "ingest",
                "--megabytes",
                "1",
                "--rounds",
                "1",
                "--quiet",
                "--json"
            )
            let kinds = try JSONDecoder().decode([String: Ingested].self, from: Data(output.utf8))
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
            let output = try await command.expect(
                0,
                "bench",
                "serve",
                "--requests",
                "60",
                "--soak",
                "100",
                "--quiet",
                "--json"
            )
            let served = try JSONDecoder().decode(Served.self, from: Data(output.utf8))
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
