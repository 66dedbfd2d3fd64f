import AppStore
import AppStoreSimulator
import EmbeddedPostgres
import EventLog
import Events
import Foundation
import Postgres
import Projections
import SimulatedStoreService
import Subledger
import SubledgerAppStore
import TestSupport
import Testing

/// A lossy store, a service that is killed, a database that is restarted: real processes over HTTP.
@Suite(.enabled { await TestServer.isAvailable })
struct LossyStoreTests {
    private static let seed: UInt64 = 23

    /// Subscriptions of the store: dozens, a thousand for `make acceptance`.
    private static let subscriptions =
        ProcessInfo.processInfo.environment["SUBLEDGER_STORE_SUBSCRIPTIONS"].flatMap(Int.init) ?? 36

    /// Seconds for which the strategies are compared while time passes.
    private static let seconds =
        ProcessInfo.processInfo.environment["SUBLEDGER_STORE_SECONDS"].flatMap(Int.init) ?? 40

    /// A month of the killed service's store: a thousand subscriptions with thirty months would be
    /// sixty thousand notifications.
    private static let month = subscriptions > 100 ? "9d" : "3d"

    /// Seconds of a month while the strategies are compared: half a minute, or longer if two cores
    /// could not sign, send and verify as fast as the subscriptions renew.
    private static let watchedMonth = max(30, subscriptions / 4)

    private static let losses = ["--lose", "0.3", "--repeat", "0.2", "--delay", "0.2"]

    @Test func `killed twice and restarted once, after one round everything is true`()
        async throws
    {
        let server = EmbeddedServer(
            home: TestServer.temporaryHome(),
            options: EmbeddedServer.Options(lifetime: .process)
        )
        let settings = try await server.start()
        _ = try await Migrator.migrate(settings)
        let folder = try TestFolder()
        let root = try rootFile(seed: Self.seed, in: folder)
        var (service, url) = try await Self.serve(0, root, settings)
        let port = try #require(URL(string: url)?.port)
        let store = try await StoreProcess.start(
            [
                "--subscriptions", "\(Self.subscriptions)", "--seed", "\(Self.seed)", "--month",
                Self.month, "--elapsed", "90d", "--notify", "\(url)/v1/appstore/notifications",
            ] + Self.losses
        )
        // A fifth of the notifications arrives before each fault.
        let signed = try store.sent().signed
        for fault in 1...3 {
            try await Self.wait(for: fault * signed / 5, in: store)
            if fault == 2 {
                try await server.stop()
                _ = try await server.start()
            } else {
                service.signal(SIGKILL)
                _ = await service.ending()
                (service, _) = try await Self.serve(port, root, settings)
            }
        }
        try await store.waitUntilSent()
        let before = try store.requests()
        let round = try await Self.poll(["--all"], store, settings)
        #expect(round.failed == 0 && round.left == 0 && round.rejected == 0)
        #expect(round.newNotifications > 0)
        let requests = Double(try store.requests() - before) / Double(Self.subscriptions)
        print("one round after losses: \(requests) requests a subscription, \(round)")
        let wrong = try await Self.differences(of: store, settings)
        #expect(wrong.isEmpty, "\(wrong.prefix(3).joined(separator: "\n"))")
        let again = try await Self.poll(["--all", "--pause", "0s"], store, settings)
        // An answer without news contains no purchase, so subscriptions without a customer id are
        // asked about separately.
        #expect(again.answered >= round.answered && again.failed == 0, "\(again)")
        #expect(again.appended == 0, "\(again)")
        let verified = try await subledger(
            ["verify", "--signatures", "--root-certificate", root],
            settings
        )
        #expect(verified.code == 0, "\(verified.errors)")
        service.signal(SIGTERM)
        #expect(await service.ending().code == 0)
        await store.end()
        try await server.stop()
    }

    @Test(.enabled(if: ProcessInfo.processInfo.environment["SUBLEDGER_STORE_SECONDS"] != nil))
    func `notifications and questions together deny the least`() async throws {
        var denied: [String: Int64] = [:]
        for (name, notifies, polls) in [
            ("notifications only", true, false), ("questions only", false, true),
            ("both", true, true),
        ] {
            let found = try await Self.watch(notifies: notifies, polls: polls)
            let each = Double(found.requests) / Double(Self.subscriptions)
            print(
                "\(name): denied wrongly for \(found.denied) s, granted for \(found.granted) s,"
                    + " \(each) requests a subscription in \(Self.seconds) s"
            )
            denied[name] = found.denied
        }
        let both = try #require(denied["both"])
        #expect(try both <= #require(denied["notifications only"]))
    }

