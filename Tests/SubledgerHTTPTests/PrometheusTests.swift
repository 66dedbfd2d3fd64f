import CoreMetrics
import EventLog
import Events
import Foundation
import HTTPTypes
import Projector
import Subledger
import SubledgerHTTP
import TestSupport
import Testing

/// The metrics that Prometheus reads.
@Suite(.enabled { await TestServer.isAvailable })
struct PrometheusTests {
    private static let path = "/v1/appstore/notifications"

    @Test func `requests are counted, and in acceptance promtool accepts the metrics`() async throws
    {
        try await TestService.run { service in
            let text = try await Self.exposition(of: service)
            for line in [
                #"subledger_facts_total{outcome="appended",source="notification"} "#,
                #"subledger_commits_total "#, "subledger_notification_lag_seconds_count ",
                #"subledger_verify_duration_seconds_count{source="notification"} 3"#,
                #"subledger_append_duration_seconds_count{source="notification"} 3"#,
                #"subledger_appends_total 3"#, "subledger_database_up 1.0",
                #"subledger_pool_connections{state="idle"} "#, "subledger_rejections_total{",
                #"subledger_follower_lag_events{projection="active_periods"} "#,
            ] {
                #expect(text.contains("\n" + line), "\(line)")
            }
            let behind = #"subledger_follower_lag_events{projection="active_periods"} 0.0"#
            #expect(!text.contains(behind))
            guard Acceptance.isRunning, let promtool = AlertScenarios.promtool() else { return }
            let file = FileManager.default.temporaryDirectory
                .appendingPathComponent("metrics-\(UUID().uuidString)")
            try text.write(to: file, atomically: true, encoding: .utf8)
            let ending = try await Program(path: promtool).run(
                ["check", "metrics"],
                inputFile: file.path
            )
            #expect(ending.code == 0, "\(ending.errors)\(ending.output)")
        }
    }

    // The metrics after one of everything: three notifications, of which one is repeated and one is
    // forged, and tables that are behind the log.
    private static func exposition(of service: TestService) async throws -> String {
        let payloads = TestService.notifications(2)
        for payload in [payloads[0], payloads[0], Array(#"{"signedPayload":"x"}"#.utf8)] {
            _ = try await service.post(path, payload)
        }
        _ = try await service.ledger.projector.rebuild()
        _ = try await service.post(path, payloads[1])
        let token = try await service.token(.support)
        let answer = try await service.get("/metrics", token: token)
        return String(decoding: answer.body, as: UTF8.self)
    }

    @Test func `every metric in the dashboard and in the alert rules exists`() async throws {
        let printed = try await Program("subledger").run(["serve", "--print-dashboard"])
        #expect(printed.code == 0)
        let object = try JSONSerialization.jsonObject(with: Data(printed.output.utf8))
        let dashboard = try #require(object as? [String: Any])
        let panels = try #require(dashboard["panels"] as? [[String: Any]])
        let expressions = panels.flatMap { $0["targets"] as? [[String: Any]] ?? [] }
            .compactMap { $0["expr"] as? String }
        #expect(panels.count == 18 && expressions.count >= panels.count)
        let rules = try await AlertScenarios.printedRules().split(separator: "\n")
            .filter { $0.contains("expr: ") }
        let names = (expressions + rules.map(String.init)).flatMap { text in
            text.matches(of: #/subledger_[a-z_]+/#).map { String($0.0) }
        }
        try await TestService.run { service in
            let text = try await Self.exposition(of: service)
            for name in Set(names) {
                let metric = name.replacing(#/_(bucket|count|sum)$/#, with: "")
                #expect(text.contains("# TYPE \(metric) "), "\(name)")
            }
        }
        guard Acceptance.isRunning, let promtool = AlertScenarios.promtool() else { return }
        let recorded = expressions.enumerated().map { number, expression in
            "      - record: a\(number)\n        expr: '\(expression)'\n"
        }
        let folder = try TestFolder()
        let file = try folder.write(
            "dashboard.yml",
            Data(("groups:\n  - name: a\n    rules:\n" + recorded.joined()).utf8)
        )
        let ending = try await Program(path: promtool).run(["check", "rules", file])
        #expect(ending.code == 0, "\(ending.errors)\(ending.output)")
        #expect(ending.output.contains("\(expressions.count) rules found"), "\(ending.output)")
    }

    @Test func `the time for which a late purchase was denied is measured`() async throws {
        let start = Instant(milliseconds: 1_760_000_000_000)
        let clock = SetClock(start)
        var options = EventLog.Options()
        options.clock = { clock.now }
        // Our clock is set far from the server's.
        options.clockSkewSecondsMax = .max
        let set = options
        try await TestServer.shared.withDatabase(from: .served) { settings in
            try await TestService.run(on: settings, set, clock: { clock.now }) { service in
                let token = try await service.token(.admin)
                func upload(_ id: String, at purchase: Instant) async throws {
                    let jws = TestService.purchase(id, "Production", "pro", at: purchase)
                    let answer = try await service.post(
                        "/v1/transactions",
                        json: ["signedTransactions": [jws]],
                        token: token
                    )
                    #expect(answer.status == 200)
                }
                try await upload("1", at: start)
                clock.advance(milliseconds: 100_000)
                try await upload("2", at: Instant(milliseconds: start.milliseconds + 10_000))
                // The measurement runs concurrently with the requests.
                var text = ""
                for _ in 0..<500 where !text.contains("wrongly_denied_seconds_total 90\n") {
                    let answer = try await service.get("/metrics", token: token)
                    text = String(decoding: answer.body, as: UTF8.self)
                }
                #expect(text.contains("subledger_wrongly_denied_seconds_total 90\n"), "\(text)")
                #expect(text.contains("subledger_wrongly_granted_seconds_total 0\n"))
            }
        }
    }

    @Test func `serve prints the alert rules, and in acceptance promtool accepts them`()
        async throws
    {
        let yaml = try await AlertScenarios.printedRules()
        #expect(yaml.matches(of: /- alert:/).count == 16)
        guard Acceptance.isRunning, let promtool = AlertScenarios.promtool() else { return }
        let folder = try TestFolder()
        let file = try folder.write("alerts.yml", Data(yaml.utf8))
        let ending = try await Program(path: promtool).run(["check", "rules", file])
        #expect(ending.code == 0, "\(ending.errors)\(ending.output)")
        #expect(ending.output.contains("15 rules found"), "\(ending.output)")
    }

    @Test func `special characters in a label are escaped`() {
        let registry = PrometheusRegistry()
        registry.makeCounter(label: "a.b", dimensions: [("x", "\"\\\n}")]).increment(by: 2)
        #expect(registry.exposition() == "# TYPE a_b counter\na_b{x=\"\\\"\\\\\\n}\"} 2\n")
    }
}
