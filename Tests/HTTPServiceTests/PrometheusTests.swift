import CoreMetrics
import EventLog
import Foundation
import HTTPService
import TestSupport
import Testing

/// What Prometheus reads.
@Suite(.enabled { await TestServer.isAvailable })
struct PrometheusTests {
    @Test func `what was sent is counted, and promtool finds nothing wrong`() async throws {
        try await TestService.run { service in
            for payload in TestService.notifications(2) {
                _ = try await service.post("/v1/appstore/notifications", payload)
            }
            _ = try await service.post("/v1/appstore/notifications", Array("x".utf8))
            let token = try await service.token(.support)
            let answer = try await service.get("/metrics", token: token)
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(
                text.contains("subledger_facts_total{outcome=\"appended\",source=\"notification\"}")
            )
            #expect(text.contains("subledger_notification_lag_seconds_count"))
            #expect(text.contains("subledger_rejections_total{"))
            #expect(text.contains("subledger_ingest_duration_seconds_count"))
            guard let promtool = Self.promtool() else { return }
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

    // It comes with Debian's package prometheus; CI has it.
    private static func promtool() -> String? {
        let path = ["/usr/bin/promtool", "/opt/homebrew/bin/promtool"]
            .first(where: FileManager.default.isExecutableFile)
        guard path == nil else { return path }
        print("SKIPPED: no promtool; it comes with Prometheus")
        #expect(ProcessInfo.processInfo.environment["CI"] == nil, "promtool is missing")
        return nil
    }

    @Test func `promtool takes the alert rules that serve prints`()
        async throws
    {
        let printed = try await Program("subledger").run(["serve", "--print-alerts"])
        #expect(printed.code == 0)
        #expect(printed.output == AlertRules.yaml)
        guard let promtool = Self.promtool() else { return }
        let folder = try TestFolder()
        let file = try folder.write("alerts.yml", Data(AlertRules.yaml.utf8))
        let ending = try await Program(path: promtool).run(["check", "rules", file])
        #expect(ending.code == 0, "\(ending.errors)\(ending.output)")
        #expect(ending.output.contains("5 rules found"), "\(ending.output)")
    }

    @Test func `a label of an attacker breaks no line`() {
        let registry = PrometheusRegistry()
        registry.makeCounter(label: "a.b", dimensions: [("x", "\"\\\n}")]).increment(by: 2)
        #expect(registry.exposition() == "# TYPE a_b counter\na_b{x=\"\\\"\\\\\\n}\"} 2\n")
    }
}
