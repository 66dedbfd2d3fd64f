import AppStoreSimulator
import EventLog
import Foundation
import Postgres
import SimulatedStoreService
import SubledgerAppStore
import TestSupport
import Testing

/// `subledger simulate --serve`, `serve` and `poll` as an operator runs them.
@Suite struct PollCommandTests {
    @Test func `a store, a service and one poll: nothing lost stays lost`() async throws {
        try await TestServer.shared.withDatabase(from: .polled) { settings in
            let roots = try TestFolder()
            let root = try rootFile(seed: 3, in: roots)
            let service = try Program("subledger").start(
                ["serve", "--port", "0", "--root-certificate", root],
                environment: ["DATABASE_URL": settings.fullConnectionString]
            )
            let place = try await service.firstMatch(of: /listening at (http:.*)$/)
            let store = try await StoreProcess.start([
                "--subscriptions", "24", "--seed", "3", "--month", "3d", "--elapsed", "90d",
                "--lose", "0.3", "--repeat", "0.2", "--delay", "0.2", "--notify",
                "\(place)/v1/appstore/notifications",
            ])
            try await store.waitUntilSent()
            let first = try await poll(["--all"], store, settings)
            #expect(first.missedNotifications > 20 && first.answered >= 24)
            #expect(first.rejected == 0 && first.failed == 0 && first.left == 0)
            let again = try await poll(["--all", "--pause", "0s"], store, settings)
            #expect(again.answered == first.answered && again.appended == 0)
            let verified = try await subledger(
                ["verify", "--signatures", "--root-certificate", root],
                settings
            )
            #expect(verified.code == 0, "\(verified.errors)")
            await store.end()
            service.signal(SIGTERM)
            #expect(await service.ending().code == 0)
        }
    }

    private func poll(
        _ arguments: [String],
        _ store: StoreProcess,
        _ settings: ConnectionSettings,
        location: SourceLocation = #_sourceLocation
    ) async throws -> PollReport {
        let ending = try await subledger(
            ["poll", "--json", "--quiet"] + store.flags + arguments,
            settings
        )
        #expect(ending.code == 0, "\(ending.errors)", sourceLocation: location)
        return try JSONDecoder().decode(PollReport.self, from: Data(ending.output.utf8))
    }

    @Test func `what stops a first poll is named, with what to do`() async throws {
        try await TestServer.shared.withDatabase(from: .polled) { settings in
            let store = try await StoreProcess.start(["--subscriptions", "2"])
            let id = AppStoreSimulator(seed: 1).life(0).originalTransactionId
            let flags = store.flags.prefix { $0 != "--root-certificate" }
            let untrusted = try await subledger(["poll", id] + flags, settings)
            #expect(untrusted.code == 65, "\(untrusted.errors)")
            for words in ["[chain-untrusted]", "--root-certificate FILE", "subledger rejections"] {
                #expect(untrusted.errors.contains(words), "\(untrusted.errors)")
            }
            let port = try #require(store.url.split(separator: ":").last)
            let taken = try await Program("subledger").run(
                ["simulate", "--serve", "\(port)", "--out", try TestFolder().path]
            )
            #expect(taken.code == 78, "\(taken.errors)")
            #expect(taken.errors.contains("another program listens at 127.0.0.1, port \(port)"))
            #expect(taken.errors.contains("--serve PORT"), "\(taken.errors)")
            await store.end()
            let gone = try await subledger(["poll", id] + store.flags, settings)
            #expect(gone.code == 75, "\(gone.errors)")
            let words = "127.0.0.1:\(port) cannot be reached (Connection refused)"
            #expect(gone.errors.contains(words), "\(gone.errors)")
            #expect(gone.errors.contains("--api-url") && !gone.errors.contains("errno"))
        }
    }

