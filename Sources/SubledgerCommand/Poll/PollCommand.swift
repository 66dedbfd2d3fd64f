import ArgumentParser
import CommandSupport
import Foundation
import Subledger
import SubledgerAppStore

struct PollCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "poll",
        abstract: "Ask Apple about subscriptions whose charge is due, failed or overdue.",
        discussion: """
            First asks for the notifications that have not reached the server. Then asks for the \
            statuses and the history of the subscriptions that `subledger due` lists, most urgent \
            first: those that end within --within, those whose charge failed, for sixty days, and \
            those whose period has ended without news from Apple. With IDs, asks about these \
            instead, whatever their state. With --all, asks about every customer, first those \
            about whom Apple was never asked, then those asked about longest ago.

            Answers are verified like all payloads. Several pollers share the work: each skips \
            subscriptions about which another one is asking, or Apple answered within --pause. \
            Requests keep to half of Apple's rate limits.

            The key is the .p8 file of an In-App Purchase key of App Store Connect; only its owner \
            may read it. Exit 75 if subscriptions are left for the next round, 65 if an answer was \
            refused, 4 if Apple does not know one of the IDs.
            """
    )

    @Argument(help: "Transaction ids to ask about, whatever their state.")
    var ids: [String] = []

    @Flag(help: "Ask about every customer.")
    var all = false

    @Option(
        help: "How far to look ahead: 24h, 90m, 7d.",
        transform: Clock.milliseconds
    )
    var within: Int64 = 86_400_000

    @Option(
        help: ArgumentHelp(
            "Skip what Apple answered about more recently. Default: by urgency.",
            discussion: """
                Due subscriptions: 15m if the customer may be locked out or the period ends within \
                an hour, 4h if it ends later, 6h if the charge failed, 24h if Apple has reported \
                nothing for a day; never more than an eighth of the period. All others: 10m.
                """,
            valueName: "duration"
        ),
        transform: Clock.milliseconds
    )
    var pause: Int64?

    @OptionGroup var options: PollOptions

    func validate() throws {
        guard ids.isEmpty || !all else {
            throw ValidationError("--all and ids cannot be combined")
        }
    }

    func run() async throws {
        let plan = try await PollPlan(options, ProcessEnvironment.variables)
        if options.printConfig {
            Terminal.print(plan.settings.table)
            return
        }
        Interrupt.heed()
        let progress = Progress("poll", isQuiet: options.output.quiet)
        defer { progress.finish() }
        let report = try await plan.withPoller(pause: pause, isQuiet: options.output.quiet) {
            try await $0.poll(selection, isStopped: { Interrupt.isRequested }) {
                progress.report($0)
            }
        }
        progress.finish()
        report.printFailures(of: "poll")
        if options.output.json {
            try Terminal.print(json: report)
        } else {
            Terminal.print(report.table)
        }
        if Interrupt.isRequested { throw Exit.interrupted }
        if let code = report.exitCode { throw code }
    }

    private var selection: PollSelection {
        if all { return .all }
        return ids.isEmpty ? .due(withinMilliseconds: within) : .ids(ids)
    }
}