    // Short months pass while the ledger is filled in one of the three ways. At the end, everything
    // is fetched, which shows for how long the answers were wrong.
    private static func watch(
        notifies: Bool,
        polls: Bool
    ) async throws -> (denied: Int64, granted: Int64, requests: Int) {
        try await TestServer.shared.withDatabase(from: .polled) { settings in
            let folder = try TestFolder()
            let root = try rootFile(seed: seed, in: folder)
            let (service, url) = try await serve(0, root, settings)
            let store = try await StoreProcess.start(
                [
                    "--subscriptions", "\(subscriptions)", "--seed", "\(seed)", "--month",
                    "\(watchedMonth)s",
                ]
                    + (notifies ? ["--notify", "\(url)/v1/appstore/notifications"] + losses : [])
            )
            let end = ContinuousClock.now + .seconds(seconds)
            while ContinuousClock.now < end {
                try await Task.sleep(for: .seconds(3))
                guard polls else { continue }
                _ = try await poll(["--pause", "2s", "--within", "3s"], store, settings)
            }
            let requests = try store.requests()
            let last = try await subledger(
                ["backfill", "--all", "--quiet"] + store.flags,
                settings
            )
            #expect(last.code == 0, "\(last.errors)")
            let report = try await subledger(["report", "wrong-answers", "--json"], settings)
            let answer = try JSONDecoder().decode(
                WrongAnswersDocument.self,
                from: Data(report.output.utf8)
            )
            service.signal(SIGTERM)
            _ = await service.ending()
            await store.end()
            return (answer.wronglyDeniedSeconds, answer.wronglyGrantedSeconds, requests)
        }
    }

    private static func serve(
        _ port: Int,
        _ root: String,
        _ settings: ConnectionSettings
    ) async throws -> (RunningProgram, String) {
        let service = try Program("subledger").start(
            ["serve", "--port", "\(port)", "--root-certificate", root],
            environment: ["DATABASE_URL": settings.fullConnectionString]
        )
        return (service, try await service.firstMatch(of: /listening at (http:.*)$/))
    }

    private static func wait(for count: Int, in store: StoreProcess) async throws {
        try await store.wait { $0.arrived + $0.lost >= count }
    }

    private static func poll(
        _ arguments: [String],
        _ store: StoreProcess,
        _ settings: ConnectionSettings
    ) async throws -> PollReport {
        let ending = try await subledger(
            ["poll", "--json", "--quiet"] + store.flags + arguments,
            settings
        )
        return try JSONDecoder().decode(PollReport.self, from: Data(ending.output.utf8))
    }

    private struct Truth: Decodable {
        let originalTransactionId: String
        let periods: [Row]

        struct Row: Decodable {
            let productId: String
            let validFrom: Int64
            let validTo: Int64
            let kind: String
            let endReason: String
        }
    }

    /// How the ledger's periods differ from those of the store.
    private static func differences(
        of store: StoreProcess,
        _ settings: ConnectionSettings
    ) async throws -> [String] {
        let ledger = Ledger(
            log: try await EventLog.open(settings),
            verifier: AppStoreVerifier(policy: VerificationPolicy())
        )
        var differences: [String] = []
        var count = 0
        for line in try store.get("/control/truth").split(separator: UInt8(ascii: "\n")) {
            count += 1
            let truth = try JSONDecoder().decode(Truth.self, from: line)
            let expected = truth.periods.map {
                "\($0.productId) \($0.validFrom) \($0.validTo) \($0.kind) \($0.endReason)"
            }
            let stream = StreamID(
                environment: .production,
                originalTransactionId: truth.originalTransactionId
            )
            let found = try await ledger.periods(of: stream).rows.map {
                "\($0.productId) \($0.validFrom.milliseconds) \($0.validTo.milliseconds) "
                    + "\($0.kind.rawValue) \($0.endReason.rawValue)"
            }
            if found != expected {
                differences.append(
                    "\(truth.originalTransactionId)\nexpected \(expected)\nfound    \(found)"
                )
            }
        }
        #expect(count == subscriptions)
        await ledger.close()
        return differences
    }
}
