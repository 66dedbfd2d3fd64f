import AppStoreSimulator
import EventLog
import Events
import Foundation
import Postgres
import SimulatedStoreService
@testable import SubledgerAppStore
import TestSupport
import Testing

/// `subledger import`: the histories of customers who are known by an id alone.
@Suite(.enabled { await TestServer.isAvailable })
struct ImportCommandTests {
    private struct Estimate: Decodable {
        let ids: Int
        let requests: Int
        let seconds: Double
    }

    private struct Report: Decodable {
        let ids: Int
        let answered: Int
        let skipped: Int
        let unknown: Int
        let left: Int
        let requests: Int
        let appended: Int
        let lines: Int?
        let refusedLines: [Line]

        struct Line: Decodable, Equatable {
            let line: Int
        }
    }

    /// A store of one process, a ledger, and a list.
    private struct Place {
        let store: StoreProcess
        let settings: ConnectionSettings
        let folder: TestFolder

        func importing(
            _ arguments: [String],
            exit code: Int32 = 0,
            location: SourceLocation = #_sourceLocation
        ) async throws -> Report {
            let ending = try await Program("subledger").run(
                ["import", "--json", "--quiet"] + store.flags + arguments,
                environment: ["DATABASE_URL": settings.fullConnectionString]
            )
            #expect(ending.code == code, "\(ending.errors)", sourceLocation: location)
            return try JSONDecoder().decode(Report.self, from: Data(ending.output.utf8))
        }

        func list(_ name: String, _ lines: [String]) throws -> String {
            let path = folder.path(of: name)
            try Data((lines.joined(separator: "\n") + "\n").utf8)
                .write(to: URL(fileURLWithPath: path))
            return path
        }
    }

    private static func run(_ body: (Place) async throws -> Void) async throws {
        try await TestServer.shared.withDatabase(from: .polled) { settings in
            // Every subscription of it has begun, and only those of the sandbox are in the sandbox.
            let store = try await StoreProcess.start([
                "--subscriptions",
                "12",
                "--sandbox-subscriptions",
                "2",
                "--month",
                "1d",
                "--elapsed",
                "60d",
            ])
            let place = Place(store: store, settings: settings, folder: try TestFolder())
            do {
                try await body(place)
            } catch {
                await store.end()
                throw error
            }
            await store.end()
        }
    }

    private static let lives = (0..<14).map { AppStoreSimulator(seed: 1).life($0) }

