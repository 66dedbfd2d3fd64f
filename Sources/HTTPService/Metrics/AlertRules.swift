/// Alert rules for Prometheus, over the metrics of the service.
public enum AlertRules {
    /// One rule.
    private struct Rule {
        let name: String
        let expression: String
        let minutes: Int
        let severity: String
        let summary: String
    }

    private static let rules = [
        Rule(
            name: "SubledgerServerErrors",
            expression: "sum(rate(\(ServiceMetrics.requests){status=~\"5..\"}[5m])) > 0",
            minutes: 5,
            severity: "critical",
            summary: "Requests are answered with 5xx: Apple sends its notifications again later."
        ),
        Rule(
            name: "SubledgerRejections",
            expression: "sum by (reason) (increase(\(ServiceMetrics.rejections)"
                + "{source=\"notification\"}[1h])) > 0",
            minutes: 0,
            severity: "warning",
            summary: "Notifications were refused; `subledger rejections --open` lists them."
        ),
        Rule(
            name: "SubledgerNotificationsLate",
            expression: "histogram_quantile(0.9, sum by (le) "
                + "(rate(\(ServiceMetrics.lag)_bucket[1h]))) > 3600",
            minutes: 15,
            severity: "warning",
            summary: "One notification in ten arrives more than an hour after Apple signed it."
        ),
        Rule(
            name: "SubledgerNoNotifications",
            expression: "sum(increase(\(ServiceMetrics.lag)_count[1d])) == 0",
            minutes: 60,
            severity: "warning",
            summary: "No notification arrived for a day; check the URL in App Store Connect."
        ),
        Rule(
            name: "SubledgerSlowAnswers",
            expression: "histogram_quantile(0.99, sum by (le, route) "
                + "(rate(\(ServiceMetrics.requestSeconds)_bucket[5m]))) > 1",
            minutes: 10,
            severity: "warning",
            summary: "One request in a hundred takes longer than a second."
        ),
    ]

    /// The rules as Prometheus reads them: YAML, in one group.
    public static var yaml: String {
        rules.reduce("groups:\n  - name: subledger\n    rules:\n") { text, rule in
            text + """
                      - alert: \(rule.name)
                        expr: '\(rule.expression)'
                        for: \(rule.minutes)m
                        labels:
                          severity: \(rule.severity)
                        annotations:
                          summary: '\(rule.summary)'

                """
        }
    }
}
