internal import Foundation

/// A dashboard for Grafana over the metrics of the service, read from Prometheus.
public enum Dashboard {
    /// The dashboard in Grafana's import format: one JSON object.
    ///
    /// - Throws: Only if a text in it cannot be encoded.
    public static func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(document), as: UTF8.self)
    }

    /// One panel.
    private struct Panel {
        let title: String
        /// Grafana's word for the unit.
        let unit: String
        let lines: [Line]

        init(_ title: String, _ unit: String, _ lines: Line...) {
            (self.title, self.unit, self.lines) = (title, unit, lines)
        }
    }

    /// One expression, with the names of its lines.
    private struct Line {
        let expression: String
        let legend: String

        init(_ legend: String, _ expression: String) {
            (self.legend, self.expression) = (legend, expression)
        }
    }

    private static let panels = [
        Panel(
            "Requests",
            "reqps",
            Line("{{route}}", "sum by (route) (\(rate(.requests)))")
        ),
        Panel(
            "Refused and failed requests",
            "reqps",
            Line("{{status}} {{route}}", "sum by (status, route) (\(rate(.requests, errors)))")
        ),
        Panel("Answers, p50", "s", Line("{{route}}", quantile(0.5, .requestSeconds, by: "route"))),
        Panel("Answers, p99", "s", Line("{{route}}", quantile(0.99, .requestSeconds, by: "route"))),
        Panel(
            "Notifications: from Apple's date to here",
            "s",
            Line("p50", quantile(0.5, .lag)),
            Line("p90", quantile(0.9, .lag)),
            Line("p99", quantile(0.99, .lag))
        ),
        Panel(
            "Wrong answers because of late payloads, in an hour",
            "s",
            Line("denied", "sum(increase(\(name(.wronglyDenied))[1h]))"),
            Line("granted", "sum(increase(\(name(.wronglyGranted))[1h]))")
        ),
        Panel(
            "Facts",
            "cps",
            Line("{{outcome}}, {{source}}", "sum by (outcome, source) (\(rate(.facts)))")
        ),
        Panel(
            "Rejections in an hour",
            "short",
            Line(
                "{{reason}}, {{source}}",
                "sum by (reason, source) (increase(\(name(.rejections))[1h]))"
            )
        ),
        Panel(
            "Verify and append",
            "s",
            Line("verify p50", quantile(0.5, .verifySeconds)),
            Line("verify p99", quantile(0.99, .verifySeconds)),
            Line("append p50", quantile(0.5, .appendSeconds)),
            Line("append p99", quantile(0.99, .appendSeconds))
        ),
        Panel(
            "Payloads in a commit",
            "short",
            Line("payloads", "sum(\(rate(.appends))) / sum(\(rate(.commits)))"),
            Line("waiting", "sum(\(name(.waitingAppends)))")
        ),
        Panel(
            "Connections for reading",
            "short",
            Line("{{state}}", "sum by (state) (\(name(.poolConnections)))"),
            Line("reads that wait", "sum(\(name(.poolWaiting)))")
        ),
        Panel(
            "Tables behind the log",
            "short",
            Line("{{projection}}", "max by (projection) (\(name(.followerLag)))")
        ),
        Panel("Events in the log", "short", Line("events", "max(\(name(.events)))")),
        Panel("Database", "bool_on_off", Line("{{instance}}", name(.databaseUp))),
        Panel(
            "Questions to Apple",
            "reqps",
            Line("{{reason}}", "sum by (reason) (\(rate(.appleRequests)))")
        ),
        Panel(
            "Questions without an answer, per hour",
            "short",
            Line(
                "{{error}}, {{reason}}",
                "sum by (error, reason) (increase(\(name(.appleFailures))[1h]))"
            )
        ),
        Panel(
            "Waiting to ask Apple",
            "s",
            Line("rate limit", "max(\(name(.appleWait)))"),
            Line("oldest due subscription", "max(\(name(.appleOldestDue)))")
        ),
        Panel(
            "Results of asking Apple",
            "short",
            Line("new events in an hour", "sum(increase(\(name(.appleEvents))[1h]))"),
            Line("left for the next round", "max(\(name(.appleLeft)))")
        ),
    ]

    private static let errors = #"{status=~"4..|5.."}"#

    private static func name(_ name: ServiceMetrics.Name) -> String { name.rawValue }

    private static func rate(_ metric: ServiceMetrics.Name, _ labels: String = "") -> String {
        "rate(\(name(metric))\(labels)[5m])"
    }

    private static func quantile(
        _ quantile: Double,
        _ metric: ServiceMetrics.Name,
        by label: String? = nil
    ) -> String {
        let labels = ["le"] + [label].compactMap { $0 }
        return "histogram_quantile(\(quantile), sum by (\(labels.joined(separator: ", "))) "
            + "(rate(\(name(metric))_bucket[5m])))"
    }
}

extension Dashboard {
    /// The version of Grafana's format: Grafana 10 and later read version 39.
    private static let schemaVersion = 39
    private static let (columns, width, height) = (2, 12, 8)

    private static let source = Node.object([
        "type": .text("prometheus"), "uid": .text("${datasource}"),
    ])

    private static var document: Node {
        .object([
            "title": .text("Subledger"), "uid": .text("subledger"),
            "schemaVersion": .number(schemaVersion), "editable": .flag(true),
            "refresh": .text("30s"), "timezone": .text("utc"),
            "time": .object(["from": .text("now-6h"), "to": .text("now")]),
            "templating": .object([
                "list": .list([
                    .object([
                        "name": .text("datasource"), "label": .text("Prometheus"),
                        "type": .text("datasource"), "query": .text("prometheus"),
                    ])
                ])
            ]),
            "panels": .list(panels.enumerated().map { node($1, number: $0) }),
        ])
    }

    private static func node(_ panel: Panel, number: Int) -> Node {
        .object([
            "id": .number(number + 1), "type": .text("timeseries"), "title": .text(panel.title),
            "datasource": source,
            "gridPos": .object([
                "h": .number(height), "w": .number(width),
                "x": .number(number % columns * width), "y": .number(number / columns * height),
            ]),
            "fieldConfig": .object([
                "defaults": .object(["unit": .text(panel.unit), "min": .number(0)]),
                "overrides": .list([]),
            ]),
            "targets": .list(
                panel.lines.enumerated().map { index, line in
                    .object([
                        "refId": .text(String(UnicodeScalar(UInt8(ascii: "A") + UInt8(index)))),
                        "expr": .text(line.expression), "legendFormat": .text(line.legend),
                        "datasource": source,
                    ])
                }
            ),
        ])
    }
}
