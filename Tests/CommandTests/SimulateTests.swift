import AppStoreSimulator
import Events
import Foundation
import Postgres
import TestSupport
import Testing

@testable import SubledgerCommand

/// `simulate`, `demo` and the private server.
@Suite struct SimulateTests {
    private let command = Command(environment: ["DATABASE_URL": "host=/nowhere"])

    @Test func `two runs with one seed write the same bytes, another seed writes others`()
        async throws
    {
        let folder = try TestFolder()
        for (name, seed, files) in [("a", "5", []), ("b", "5", []), ("c", "6", [])]
            + [("d", "5", ["--files"])]
        {
            try await command.expect(
                0,
                [
                    "simulate", "--quiet", "--subscriptions", "8", "--seed", seed, "--truth",
                    folder.path(of: "truth-\(name)"), "--out", folder.path(of: name),
                ] + files
            )
        }
        let first = try contents(folder.path(of: "a"))
        #expect(first.keys.contains("root.der") && first.keys.contains("notification.ndjson"))
        #expect(first.keys.contains("catalog.storekit"))
        #expect(try contents(folder.path(of: "b")) == first)
        let other = try contents(folder.path(of: "c"))
        #expect(other != first)
        #expect(other["catalog.storekit"] == first["catalog.storekit"], "of no seed")
        let truth = try Data(contentsOf: URL(fileURLWithPath: folder.path(of: "truth-a")))
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path(of: "truth-b"))) == truth)
        let lines = first.filter { $0.key.hasSuffix(".ndjson") }.values
            .flatMap { $0.split(separator: 0x0a).map { Data($0) } }
        let single = try contents(folder.path(of: "d")).filter { $0.key.hasSuffix(".json") }
        #expect(Set(single.values) == Set(lines))
        #expect(single.count == lines.count)
    }

    @Test func `every format has a separate file, and the summary names it`() async throws {
        let folder = try TestFolder()
        let out = folder.path(of: "all")
        let summary = try await command.expect(
            0,
            [
                "simulate", "--quiet", "--json", "--subscriptions", "6", "--seed", "5", "--format",
                "v2,history", "--format", "verify-receipt,app-receipt", "--format", "v1",
                "--shared-secret", "our secret", "--out", out,
            ]
        )
        let report = try JSONDecoder().decode(Summary.self, from: Data(summary.utf8))
        #expect(report.formats == ["v2", "history", "verify-receipt", "app-receipt", "v1"])
        let files = report.written.filter { $0.channel != "app-receipt" }
        #expect(
            files.map(\.path) == [
                "history.ndjson", "notification.ndjson", "statuses.ndjson",
                "v1-notification.ndjson", "verify-receipt.ndjson",
            ]
        )
        for file in files {
            let lines = try Data(contentsOf: URL(fileURLWithPath: "\(out)/\(file.path)"))
                .split(separator: 0x0a)
            #expect(lines.count == file.payloads, "\(file.path)")
            for line in lines { _ = try JSONSerialization.jsonObject(with: line) }
            #expect(
                file.channel != "v1-notification"
                    || lines.allSatisfy { $0.contains("our secret".utf8) }
            )
        }
        let receipts = try contents("\(out)/app-receipt")
        #expect(
            receipts.count == report.written.first { $0.channel == "app-receipt" }?.payloads
        )
        #expect(receipts.allSatisfy { $0.key.hasSuffix(".der") && $0.value.first == 0x30 })
        #expect(report.written.map(\.payloads).reduce(0, +) == report.payloads)
        let all = try await command.expect(
            0,
            [
                "simulate", "--quiet", "--json", "--subscriptions", "6", "--seed", "5", "--format",
                "all", "--out", folder.path(of: "again"),
            ]
        )
        #expect(all == summary)
    }

    @Test func `lives with extras have the true periods, and those without are the same as before`()
        async throws
    {
        let folder = try TestFolder()
        func simulate(_ name: String, _ extras: [String]) async throws -> Set<String> {
            try await command.expect(
                0,
                [
                    "simulate", "--quiet", "--subscriptions", "60", "--seed", "5", "--truth",
                    folder.path(of: "truth-\(name)"), "--out", folder.path(of: name),
                ] + extras
            )
            let truth = try String(
                contentsOfFile: folder.path(of: "truth-\(name)"),
                encoding: .utf8
            )
            return try truth.split(separator: "\n").reduce(into: []) { kinds, line in
                let life = try JSONDecoder().decode(Kinds.self, from: Data(line.utf8))
                kinds.formUnion(life.kinds)
            }
        }
        let new: Set<String> = ["seatsBought", "assigned", "inBundle", "retentionOffer"]
        #expect(try await simulate("plain", []).isDisjoint(with: new))
        #expect(try await simulate("all", ["--extras", "all"]).isSuperset(of: new))
        let seats = try await simulate("seats", ["--extras", "seats"])
        #expect(seats.intersection(new) == ["seatsBought", "assigned"])
        let others = try await simulate("others", ["--extras", "bundles,retention"])
        #expect(others.intersection(new) == ["inBundle", "retentionOffer"])
        let refused = try await command.run("simulate", "--out", "x", "--extras", "seats,chairs")
        #expect(refused.code == 64 && refused.errors.contains("seats"), "\(refused.errors)")
    }

    private struct Kinds: Decodable {
        let kinds: [String]
    }

    private struct Summary: Decodable {
        struct Place: Decodable {
            let path: String
            let channel: String
            let payloads: Int
        }
        let formats: [String]
        let payloads: Int
        let written: [Place]
    }

    @Test func `a folder that cannot be written is reported`() async throws {
        let folder = try TestFolder()
        let file = try folder.write("file", [])
        let ending = try await command.run("simulate", "--out", file)
        #expect(ending.code == 70 && ending.output.isEmpty)
        #expect(
            ending.errors
                == "subledger: \(file) cannot be written: Not a directory; name another folder with "
                + "--out\n"
        )
        let below = try await command.run("simulate", "--out", file + "/below")
        #expect(below.code == 70 && below.errors.contains("Not a directory; name another folder"))
    }

    @Test func `the catalog contains the products that the payloads name`() async throws {
        let folder = try TestFolder()
        let out = folder.path(of: "out")
        try await command.expect(
            0,
            "simulate",
            "--quiet",
            "--subscriptions",
            "60",
            "--seed",
            "1",
            "--out",
            out
        )
        let catalog = String(
            decoding: try Data(contentsOf: URL(fileURLWithPath: "\(out)/catalog.storekit")),
            as: UTF8.self
        )
        let identifiers = catalog.matches(of: /"productID" ?: ?"([^"]+)"/).map(\.1)
        #expect(identifiers.contains("example.subledger.lumen.credits.10"))
        #expect(identifiers.allSatisfy { $0.hasPrefix("example.subledger.") }, "\(identifiers)")
    }

    private func contents(_ folder: String) throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        return try Dictionary(
            uniqueKeysWithValues: names.map {
                ($0, try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\($0)")))
            }
        )
    }
}

