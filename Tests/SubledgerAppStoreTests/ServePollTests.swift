import AppStoreSimulator
import EventLog
import Foundation
import SubledgerAppStore
import SubledgerHTTP
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif
import Postgres
import Subledger
import TestSupport
import Testing

/// `subledger serve --poll` as an operator runs it.
@Suite struct ServePollTests {
    private struct Service {
        let program: RunningProgram
        let url: String

        static func start(
            _ arguments: [String],
            _ settings: ConnectionSettings,
            pause: String = "0s"
        ) async throws -> Service {
            let program = try Program("subledger").start(
                ["serve", "--port", "0", "--poll", "--poll-interval", "1s", "--poll-pause", pause]
                    + arguments,
                environment: ["DATABASE_URL": settings.fullConnectionString]
            )
            let url = try await program.firstMatch(of: /listening at (http:.*)$/)
            return Service(program: program, url: url)
        }

        /// Waits for the line of a round.
        func waitForRound(_ reason: String) async throws -> String {
            for await line in program.errorLines
            where line.contains("asked Apple") && line.contains("reason=\(reason)") {
                return line
            }
            throw POSIXError(.ESRCH)
        }

        func send(
            _ method: String,
            _ path: String,
            _ token: String
        ) async throws -> (status: Int, json: [String: Any], retryAfter: String?) {
            var request = URLRequest(url: try #require(URL(string: url + path)))
            request.httpMethod = method
            request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
            let (data, response) = try await URLSession.shared.data(for: request)
            let http = try #require(response as? HTTPURLResponse)
            let json =
                path == "/metrics"
                ? ["text": String(decoding: data, as: UTF8.self)]
                : try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
            return (http.statusCode, json, http.value(forHTTPHeaderField: "Retry-After"))
        }
    }

    private static func token(_ role: String, _ settings: ConnectionSettings) async throws -> String
    {
        let made = try await subledger(
            ["tokens", "create", role, "--role", role, "--json"],
            settings
        )
        let object = try JSONSerialization.jsonObject(with: Data(made.output.utf8))
        return try #require((object as? [String: Any])?["token"] as? String, "\(made)")
    }

    @Test func `two services that follow and poll one ledger repeat and lose nothing`()
        async throws
    {
        try await TestServer.shared.withDatabase(from: .polled) { settings in
            let store = try await StoreProcess.start([
                "--subscriptions", "16", "--month", "3d", "--elapsed", "90d",
            ])
            // One customer is known, so both services have all others to fetch, at the same time.
            let id = AppStoreSimulator(seed: 1).life(0).originalTransactionId
            let known = try await subledger(["backfill", id] + store.flags, settings)
            #expect(known.code == 0, "\(known.errors)")
            let session = try await PostgresSession.connect(settings)
            let before = try await session.query("SELECT count(*) FROM ledger.event").single()
            var services: [Service] = []
            for _ in 0..<2 {
                services.append(
                    try await Service.start(["--follow"] + store.flags, settings, pause: "1h")
                )
            }
            var answered = 0
            for service in services {
                while true {
                    let line = try await service.waitForRound("poll")
                    let found = try #require(line.firstMatch(of: /answered=(\d+)/)?.1)
                    answered += try #require(Int(found))
                    if found == "0" { break }
                }
            }
            let asked = try await session.query("SELECT count(*) FROM operation.poll").single()
            #expect(try asked.int8(0) >= Int64(answered), "each within its pause once")
            let after = try await session.query("SELECT count(*) FROM ledger.event").single()
            #expect(try after.int8(0) > before.int8(0), "they fetched what was missed")
            let subjects = try await session.query(
                "SELECT count(DISTINCT original_transaction_id) FROM ledger.event"
            ).single()
            #expect(try subjects.int8(0) >= 16, "of every customer")
            await session.close()

            let ledger = try await Ledger.open(settings)
            let heads = try await ledger.log.heads().mapValues(\.offset)
            try await eventually("the tables contain the log") {
                let live = try await ledger.projector.tables().filter { $0.state == .live }
                return !live.isEmpty && live.allSatisfy { $0.lag == 0 }
            }
            #expect(try await ledger.log.heads().mapValues(\.offset) == heads)
            #expect(try await ledger.log.verify().isOK, "no fact twice, no gap")
            await ledger.close()
            let check = try await subledger(["tables", "check", "--quiet"], settings)
            #expect(check.code == 0, "as a rebuild: \(check)")
            for service in services {
                service.program.signal(SIGTERM)
                #expect(await service.program.ending().code == 0)
            }
            await store.end()
        }
    }

