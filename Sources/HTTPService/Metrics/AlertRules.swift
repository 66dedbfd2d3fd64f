/// Alert rules for Prometheus, over the metrics of the service.
public enum AlertRules {
    /// One rule.
    struct Rule {
        let name: String
        let expression: String
        let minutes: Int
        let severity: String
        let summary: String
    }

    static let rules = [
        Rule(
            name: "SubledgerDown",
            expression: "up{job=\"subledger\"} == 0 or absent(up{job=\"subledger\"})",
            minutes: 2,
            severity: "critical",
            summary: "The service does not answer Prometheus, or is not scraped as job subledger."
        ),
        Rule(
            name: "SubledgerServerErrors",
            expression: "sum(rate(\(name(.requests)){status=~\"5..\"}[5m])) > 0",
            minutes: 5,
            severity: "critical",
            summary: "The service answers with 5xx: Apple sends its notifications again later."
        ),
        Rule(
            name: "SubledgerRejections",
            expression: "sum by (reason) (increase(\(name(.rejections))"
                + "{source=\"notification\"}[1h])) > 0",
            minutes: 0,
            severity: "warning",
            summary: "Notifications were refused; `subledger rejections --open` lists them."
        ),
        Rule(
            name: "SubledgerNotificationsLate",
            expression: "histogram_quantile(0.9, sum by (le) "
                + "(rate(\(name(.lag))_bucket[1h]))) > 3600",
            minutes: 15,
            severity: "warning",
            summary: "One notification in ten arrives more than an hour after Apple signed it."
        ),
        Rule(
            name: "SubledgerNoNotifications",
            // Since a start, or over several of them.
            expression: "time() - max(\(name(.notificationAt))) > 86400 or "
                + "(sum(increase(\(name(.lag))_count[1d])) == 0 and "
                + "count(\(name(.lag))_count offset 1d) > 0)",
            minutes: 15,
            severity: "warning",
            summary: "No notification arrived for a day; check the URL in App Store Connect."
        ),
        Rule(
            name: "SubledgerRejectionsFull",
            expression: "max by (standing) (\(name(.rejectionBytes)) / "
                + "\(name(.rejectionBytesLimit))) > 0.9 or max by (standing) "
                + "(\(name(.rejectionRows)) / \(name(.rejectionRowsLimit))) > 0.9",
            minutes: 5,
            severity: "warning",
            summary:
                "The store of refused payloads of a standing is almost full; then none are stored."
        ),
        Rule(
            name: "SubledgerCheckpointOld",
            expression: "time() - max(\(name(.checkpointAt))) > 172800",
            minutes: 60,
            severity: "warning",
            summary: "The ledger stores no checkpoint of the last two days."
        ),
        Rule(
            name: "SubledgerDiskFull",
            expression: "min(\(name(.diskFree)) / \(name(.diskSize))) < 0.1 or "
                + "min(\(name(.diskFree))) < 1073741824",
            minutes: 5,
            severity: "critical",
            summary: "The disk of the database is almost full; then nothing can be appended."
        ),
        Rule(
            name: "SubledgerClockSkew",
            expression: "max(abs(\(name(.clockAhead)))) > 60",
            minutes: 5,
            severity: "critical",
            summary: "The clocks of service and database differ; beyond the limit appends fail."
        ),
        Rule(
            name: "SubledgerSlowAnswers",
            expression: "histogram_quantile(0.99, sum by (le, route) "
                + "(rate(\(name(.requestSeconds))_bucket[5m]))) > 1",
            minutes: 10,
            severity: "warning",
            summary: "One request in a hundred takes longer than a second."
        ),
        Rule(
            name: "SubledgerDatabaseDown",
            expression: "min(\(name(.databaseUp))) == 0",
            minutes: 2,
            severity: "critical",
            summary: "The service cannot use its database: notifications are answered with 503."
        ),
        Rule(
            name: "SubledgerFollowerBehind",
            expression: "max by (projection) (\(name(.followerLag))) > 10000",
            minutes: 15,
            severity: "warning",
            summary: "A table of a projection is behind the log; is a follower running?"
        ),
        Rule(
            name: "SubledgerWronglyDenied",
            expression: "sum(increase(\(name(.wronglyDenied))[1h])) > 0",
            minutes: 0,
            severity: "warning",
            summary: "Late payloads made access answers wrong; `subledger report wrong-answers`."
        ),
        Rule(
            name: "SubledgerAppleErrors",
            expression: "sum by (error) (increase(\(name(.appleFailures))"
                + "{error!~\"refused|rateLimited\"}[15m])) > 0",
            minutes: 15,
            severity: "warning",
            summary: "Apple does not answer; `subledger doctor` checks the key and the network."
        ),
        Rule(
            name: "SubledgerAppleBehind",
            expression: "max(\(name(.appleOldestDue))) > 21600",
            minutes: 30,
            severity: "warning",
            summary: "A due subscription has waited six hours: Apple limits the rate or is down."
        ),
    ]

    private static func name(_ name: ServiceMetrics.Name) -> String { name.rawValue }

    /// The rules in Prometheus' format: YAML, in one group.
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
