import ArgumentParser
import CommandSupport
import Deliveries
import EventLog
import Subledger

struct AlertsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "alerts",
        abstract: "What an operator should look at, since when, and what to do.",
        discussion: """
            `subledger serve` looks every minute: a burst of refunds, no notifications for a day, \
            Apple refusing to answer, tables that lag behind, clocks that differ, a paused webhook; \
            and once a day whether the answers agree with Apple's statements. An alert is raised once, \
            until it is over, and is sent to the webhooks that receive alerts.
            """
    )

    @Flag(help: "Also list alerts that are over.")
    var all = false

    @Option(help: "The most alerts, newest first. Default: 100.")
    var limit = 100

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard limit >= 1 else { throw ValidationError("--limit must be at least 1, not \(limit)") }
    }

    func run() async throws {
        let log = try await database.openLog()
        let alerts = try await log.alerts(isOpen: !all, limit: limit).map(AlertDocument.init)
        await log.close()
        let blocks = alerts.flatMap { alert -> [Block] in
            let end = alert.resolvedAt.map { ", over since \($0)" } ?? ""
            let subject = alert.subject.isEmpty ? "" : " (\(alert.subject))"
            return [
                .line(
                    "\(alert.raisedAt)  \(alert.alert.rawValue)\(subject): \(alert.message)\(end)"
                ),
                .line("    \(alert.whatToDo)"),
            ]
        }
        try output.print(alerts, blocks)
        if alerts.isEmpty, !output.json { Terminal.write("no alerts") }
    }
}