    @Test func `a service asks by itself: first what was missed, then round by round`()
        async throws
    {
        try await TestServer.shared.withDatabase(from: .polled) { settings in
            let store = try await StoreProcess.start([
                "--subscriptions", "16", "--month", "3d", "--elapsed", "90d",
            ])
            // What the ledger knew before the service stopped: one customer.
            let id = AppStoreSimulator(seed: 1).life(0).originalTransactionId
            let known = try await subledger(["backfill", id, "--quiet"] + store.flags, settings)
            #expect(known.code == 0, "\(known.errors)")
            let service = try await Service.start(store.flags, settings)
            let missed = try await service.waitForRound("backfill")
            #expect(missed.contains("failed=0"), "\(missed)")
            let round = try await service.waitForRound("poll")
            #expect(round.contains("newNotifications=") && round.contains("requests="))
            // Missed notifications are requested once.
            _ = try await service.waitForRound("poll")
            let token = try await Self.token("support", settings)
            let metrics = try await service.send("GET", "/metrics", token)
            let text = try #require(metrics.json["text"] as? String)
            for line in [
                #"subledger_apple_rounds_total{reason="backfill"} 1"# + "\n",
                #"subledger_apple_requests_total{reason="poll"}"#, "subledger_apple_wait_seconds ",
                "subledger_apple_left_subscriptions 0",
                #"subledger_facts_total{outcome="duplicate",source="refresh"} 0"#,
            ] {
                #expect(text.contains(line), "\(line)")
            }
            let facts = #/subledger_facts_total\{outcome="appended",source="backfill"\} (\d+)/#
            #expect(try #require(text.firstMatch(of: facts)).1 != "0", "\(text)")
            #expect(
                Set(AskedRound.errors)
                    == Set(ServerError.Code.allCases.map(\.rawValue) + ["ledger"])
            )
            let streams = try await subledger(["streams", "--json"], settings)
            #expect(streams.output.matches(of: /"originalTransactionId"/).count >= 16)
            service.program.signal(SIGTERM)
            #expect(await service.program.ending().code == 0)
            await store.end()
        }
    }

    @Test func `a customer is refreshed at once, and once a minute`() async throws {
        try await TestServer.shared.withDatabase(from: .polled) { settings in
            let store = try await StoreProcess.start([
                "--subscriptions", "4", "--month", "3d", "--elapsed", "90d",
            ])
            // The notifications that never arrived make the ledger.
            let life = AppStoreSimulator(seed: 1).life(2)
            let service = try await Service.start(
                store.flags + ["--poll-interval", "1h"],
                settings
            )
            _ = try await service.waitForRound("poll")
            let id = life.originalTransactionId
            let session = try await PostgresSession.connect(settings)
            try await session.execute("UPDATE operation.poll SET answered_at = NULL")
            await session.close()
            let token = try await Self.token("ingest", settings)
            let path = "/v1/customers/\(id)/refresh"
            let first = try await service.send("POST", path + "?wait=20", token)
            #expect(first.status == 200, "\(first.json)")
            #expect(first.json["outcome"] as? String == "answered")
            #expect(first.json["answeredAt"] is Int64 || first.json["answeredAt"] is NSNumber)
            #expect((first.json["access"] as? [String: Any])?["id"] as? String == id)
            #expect(first.json["before"] is [String: Any])
            let asked = try store.requests()
            let second = try await service.send("POST", path, token)
            #expect(second.json["outcome"] as? String == "recent")
            #expect(try store.requests() == asked, "Apple was asked again within a minute")
            let wrong = try await service.send("POST", path + "?wait=soon", token)
            #expect(wrong.status == 400)
            let unknown = try await service.send("POST", "/v1/customers/nobody/refresh", token)
            #expect(unknown.status == 404)
            service.program.signal(SIGTERM)
            #expect(await service.program.ending().code == 0)
            await store.end()
        }
    }

    @Test func `without a key a service does not start to ask, and masks what is secret`()
        async throws
    {
        let missing = try await Program("subledger").run(
            ["serve", "--poll", "--port", "0", "--bundle-id", "a.b"]
        )
        #expect(missing.code == 78 && missing.errors.contains("key is not set"))
        let printed = try await Program("subledger").run(
            ["serve", "--print-config"],
            environment: [
                "SUBLEDGER_SERVE_POLL": "true", "SUBLEDGER_SERVE_POLL_INTERVAL": "5m",
                "SUBLEDGER_SERVE_KEY_ID": "2X9R4HXF34",
            ]
        )
        #expect(printed.code == 0, "\(printed.errors)")
        for words in ["pollInterval", "5m", "SUBLEDGER_SERVE_KEY_ID", "pollPause", "urgency"] {
            #expect(printed.output.contains(words), "\(words)")
        }
        let wrong = try await Program("subledger").run(
            ["serve", "--print-config", "--poll-interval", "often"]
        )
        #expect(wrong.code == 78 && wrong.errors.contains("a duration"), "\(wrong.errors)")
    }
}
