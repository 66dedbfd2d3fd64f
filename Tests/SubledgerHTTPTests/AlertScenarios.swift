import TestSupport
import Testing

/// What happened, minute by minute, and which alert it raises.
struct AlertScenario {
    let rule: String
    /// Values of series, in promtool's form.
    let series: [String: String]
    let minutes: Int
    /// The labels of the alerts that are raised, besides the severity; empty for none.
    var raised: [[String: String]] = []
}

enum AlertScenarios {
    private static let lag = "subledger_notification_lag_seconds"
    private static let seen = "subledger_last_notification_timestamp_seconds"
    private static let failures = "subledger_apple_failures_total"
    private static let disk = "subledger_database_disk"

    // A histogram of ten requests a minute, all below the bound.
    private static func histogram(
        _ name: String,
        _ labels: String,
        below: String
    ) -> [String: String] {
        let bounds = ["0.1", "1.0", "10.0", "3600.0", "10800.0", "+Inf"]
        let first = bounds.firstIndex(of: below) ?? 0
        return Dictionary(
            uniqueKeysWithValues: bounds.enumerated().map { index, bound in
                (
                    #"\#(name)_bucket{\#(labels)le="\#(bound)"}"#,
                    index < first ? "0+0x200" : "0+10x200"
                )
            }
        )
    }

    private static func requests(_ status: Int) -> String {
        #"subledger_http_requests_total{method="GET",route="/a",status="\#(status)"}"#
    }

    // Of a consumer that stopped a day before the scenario begins, unless it says otherwise.
    private static func consumer(
        lag: Int,
        at acknowledged: String = "-86401+0x60",
        _ name: String
    ) -> [String: String] {
        [
            #"subledger_consumer_lag_events{consumer="\#(name)"}"#: "\(lag)+0x60",
            #"subledger_consumer_acknowledged_timestamp_seconds{consumer="\#(name)"}"#:
                acknowledged,
        ]
    }

    private static let refused =
        #"subledger_rejections_total{source="notification",reason="chain-untrusted"}"#

    /// For each rule, one that raises it and one that does not.
    static let all = intake + silence + states