    @Test func `every kind of id finds its customer once, whatever the list repeats`() async throws
    {
        try await Self.run { place in
            let ids = Self.lives.map(\.originalTransactionId)
            let next = String(try #require(Int64(ids[3])) + 1)
            let path = try place.list(
                "ids.csv",
                [
                    "Name,Order ID,original_transaction_id,App Transaction Id",
                    "\"a, b\",,\(ids[0]),", "c,M\(ids[1]),,",
                    "d,,,\(Self.lives[2].identity.appTransactionId)", "e,,\(ids[0]),", "f,,,",
                    "g,,none,", "h,,\(ids[12]),", "i,,\(ids[3]),", "j,,999999999999999,",
                ]
            )
            let first = try await place.importing([path], exit: 65)
            #expect(first.ids == 6 && first.answered == 5 && first.unknown == 1, "\(first)")
            #expect(first.lines == 9 && first.refusedLines.map(\.line) == [6, 7])
            #expect(first.appended > 0 && first.left == 0)
            let others = try place.list("more", ["", ids[0], next, ids[2], "M" + ids[4]])
            let second = try await place.importing([others])
            #expect(second.ids == 4 && second.skipped == 3 && second.answered == 1, "\(second)")
            let streams = try await Program("subledger").run(
                ["streams", "--json"],
                environment: ["DATABASE_URL": place.settings.fullConnectionString]
            )
            for number in [0, 1, 2, 3, 4, 12] {
                #expect(streams.output.contains(ids[number]), "life \(number)")
            }
        }
    }

    @Test func `neighbours of one customer are asked about once`() async throws {
        try await Self.run { place in
            // For each, three transactions and the order.
            let lines = Self.lives.prefix(6).flatMap { life in
                life.listed(asOf: .systemClock()).prefix(3).map(\.transactionId)
                    + ["M" + life.originalTransactionId]
            }
            let path = try place.list("neighbours", lines)
            let report = try await place.importing([path])
            #expect(report.ids == lines.count && report.left == 0 && lines.count > 18)
            let asked = try JSONDecoder().decode(
                [String: [String: Int]].self,
                from: try place.store.get("/control/requests")
            )
            #expect(asked["Production statuses"]?["requests"] == 6, "\(asked)")
            #expect(asked["Production order"]?["requests"] == 6)
        }
    }

    @Test func `an order id that was imported finds its subscription in every question`()
        async throws
    {
        try await Self.run { place in
            let life = Self.lives[5]
            let id = life.originalTransactionId
            let list = try place.list("orders", ["m\(id)", "M\(id)", "m404"])
            let database = ["DATABASE_URL": place.settings.fullConnectionString]
            let unknown = try await subledger(["explain", "m\(id)"], place.settings)
            #expect(unknown.code == 4, "\(unknown.errors)")
            let first = try await Program("subledger").run(
                ["import", "-", "--quiet"] + place.store.flags,
                environment: database,
                inputFile: list
            )
            #expect(first.code == 4, "m404 is unknown: \(first.errors)")
            #expect(first.errors.contains("Apple knows no order M404"), "\(first.errors)")
            #expect(first.output.contains("order M\(id): subscription \(id)\n"), "\(first.output)")
            let at = ["--at", "\(Instant.systemClock().milliseconds)"]
            let plain = try await subledger(["explain", id] + at, place.settings)
            for order in ["M\(id)", "m\(id)", "#m\(id)"] {
                let found = try await subledger(["explain", order] + at, place.settings)
                #expect(found.code == 0, "\(order): \(found.errors)")
                // The first line is the text to paste.
                #expect(found.output.prefix { $0 != "\n" } == plain.output.prefix { $0 != "\n" })
                let periods = try await subledger(["periods", order], place.settings)
                #expect(periods.code == 0, "\(order): \(periods.errors)")
            }
            // The answer is known, so neither Apple is asked again nor an order taken for a stream.
            let again = try await place.importing([try place.list("again", ["M\(id)"])])
            #expect(again.skipped == 1 && again.requests == 0, "\(again)")
            let session = try await PostgresSession.connect(place.settings)
            let polled = try await session.query(
                "SELECT count(*) FROM operation.poll WHERE original_transaction_id ~ '[A-Za-z]'"
            )
            await session.close()
            #expect(try polled.single().int8(0) == 0)
        }
    }

    @Test func `a list is processed in parts, each from beginning to end`() {
        for (count, parts) in [(0, 4), (3, 16), (40, 16), (1000, 16), (16, 1)] {
            var list = ImportParts(count: count, parts: parts)
            var taken: [Int] = []
            // The last part is slow.
            for turn in 0..<(20 * count) {
                for part in 0..<parts where part < parts - 1 || turn % 8 == 0 {
                    if let index = list.next(of: part) { taken.append(index) }
                }
            }
            #expect(taken.sorted() == Array(0..<count), "\(count) in \(parts)")
        }
        var list = ImportParts(count: 64, parts: 2)
        #expect(list.next(of: 0) == 0 && list.next(of: 1) == 32 && list.next(of: 0) == 1)
    }

    @Test func `a line with an unclosed quote is refused, and only that line`() async throws {
        try await Self.run { place in
            let ids = Self.lives.map(\.originalTransactionId)
            let lines = ["originalTransactionId", ids[0], "\"" + ids[1]] + ids[2..<6]
            let path = try place.list("open", lines + ["\"" + ids[6] + "\"x", ids[7]])
            let report = try await place.importing([path], exit: 65)
            #expect(report.refusedLines.map(\.line) == [3, 8], "\(report)")
            #expect(report.ids == 6 && report.answered == 6)
        }
    }

    @Test func `a run that ended early goes on where it was, and knows what the ledger knows`()
        async throws
    {
        try await Self.run { place in
            let ids = Self.lives.prefix(12).map(\.originalTransactionId)
            let half = try place.list("half", Array(ids.prefix(6)))
            let whole = try place.list("whole", ids)
            #expect(try await place.importing([half]).answered == 6)
            let rest = try await place.importing([whole])
            #expect(rest.answered == 6 && rest.skipped == 6)
            let again = try await place.importing([whole])
            #expect(again.answered == 0 && again.skipped == 12 && again.requests == 0)
            let known = try await place.importing(["--known", "--pause", "0s"])
            #expect(known.answered >= 12 && known.appended == 0 && known.lines == nil)
        }
    }

    @Test func `a dry run needs neither key nor database, and counts by Apple's limits`()
        async throws
    {
        let folder = try TestFolder()
        let path = folder.path(of: "ids")
        let lines = (0..<1000).map { "\(100_000 + $0)" } + ["MVLH8ZV6QK", "100000"]
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: path))
        let ending = try await Program("subledger").run(
            ["import", path, "--dry-run", "--json"],
            environment: ["DATABASE_URL": "host=/nowhere"]
        )
        #expect(ending.code == 0, "\(ending.errors)")
        let estimate = try JSONDecoder().decode(Estimate.self, from: Data(ending.output.utf8))
        // 50 requests a second are allowed for each of statuses and history, and half are used.
        #expect(estimate.ids == 1001 && estimate.requests == 2003)
        #expect(abs(estimate.seconds - 40.04) < 0.001)
        let text = try await Program("subledger").run(
            ["import", "-", "--dry-run"],
            environment: ["DATABASE_URL": "host=/nowhere"],
            inputFile: path
        )
        #expect(text.output.contains("1001 ids: at least 2003 requests, about 41 s"))
    }

    @Test(arguments: [
        ("appAccountToken\n7e3fb204-2d5e-4a52-9d0f-6a3c1f2b8e11", 65, "by app account token"),
        ("7e3fb204-2d5e-4a52-9d0f-6a3c1f2b8e11", 65, "line 1: Apple finds nothing by app account"),
        ("1,2", 65, "2 fields, and no header"), ("orderId\n\"a b\"", 65, "expected orderId"),
        ("transactionId\nM123", 65, "expected transactionId"),
        ("12 34", 65, "a transaction id or an order id"),
    ])
    func `a list that Apple cannot answer is refused line by line`(
        content: String,
        code: Int32,
        words: String
    ) async throws {
        let folder = try TestFolder()
        let path = folder.path(of: "ids")
        try Data(content.utf8).write(to: URL(fileURLWithPath: path))
        let ending = try await Program("subledger").run(
            ["import", path, "--dry-run"],
            environment: ["DATABASE_URL": "host=/nowhere"]
        )
        #expect(ending.code == code && ending.errors.contains(words), "\(ending.errors)")
    }

    @Test func `an import needs a list, a key and a file that is there`() async throws {
        for (arguments, code, words) in [
            (["import"], 64, "--known"), (["import", "a", "--known"], 64, "--known"),
            (["import", "/nowhere/ids"], 66, "no file"),
        ] as [([String], Int32, String)] {
            let ending = try await Program("subledger").run(
                arguments,
                environment: ["DATABASE_URL": "host=/nowhere"]
            )
            #expect(ending.code == code && ending.errors.contains(words), "\(ending.errors)")
        }
    }
}
