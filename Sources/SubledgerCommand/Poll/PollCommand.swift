import AppStoreServerAPI
import ArgumentParser
import CommandSupport
import Configuration
import EventLog
import Events
import Foundation
import Subledger

struct PollCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "poll",
        abstract: "Ask Apple about subscriptions whose charge is due, failed or overdue.",
        discussion: """
            First asks for the notifications that have not reached the server, then, the most \
            urgent first, for the statuses and the history of the subscriptions that `subledger \
            due` lists: those that end within --within, those whose charge failed, for sixty days, \
            and those whose period has ended without a word. IDs are asked about instead, whatever \
            their state; --all asks about every subscription.

            Answers are verified like all payloads. Several pollers share the work: a subscription \
            that one of them asks about, or has asked about within --pause, is left out by the \
            others. Requests keep to half of Apple's rate limits.

            The key is the .p8 file of an In-App Purchase key of App Store Connect; only its owner \
            may read it. Exit 75 if subscriptions are left for another round, 65 if an answer was \
            refused, 4 if Apple does not know one of the IDs.
            """
    )

    @Argument(help: "Transaction ids to ask about, whatever their state.")
    var ids: [String] = []

    @Flag(help: "Ask about every subscription.")
    var all = false

    @Option(
        help: "How far to look ahead: 24h, 90m, 7d.",
        transform: Clock.milliseconds
    )
    var within: Int64 = 86_400_000

    @Option(
        help: ArgumentHelp(
            "Leave out what was asked about a shorter time ago. Default: 10m.",
            valueName: "duration"
        ),
        transform: Clock.milliseconds
    )
    var pause: Int64 = 600_000

    @Option(help: ArgumentHelp("The private key: a .p8 file.", valueName: "file"))
    var key: String?

    @Option(help: "The id of the key, as App Store Connect shows it.")
    var keyId: String?

    @Option(help: "The id of the issuer, as App Store Connect shows it.")
    var issuerId: String?

    @Option(help: "Ask this store instead of Apple: a `subledger simulate --serve`.")
    var apiUrl: String?

    @Option(
        help: ArgumentHelp(
            "A JSON object with settings, each named as its flag: {\"keyId\": \"2X9R4HXF34\"}.",
            discussion: """
                Flags come first, then environment variables such as SUBLEDGER_POLL_KEY_ID, then \
                this file. The settings: \
                \(PollSetting.allCases.map(\.rawValue).joined(separator: ", ")).
                """,
            valueName: "file"
        )
    )
    var config: String?

    @Flag(help: "Print every setting and where it is from, secrets masked, and end.")
    var printConfig = false

    @OptionGroup var trust: TrustOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard ids.isEmpty || !all else {
            throw ValidationError("--all and ids cannot be combined")
        }
    }

    func run() async throws {
        let plan = try await PollPlan(self, ProcessInfo.processInfo.environment)
        if printConfig {
            Terminal.print(plan.settings.table)
            return
        }
        let credentials = try plan.credentials()
        let ledger = try await plan.database.openLedger(
            policy: try plan.trust.policy(),
            isQuiet: output.quiet
        )
        let client = AppStoreServerClient(credentials, hosts: plan.hosts)
        Interrupt.heed()
        var progress = Progress("poll", isQuiet: output.quiet)
        let report: PollReport
        do {
            report = try await Poller(ledger, client, options: plan.options(pause: pause))
                .poll(selection, isStopped: { Interrupt.isRequested }) { done, _ in
                    progress.report(done, "subscription")
                }
        } catch {
            progress.finish()
            try await client.close()
            await ledger.close()
            throw error
        }
        progress.finish()
        try await client.close()
        await ledger.close()
        try print(report)
        if Interrupt.isRequested { throw Exit.interrupted }
        if let code = report.exitCode { throw code }
    }

    private var selection: PollSelection {
        if all { return .all }
        return ids.isEmpty ? .due(withinMilliseconds: within) : .ids(ids)
    }

    private func print(_ report: PollReport) throws {
        for failure in report.failures {
            let subject = failure.originalTransactionId ?? "notifications"
            Terminal.write("poll: \(subject): \(failure.message)")
        }
        if report.failed > report.failures.count {
            Terminal.write(
                "poll: and \(counted(report.failed - report.failures.count, "failure")) more"
            )
        }
        if output.json {
            try Terminal.print(json: report)
        } else {
            Terminal.print(report.table)
        }
    }
}

extension PollReport {
    /// What scripts are told; nil for success.
    fileprivate var exitCode: ExitCode? {
        if rejected > 0 { return Exit.badInput }
        if failures.contains(where: { $0.reason == "refused" }) { return Exit.notFound }
        return left > 0 || failed > 0 || retryAt != nil ? Exit.tryAgain : nil
    }

    fileprivate var table: String {
        var table = TextTable(["", "count"])
        table.add(["subscriptions asked about", "\(answered)"])
        for (reason, count) in reasons.sorted(by: { $0.key < $1.key }) {
            table.add(["  selected: \(reason)", "\(count)"])
        }
        table.add(["  with news", "\(withNews)"])
        if skipped > 0 { table.add(["  asked about a short while ago", "\(skipped)"]) }
        if left > 0 { table.add(["  left for another round", "\(left)"]) }
        if failed > 0 { table.add(["  not answered", "\(failed)"]) }
        table.add(["missed notifications", "\(missedNotifications)"])
        table.add(["requests", "\(requests)"])
        table.add(["new events", "\(appended)"])
        if rejected > 0 { table.add(["refused answers", "\(rejected)"]) }
        if unreadable > 0 { table.add(["unreadable subscriptions", "\(unreadable)"]) }
        if let retryAt { table.add(["go on at", "\(retryAt)"]) }
        return table.text
    }
}