    @Test func `settings come from flags, the environment and a file, and each fault is named`()
        async throws
    {
        try await TestServer.shared.withDatabase(from: .polled) { settings in
            let store = try await StoreProcess.start(["--subscriptions", "2"])
            let id = AppStoreSimulator(seed: 1).life(0).originalTransactionId
            let key = store.folder.path(of: "AuthKey.p8")
            let config = store.folder.path(of: "poll.json")
            try Data(
                #"{"issuerId":"\#(SimulatedStoreServer.issuerId)","keyId":"WRONG"}"#.utf8
            ).write(to: URL(fileURLWithPath: config))
            let environment = [
                "SUBLEDGER_POLL_KEY": key, "SUBLEDGER_POLL_KEY_ID": SimulatedStoreServer.keyId,
                "SUBLEDGER_POLL_BUNDLE_ID": SimulatedStoreServer.bundleId,
                "SUBLEDGER_POLL_API_URL": store.url,
            ]
            let rest = ["--root-certificate", store.folder.path(of: "root.der")]
            let answered = try await subledger(
                ["poll", id, "--config", config] + rest,
                settings,
                environment
            )
            #expect(answered.code == 0, "\(answered.errors)")
            #expect(answered.output.contains("subscriptions asked about  1"))
            let printed = try await subledger(
                ["poll", "--print-config", "--config", config],
                settings,
                environment
            )
            #expect(printed.output.contains("SUBLEDGER_POLL_KEY_ID"))
            #expect(printed.output.contains("issuerId in \(config)"))
            func expect(_ code: Int32, _ words: String, _ arguments: String...) async throws {
                let ending = try await subledger(["poll"] + arguments + rest, settings, environment)
                #expect(ending.code == code, "\(arguments): \(ending.errors)")
                #expect(ending.errors.contains(words), "\(ending.errors)")
            }
            try await expect(4, "404", "404", "--config", config)
            try await expect(78, "issuerId is not set")
            try await expect(78, "not encrypted", "--api-url", "http://example.com")
            try await expect(78, "HTTP status 401", id, "--issuer-id", "other")
            try await expect(
                66,
                "cannot read the key file",
                "--key",
                "/nowhere/key",
                "--issuer-id",
                "i"
            )
            #expect(chmod(key, 0o644) == 0)
            try await expect(78, "chmod 600", "--issuer-id", "i")
            await store.end()
        }
    }

    @Test func `a store lives while it is watched: months of half a minute`() async throws {
        let begun = Date()
        let store = try await StoreProcess.start(["--subscriptions", "2", "--month", "30s"])
        func periods() throws -> Int {
            let address = try #require(URL(string: store.url + "/control/truth"))
            let text = try String(contentsOf: address, encoding: .utf8)
            return text.split(separator: "\n").count
        }
        try await eventually("a period has begun") { try periods() >= 1 }
        let text = try String(
            contentsOf: try #require(URL(string: store.url + "/control/truth")),
            encoding: .utf8
        )
        let start = try #require(text.firstMatch(of: /"validFrom":(\d+)/))
        let purchase = Date(timeIntervalSince1970: Double(try #require(Int64(start.1))) / 1000)
        #expect(purchase > begun.addingTimeInterval(-120))
        #expect(purchase < Date().addingTimeInterval(120))
        await store.end()
    }

    @Test(arguments: [
        (["--lose", "0.5"], "need --serve"),
        (["--serve", "0", "--lose", "2"], "share from 0 to 1"),
        (["--serve", "0", "--month", "1s"], "from 30s to 30d"),
        (["--serve", "0", "--elapsed", "1d"], "needs --month"),
        (["--serve", "0", "--format", "v2"], "writes no payloads"),
        (["--serve", "0", "--notify", "nowhere"], "must be a URL"),
        (["--serve", "70000"], "a port"), (["--serve", "0", "--rate", "0"], "above 0"),
    ]) func `what a store cannot do is refused`(
        _ arguments: [String],
        _ words: String
    ) async throws {
        let folder = try TestFolder()
        let ending = try await Program("subledger").run(
            ["simulate", "--out", folder.path] + arguments
        )
        #expect(ending.code == 64 && ending.errors.contains(words), "\(ending.errors)")
    }
}