    private static let intake: [AlertScenario] = [
        // Dead, or never scraped.
        AlertScenario(rule: "Down", series: [#"up{job="subledger"}"#: "1+0x20"], minutes: 15),
        AlertScenario(
            rule: "Down",
            series: [#"up{job="subledger",instance="a"}"#: "1+0x5 0+0x15"],
            minutes: 15,
            raised: [["job": "subledger", "instance": "a"]]
        ),
        AlertScenario(
            rule: "Down",
            series: [#"up{job="other"}"#: "1+0x20"],
            minutes: 15,
            raised: [["job": "subledger"]]
        ),
        AlertScenario(
            rule: "ServerErrors",
            series: [
                requests(200): "0+9x30", requests(404): "0+9x30", requests(500): "7+0x30",
            ],
            minutes: 20
        ),
        AlertScenario(
            rule: "ServerErrors",
            series: [requests(503): "0+0x5 1+1x25"],
            minutes: 20,
            raised: [[:]]
        ),
        AlertScenario(rule: "Rejections", series: [refused: "0+0x30"], minutes: 20),
        // The first since the start.
        AlertScenario(
            rule: "Rejections",
            series: [refused: "0+0x10 1+0x20"],
            minutes: 20,
            raised: [["reason": "chain-untrusted"]]
        ),
        AlertScenario(
            rule: "NotificationsLate",
            series: histogram(lag, "", below: "1.0"),
            minutes: 120
        ),
        AlertScenario(
            rule: "NotificationsLate",
            series: histogram(lag, "", below: "10800.0"),
            minutes: 120,
            raised: [[:]]
        ),
    ]

    private static let silence: [AlertScenario] = [
        AlertScenario(
            rule: "NoNotifications",
            series: [seen: "0+60x3000", lag + "_count": "0+1x3000"],
            minutes: 2880
        ),
        // A new service.
        AlertScenario(
            rule: "NoNotifications",
            series: [seen: "0+0x3000", lag + "_count": "0+0x3000"],
            minutes: 1200
        ),
        // None since the start.
        AlertScenario(
            rule: "NoNotifications",
            series: [seen: "0+0x3000", lag + "_count": "0+0x3000"],
            minutes: 1500,
            raised: [[:]]
        ),
        // None over several starts, each within a day of the one before.
        AlertScenario(
            rule: "NoNotifications",
            series: [
                seen: "0+0x719 43200+0x719 86400+0x719 129600+0x719", lag + "_count": "0+0x2880",
            ],
            minutes: 2870,
            raised: [[:]]
        ),
        AlertScenario(
            rule: "RejectionsFull",
            series: [
                #"subledger_rejections_bytes{standing="proven"}"#: "80+0x20",
                #"subledger_rejections_limit_bytes{standing="proven"}"#: "100+0x20",
                #"subledger_rejections_bytes{standing="none"}"#: "0+0x20",
                #"subledger_rejections_limit_bytes{standing="none"}"#: "0+0x20",
            ],
            minutes: 10
        ),
        AlertScenario(
            rule: "RejectionsFull",
            series: [
                #"subledger_rejections_bytes{standing="proven"}"#: "95+0x20",
                #"subledger_rejections_limit_bytes{standing="proven"}"#: "100+0x20",
            ],
            minutes: 10,
            raised: [["standing": "proven"]]
        ),
        AlertScenario(
            rule: "RejectionsFull",
            series: [
                #"subledger_rejections_rows{standing="proven"}"#: "95+0x20",
                #"subledger_rejections_limit_rows{standing="proven"}"#: "100+0x20",
            ],
            minutes: 10,
            raised: [["standing": "proven"]]
        ),
        AlertScenario(
            rule: "CheckpointOld",
            series: ["subledger_checkpoint_timestamp_seconds": "0+60x3100"],
            minutes: 3000
        ),
        AlertScenario(
            rule: "CheckpointOld",
            series: ["subledger_checkpoint_timestamp_seconds": "0+0x3100"],
            minutes: 3000,
            raised: [[:]]
        ),
    ]

    private static let states: [AlertScenario] = [
        AlertScenario(
            rule: "DiskFull",
            series: [disk + "_free_bytes": "5e10+0x20", disk + "_size_bytes": "1e11+0x20"],
            minutes: 10
        ),
        // On another machine.
        AlertScenario(
            rule: "DiskFull",
            series: [disk + "_free_bytes": "NaN+0x20", disk + "_size_bytes": "NaN+0x20"],
            minutes: 10
        ),
        AlertScenario(
            rule: "DiskFull",
            series: [disk + "_free_bytes": "5e9+0x20", disk + "_size_bytes": "1e11+0x20"],
            minutes: 10,
            raised: [[:]]
        ),
        AlertScenario(
            rule: "DiskFull",
            series: [disk + "_free_bytes": "5e8+0x20", disk + "_size_bytes": "1e9+0x20"],
            minutes: 10,
            raised: [[:]]
        ),
        AlertScenario(
            rule: "ClockSkew",
            series: ["subledger_clock_skew_seconds": "-2+0x20"],
            minutes: 10
        ),
        AlertScenario(
            rule: "ClockSkew",
            series: ["subledger_clock_skew_seconds": "-120+0x20"],
            minutes: 10,
            raised: [[:]]
        ),
        AlertScenario(
            rule: "SlowAnswers",
            series: histogram(
                "subledger_http_request_duration_seconds",
                #"route="/a","#,
                below: "0.1"
            ),
            minutes: 60
        ),
        AlertScenario(
            rule: "SlowAnswers",
            series: histogram(
                "subledger_http_request_duration_seconds",
                #"route="/a","#,
                below: "10.0"
            ),
            minutes: 60,
            raised: [["route": "/a"]]
        ),
        AlertScenario(
            rule: "DatabaseDown",
            series: ["subledger_database_up": "1+0x20"],
            minutes: 10
        ),
        AlertScenario(
            rule: "DatabaseDown",
            series: [#"subledger_database_up{instance="a"}"#: "1+0x5 0+0x15"],
            minutes: 10,
            raised: [[:]]
        ),
        AlertScenario(
            rule: "FollowerBehind",
            series: [
                #"subledger_follower_lag_events{projection="p"}"#: "10+0x60",
                #"subledger_follower_lag_events{projection="q"}"#: "NaN+0x60",
            ],
            minutes: 30
        ),
        AlertScenario(
            rule: "FollowerBehind",
            series: [#"subledger_follower_lag_events{projection="p"}"#: "20000+0x60"],
            minutes: 30,
            raised: [["projection": "p"]]
        ),
        AlertScenario(
            rule: "ConsumerStopped",
            series: consumer(lag: 0, "a").merging(consumer(lag: 5, at: "0+60x60", "b")) { $1 },
            minutes: 30
        ),
        AlertScenario(
            rule: "ConsumerStopped",
            series: consumer(lag: 5, "a"),
            minutes: 30,
            raised: [["consumer": "a"]]
        ),
        AlertScenario(
            rule: "WronglyDenied",
            series: ["subledger_wrongly_denied_seconds_total": "90+0x60"],
            minutes: 30
        ),
        AlertScenario(
            rule: "WronglyDenied",
            series: ["subledger_wrongly_denied_seconds_total": "0+0x20 90+0x40"],
            minutes: 30,
            raised: [[:]]
        ),
        AlertScenario(
            rule: "AppleErrors",
            series: [
                failures + #"{reason="poll",error="refused"}"#: "0+1x60",
                failures + #"{reason="poll",error="unavailable"}"#: "3+0x60",
            ],
            minutes: 40
        ),
        AlertScenario(
            rule: "AppleErrors",
            series: [failures + #"{reason="poll",error="unavailable"}"#: "0+0x5 1+1x60"],
            minutes: 40,
            raised: [["error": "unavailable"]]
        ),
        AlertScenario(
            rule: "AppleBehind",
            series: ["subledger_apple_oldest_due_seconds": "600+0x60"],
            minutes: 40
        ),
        AlertScenario(
            rule: "AppleBehind",
            series: ["subledger_apple_oldest_due_seconds": "30000+0x60"],
            minutes: 40,
            raised: [[:]]
        ),
    ]

    /// The alert rules, as `serve` prints them.
    static func printedRules() async throws -> String {
        let printed = try await Program("subledger").run(["serve", "--print-alerts"])
        #expect(printed.code == 0)
        return printed.output
    }

    /// Part of Debian's package prometheus; CI has it.
    static func promtool() -> String? {
        let path = Program.installed("promtool")
        #expect(path != nil, "promtool is missing; it comes with Prometheus")
        return path
    }

    /// The scenarios in the form of `promtool test rules`, for these rules.
    static func yaml(rules: [String: (severity: String, summary: String)]) -> String {
        all.reduce("rule_files: [alerts.yml]\nevaluation_interval: 1m\ntests:\n") {
            text,
            scenario in
            let name = "Subledger" + scenario.rule
            let rule = rules[name] ?? ("", "")
            let series = scenario.series.sorted { $0.key < $1.key }.map { key, values in
                "      - series: '\(key)'\n        values: '\(values)'\n"
            }
            let alerts = scenario.raised.map { labels in
                let all = labels.merging(["severity": rule.severity]) { $1 }.sorted { $0 < $1 }
                    .map { "\($0): '\($1)'" }.joined(separator: ", ")
                return """
                              - exp_labels: {\(all)}
                                exp_annotations: {summary: '\(rule.summary)'}

                    """
            }
            return text + """
                  - interval: 1m
                    input_series:
                \(series.joined())    alert_rule_test:
                      - eval_time: \(scenario.minutes)m
                        alertname: \(name)
                        exp_alerts:\(alerts.isEmpty ? " []" : "")
                \(alerts.joined())
                """
        }
    }
}
