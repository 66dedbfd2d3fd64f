import AppStoreSimulator
import EventLog
import Events
import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif
import Postgres
import TestSupport
import Testing

@testable import Deliveries
@testable import Subledger

/// Webhooks, forwarding and alerts as an operator runs them.
@Suite(.enabled { await TestServer.isAvailable })
struct ServedDeliveryTests {
    private func run(
        _ settings: ConnectionSettings,
        _ arguments: String...
    ) async throws -> Program.Ending {
        try await Program("subledger").run(
            arguments,
            environment: ["DATABASE_URL": settings.fullConnectionString]
        )
    }

    private func start(
        _ settings: ConnectionSettings,
        _ arguments: [String]
    ) throws -> RunningProgram {
        try Program("subledger").start(
            arguments,
            environment: ["DATABASE_URL": settings.fullConnectionString]
        )
    }

    @Test func `a webhook is added once, and tested`() async throws {
        try await withLedger(lanes: 1, count: 2) { _, settings in
            try await Receiver.with { receiver in
                let refused = try await run(settings, "webhooks", "add", "hook", receiver.url)
                #expect(refused.code == 64 && refused.errors.contains("--allow-private"))
                let added = try await run(
                    settings,
                    "webhooks",
                    "add",
                    "hook",
                    receiver.url,
                    "--allow-private",
                    "--json",
                    "--after",
                    "beginning"
                )
                #expect(added.code == 0, "\(added.errors)")
                let key = try #require(added.output.firstMatch(of: /"key":"(whsec_[^"]+)"/)?.1)
                let again = try await run(
                    settings,
                    "webhooks",
                    "add",
                    "hook",
                    "https://example.com"
                )
                #expect(
                    again.code == 64 && again.errors.contains("there is a webhook hook already")
                )

                #expect(try await run(settings, "webhooks", "test", "hook").code == 0)
                let test = try #require(receiver.all.first)
                let seconds = try #require(Int64(test.headers["webhook-timestamp"] ?? ""))
                let signature = try WebhookSecret(String(key)).signature(
                    of: test.body,
                    id: test.id,
                    at: seconds
                )
                #expect(test.headers["webhook-signature"] == signature)
                receiver.behave { _, _ in 500 }
                let failed = try await run(settings, "webhooks", "test", "hook")
                #expect(failed.code == 75 && failed.errors.contains("it answered 500"))
                receiver.behave { _, _ in 200 }

            }
        }
    }

    @Test func `a rotated secret signs beside the one before, and a paused webhook can be removed`()
        async throws
    {
        try await withLedger(lanes: 1, count: 2) { _, settings in
            try await Receiver.with { receiver in
                let added = try await run(
                    settings,
                    "webhooks",
                    "add",
                    "hook",
                    receiver.url,
                    "--allow-private",
                    "--after",
                    "beginning"
                )
                #expect(added.code == 0, "\(added.errors)")
                #expect(try await run(settings, "webhooks", "deliver", "--once").code == 0)
                let count = receiver.accepted.count
                #expect(count > 10)
                #expect(
                    try await run(settings, "webhooks", "rotate", "hook", "--keep", "1h").code == 0
                )
                let replayed = try await run(
                    settings,
                    "webhooks",
                    "replay",
                    "hook",
                    "--after",
                    "beginning"
                )
                #expect(replayed.code == 0, "\(replayed.errors)")
                #expect(try await run(settings, "webhooks", "deliver", "--once").code == 0)
                #expect(receiver.accepted.count == 2 * count)
                let last = receiver.accepted.last?.headers["webhook-signature"] ?? ""
                #expect(last.split(separator: " ").count == 2)

                #expect(try await run(settings, "webhooks", "pause", "hook").code == 0)
                let listed = try await run(settings, "webhooks", "--json")
                #expect(listed.output.contains(#""pauseReason":"by `subledger webhooks pause`""#))
                #expect(!listed.output.contains("whsec_"))
                #expect(try await run(settings, "webhooks", "remove", "hook").code == 0)
                #expect(try await run(settings, "webhooks", "remove", "hook").code == 4)
                #expect(try await run(settings, "webhooks", "pause", "hook").code == 4)
            }
        }
    }

    /// Processes that deliver, each killed after some messages.
    @Test func `processes killed again and again lose nothing and keep the order`() async throws {
        let seed: UInt64 = 20_261_129
        var random = TestSupport.SeededGenerator(seed: seed)
        let waits = (0..<5).map { _ in Int.random(in: 1...40, using: &random) }
        try await withLedger(lanes: 1, count: 20) { ledger, settings in
            try await Receiver.with { receiver in
                receiver.refuseOnce(every: 7)
                let added = try await run(
                    settings,
                    "webhooks",
                    "add",
                    "hook",
                    receiver.url,
                    "--allow-private",
                    "--after",
                    "beginning"
                )
                #expect(added.code == 0, "\(added.errors)")
                for wait in waits {
                    let program = try start(settings, ["webhooks", "deliver"])
                    let before = receiver.accepted.count
                    let isDone = { try await ledger.log.deliveryState(of: "hook") }
                    try await eventually("some messages came") {
                        if receiver.accepted.count >= before + wait { return true }
                        let state = try await isDone()
                        let end = try await ledger.log.endOfCommits()
                        return state.waiting == 0 && state.cursor == end
                    }
                    program.signal(SIGKILL)
                    _ = await program.ending()
                }
                #expect(try await run(settings, "webhooks", "deliver", "--once").code == 0)
                var wanted: [String: [String]] = [:]
                for try await effect in ledger.effects(isFollowing: false) {
                    wanted[effect.stream.originalTransactionId, default: []].append(effect.id)
                }
                var found: [String: [String]] = [:]
                for request in receiver.accepted {
                    found[request.member("originalTransactionId"), default: []].append(request.id)
                }
                for (stream, ids) in wanted {
                    // Where something came again, it came again from there on: what is new is in order.
                    var seen: [String] = []
                    for id in found[stream] ?? [] where !seen.contains(id) { seen.append(id) }
                    #expect(seen == ids, "seed \(seed), \(stream)")
                }
            }
        }
    }

    @Test
    func `what Apple sends is forwarded byte for byte, through a kill and a receiver that fails`()
        async throws
    {
        let simulator = AppStoreSimulator(seed: 44)
        let root = try TestFolder()
        let certificate = URL(fileURLWithPath: root.path + "/root.der")
        try Data(simulator.store.pki.rootDER).write(to: certificate)
        let flags = [
            "serve", "--port", "0", "--root-certificate", certificate.path, "--environment",
            simulator.store.environment.word,
        ]
        try await withLedger(lanes: 1, count: 0) { ledger, settings in
            try await Receiver.with { vendor in
                try await Receiver.with { sandbox in
                    vendor.behave { [vendor] request, number in
                        let isNew = !vendor.all.contains { $0.body == request.body }
                        return isNew && number % 3 == 1 ? 500 : 200
                    }
                    let forward = [
                        "--forward", vendor.url, "--forward", "Production=\(sandbox.url)",
                    ]
                    let sent = simulator.sampleHistory(count: 4)
                    let bodies = sent.filter { $0.channel == .notification }.prefix(30)
                        .map(\.payload)
                    #expect(bodies.count == 30)
                    for half in [bodies.prefix(15), bodies.suffix(15)] {
                        let service = try start(settings, flags + forward)
                        let url = try await service.firstMatch(of: /listening at (http:.*)$/)
                        for body in half { #expect(try await post(body, to: url) == 200) }
                        service.signal(SIGKILL)
                        _ = await service.ending()
                    }
                    let service = try start(settings, flags + forward)
                    try await eventually("nothing waits") {
                        try await ledger.log.relayCounts().isEmpty
                    }
                    service.signal(SIGTERM)
                    _ = await service.ending()
                    #expect(Set(vendor.accepted.map(\.body)) == Set(bodies))
                    let isProduction = simulator.store.environment == .production
                    #expect(sandbox.all.isEmpty == !isProduction)
                }
            }
        }
    }

    private func post(_ body: [UInt8], to url: String) async throws -> Int {
        var request = URLRequest(
            url: try #require(URL(string: url + "/v1/appstore/notifications"))
        )
        request.httpMethod = "POST"
        request.httpBody = Data(body)
        let (_, response) = try await URLSession.shared.data(for: request)
        return (response as? HTTPURLResponse)?.statusCode ?? 0
    }

    @Test func `an alert is raised once while it lasts, and again later`() async throws {
        try await withLedger(lanes: 1, count: 3) { ledger, settings in
            let watch = AlertWatch(ledger, hasTables: true) { Issue.record("\($0)") }
            watch.noteApple(refusal: "Apple answered 401")
            for _ in 0..<3 { await watch.look() }
            var alerts = try await ledger.log.alerts(isOpen: true, limit: 10)
            #expect(alerts.map(\.kind).contains(.appleRefused))
            #expect(Set(alerts.map(\.kind)).count == alerts.count)
            // A service that does not ask Apple, on a machine with another clock, ends neither.
            let other = AlertWatch(ledger, hasTables: true, host: "other") {
                Issue.record("\($0)")
            }
            _ = try await ledger.log.raise(.clockSkew, about: "this", "75 s behind")
            await other.look()
            let kinds = try await ledger.log.alerts(isOpen: true, limit: 10).map(\.kind)
            #expect(kinds.contains(.appleRefused) && kinds.contains(.clockSkew))
            watch.noteApple(refusal: nil)
            await watch.look()
            alerts = try await ledger.log.alerts(isOpen: true, limit: 10)
            #expect(!alerts.map(\.kind).contains(.appleRefused))
            watch.noteApple(refusal: "Apple answered 401")
            await watch.look()
            alerts = try await ledger.log.alerts(isOpen: false, limit: 10)
            #expect(alerts.count(where: { $0.kind == .appleRefused }) == 2)
            try await watch.checkDrift()
            let listed = try await run(settings, "alerts", "--all")
            #expect(listed.code == 0 && listed.output.contains("apple-refused: Apple answered 401"))
            #expect(listed.output.contains("subledger doctor --ask-apple"))
        }
    }

    @Test func `silence, lag, clocks and a burst of refunds are alerts at their limits`()
        async throws
    {
        try await withLedger(lanes: 1, count: 12) { ledger, settings in
            _ = try await ledger.projector.rebuild()
            let newest = try #require(
                try await ledger.log.newestNotification(in: .production),
                "the simulated store is production"
            )
            for (later, isSilent) in [(Int64(86_400_000), false), (86_400_001, true)] {
                let watch = AlertWatch(ledger, hasTables: true) {
                    Instant(milliseconds: newest.milliseconds + later)
                } onFault: {
                    Issue.record("\($0)")
                }
                await watch.look()
                let open = try await ledger.log.alerts(isOpen: true, limit: 10).map(\.kind)
                #expect(open.contains(.notificationsSilent) == isSilent)
                // Our clock is months behind that of the server.
                #expect(open.contains(.clockSkew))
                #expect(!open.contains(.refundsBurst) && !open.contains(.followerBehind))
            }
            let session = try await PostgresSession.connect(settings)
            try await session.execute(
                """
                INSERT INTO operation.alert VALUES
                    (gen_random_uuid(), 'unknown-kind', '', 'of a newer program', now(), NULL)
                """
            )
            await session.close()
            #expect(try await run(settings, "alerts").code == 0)
        }
    }
}
