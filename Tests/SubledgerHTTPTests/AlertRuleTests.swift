import EventLog
import Foundation
import SubledgerHTTP
import TestSupport
import Testing

/// The alert rules in both directions.
@Suite(.enabled { await TestServer.isAvailable })
struct AlertRuleTests {
    // Name, expression, severity and summary of each rule.
    private static func rules(_ yaml: String) -> [(name: String, text: [String])] {
        let rule =
            #/- alert: (\w+)\n +expr: '(.*)'\n +for: .*\n +labels:\n +severity: (\w+)\n +annotations:\n +summary: '(.*)'/#
        return yaml.matches(of: rule).map {
            (String($0.1), [String($0.2), String($0.3), String($0.4)])
        }
    }

    @Test func `every rule names only series that exist from the start, with a value`()
        async throws
    {
        let yaml = try await AlertScenarios.printedRules()
        let rules = Self.rules(yaml)
        #expect(rules.count == yaml.matches(of: /- alert:/).count)
        try await TestService.run { service in
            let token = try await service.token(.support)
            let answer = try await service.get("/metrics", token: token)
            let text = "\n" + String(decoding: answer.body, as: UTF8.self)
            for (name, parts) in rules {
                for found in parts[0].matches(of: /(subledger_[a-z_]+)(\{[a-z]+="[a-z]+"\})?/) {
                    let lines = text.split(separator: "\n").filter {
                        $0.hasPrefix("\(found.1){") || $0.hasPrefix("\(found.1) ")
                    }
                    let label = found.2.map { $0.dropFirst().dropLast() } ?? ""
                    #expect(
                        lines.contains { label.isEmpty || $0.contains(label) },
                        "\(name): \(found.0)"
                    )
                }
            }
            for line in [
                #"subledger_http_requests_total{method="POST",route="/v1/appstore/notifications",status="500"} 0"#,
                #"subledger_rejections_total{reason="chain-untrusted",source="notification"} 0"#,
                #"subledger_facts_total{outcome="appended",source="poll"} 0"#,
                #"subledger_apple_failures_total{error="credentials",reason="refresh"} 0"#,
                "subledger_notification_lag_seconds_count 0", "subledger_database_up 1.0",
                "subledger_checkpoint_timestamp_seconds 0.0",
                #"subledger_follower_lag_events{projection="active_periods"} NaN"#,
            ] {
                #expect(text.contains("\n\(line)\n"), "\(line)")
            }
            let started = try #require(
                text.firstMatch(of: /subledger_last_notification_timestamp_seconds (\d+)/)
            ).1
            #expect(abs((Int64(started) ?? 0) - Int64(Date().timeIntervalSince1970)) < 3600)
        }
    }

    @Test func `each rule has scenarios in both directions, and in acceptance promtool agrees`()
        async throws
    {
        let yaml = try await AlertScenarios.printedRules()
        let rules = Self.rules(yaml)
        for (name, _) in rules {
            let scenarios = AlertScenarios.all.filter { "Subledger" + $0.rule == name }
            #expect(scenarios.contains { $0.raised.isEmpty }, "\(name) is never quiet")
            #expect(scenarios.contains { !$0.raised.isEmpty }, "\(name) is never raised")
        }
        guard Acceptance.isRunning, let promtool = AlertScenarios.promtool() else { return }
        let folder = try TestFolder()
        _ = try folder.write("alerts.yml", Data(yaml.utf8))
        let texts = Dictionary(
            uniqueKeysWithValues: rules.map {
                ($0.name, (severity: $0.text[1], summary: $0.text[2]))
            }
        )
        let file = try folder.write(
            "scenarios.yml",
            Data(AlertScenarios.yaml(rules: texts).utf8)
        )
        let ending = try await Program(path: promtool).run(["test", "rules", file])
        #expect(ending.code == 0, "\(ending.errors)\(ending.output)")
        #expect(ending.output.contains("SUCCESS"), "\(ending.output)")
    }
}