/// A private server in its own folder; all in one test, because a server takes seconds.
@Suite(.enabled { await TestServer.isAvailable })
struct PrivateServerTests {
    @Test func `without any configuration a private server does everything, including the demo`()
        async throws
    {
        let folder = try TestFolder()
        let home = folder.path(of: "home")
        let command = Command(environment: ["SUBLEDGER_HOME": home])
        #expect(try await command.expect(4, "database", "status").contains("absent"))
        do {
            try await useServer(command)
        } catch {
            _ = try await command.run("database", "stop")
            throw error
        }
        try await command.expect(0, "database", "stop")
        #expect(try await command.expect(4, "database", "status").contains("stopped"))
    }

    private func useServer(_ command: Command) async throws {
        let demo = try await command.run("demo", "--subscriptions", "40")
        #expect(demo.code == 0, "\(demo.errors)")
        for words in [
            "facts appended", "active_periods: ", "verify: ok", "a customer had no access for ",
            "  SERVED    no   as known then  ", "wrongly denied for ", "an upgrade ended",
            "a refund was undone", "streams compared", "active_periods: live, ", "Try next",
            "export DATABASE_URL=",
        ] {
            #expect(demo.output.contains(words), "\(words) is missing in:\n\(demo.output)")
        }
        for step in 1...6 { #expect(demo.errors.contains("\(step)/6")) }
        #expect(try await command.expect(0, "database", "status").contains("running"))
        try await followAdvice(demo.output)
        // The demo has a separate database: the ledger is unchanged.
        #expect(try await command.expect(0, "migrate", "status").contains("missing"))
        try await command.expect(0, "migrate")
        try await command.expectSoundLog(events: 0)
        let url = try await command.expect(0, "database", "url").trimmingCharacters(in: .newlines)
        let named = Command(environment: ["DATABASE_URL": "\(url)&dbname=subledger_demo"])
        try await named.expect(0, "demo", "--subscriptions", "5", "--quiet")
        let session = try await PostgresSession.connect(ConnectionSettings(url))
        try await session.execute("COMMENT ON DATABASE subledger_demo IS 'mine'")
        let refused = try await command.run("demo", "--subscriptions", "5")
        #expect(refused.code == 78, "\(refused.errors)")
        #expect(refused.errors.contains("this command needs the database name subledger_demo, but"))
        try await session.execute("DROP DATABASE subledger_demo WITH (FORCE)")
        await session.close()
        let again = try await command.run("demo", "--subscriptions", "40", "--quiet")
        #expect(again.code == 0, "\(again.errors)")
    }

    @Test func `a file of logs holds a payload once, because one line of it may hold all`() throws {
        let folder = try TestFolder()
        var writer = LogFolderWriter(folder: folder.path)
        for text in ["{\"a\":1}", "{\"b\":1}", "{\"a\":1}"] {
            let payload = Array(text.utf8)
            try writer.write(Delivery(channel: .history, payload: payload, signedAt: .epoch))
        }
        try writer.finish()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/history")
        #expect(names.sorted() == ["00001-prefixed.log.gz", "00002-syslog.log"])
    }

    /// Runs the commands that the demo suggests.
    private func followAdvice(_ output: String) async throws {
        let export = try #require(output.firstMatch(of: /export DATABASE_URL="([^"]+)"/))
        let demo = Command(environment: ["DATABASE_URL": String(export.1)])
        let advice = output.matches(of: /\n  subledger ([^\n]+)/)
        #expect(advice.count == 5)
        for line in advice {
            let arguments = line.1.split(separator: " ").map(String.init)
            try await demo.expect(0, arguments)
        }
    }
}
