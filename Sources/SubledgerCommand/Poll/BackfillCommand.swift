import ArgumentParser
import CommandSupport
import Events
import Foundation
import Subledger
import SubledgerAppStore

struct BackfillCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backfill",
        abstract: "Fetch from Apple what the ledger lacks since a time, or altogether.",
        discussion: """
            --since asks for every notification that Apple signed since then, whether it reached \
            the server or not, and then about the subscriptions that `subledger due` lists: after \
            an outage, or after a backup was restored. --all asks for all notifications that Apple \
            still has (180 days, sandbox 30) and for the statuses and the history of every \
            customer. IDs: the same for single customers, by any of their transaction ids.

            If it ends early or is killed, run the same command again: it continues where it was. \
            Several processes share the work. `poll` can run at the same time.

            --dry-run prints how many requests that takes, and how long by Apple's rate limits, of \
            which half is used. It needs no key.

            Key and settings are those of `subledger poll`. Exit 75 if something is left, 65 if an \
            answer was refused, 4 if Apple does not know one of the IDs.
            """
    )

    @Argument(help: "Transaction ids to ask about.")
    var ids: [String] = []

    @Option(
        help: Clock.help("Ask for everything that Apple signed since this time."),
        transform: Clock.time
    )
    var since: AskedTime?

    @Flag(help: "Ask for everything that Apple still has, about every customer.")
    var all = false

    @Flag(help: "Only print how many requests that takes, and how long.")
    var dryRun = false

    @OptionGroup var options: PollOptions

    func validate() throws {
        let named = [!ids.isEmpty, since != nil, all].count { $0 }
        guard named == 1 || options.printConfig else {
            throw ValidationError(
                "expected one of --since, --all and transaction ids; found \(named)"
            )
        }
    }

    func run() async throws {
        let plan = try await PollPlan(options, ProcessEnvironment.variables)
        if options.printConfig {
            Terminal.print(plan.settings.table)
            return
        }
        let now = Instant.systemClock()
        let scope = scope(at: now)
        if case .since(let instant) = scope, instant >= now {
            throw ValidationError("--since is in the future; expected a time in the past")
        }
        if dryRun {
            try await printEstimate(of: scope, plan, at: now)
            return
        }

        Interrupt.heed()
        let progress = Progress("backfill", isQuiet: options.output.quiet)
        defer { progress.finish() }
        let report = try await plan.withPoller(pause: 0, isQuiet: options.output.quiet) {
            try await $0.backfill(scope, isStopped: { Interrupt.isRequested }) {
                progress.report($0)
            }
        }

        progress.finish()
        report.asked.printFailures(of: "backfill")
        if options.output.json {
            try Terminal.print(json: report)
        } else {
            Terminal.print(report.text)
        }
        if Interrupt.isRequested { throw Exit.interrupted }
        if let code = report.asked.exitCode { throw code }
        if !report.isComplete { throw Exit.tryAgain }
    }

    private func scope(at now: Instant) -> BackfillScope {
        if let since { return .since(since.instant(now: now, in: .utc)) }
        return all ? .all : .ids(ids)
    }

    private func printEstimate(
        of scope: BackfillScope,
        _ plan: PollPlan,
        at now: Instant
    ) async throws {
        let ledger = try await plan.database.openLedger(isQuiet: options.output.quiet)
        let environments = Poller.Options(plan.trust.environments, pause: 0).environments
        let estimate: BackfillEstimate
        do {
            estimate = try await BackfillEstimate(of: scope, in: ledger, environments, at: now)
        } catch {
            await ledger.close()
            throw error
        }
        await ledger.close()
        if options.output.json {
            try Terminal.print(json: estimate)
        } else {
            Terminal.print(estimate.text)
        }
    }
}

extension BackfillReport {
    /// The report as text.
    fileprivate var text: String {
        var lines = spans.map { span in
            "\(span.environment.word): notifications since \(span.since)"
                + (span.isResumed ? ", continued" : "")
        }
        lines.append(asked.table)
        if !isComplete { lines.append("Not complete: run the same command again to continue.") }
        return lines.joined(separator: "\n")
    }
}

extension BackfillEstimate {
    /// The estimate as text.
    fileprivate var text: String {
        var table = TextTable([
            "environment", "notifications since", "customers", "requests: notifications",
            "statuses", "histories", "at least",
        ])
        for part in environments {
            table.add([
                part.environment.word, part.since.map { "\($0)" } ?? "–", "\(part.customers)",
                "\(part.notificationRequests)", "\(part.statusRequests)",
                "\(part.historyRequests)", durationWords(part.seconds),
            ])
        }
        return table.text
            + "\n\(counted(requests, "request")), at least \(durationWords(seconds)) by Apple's "
            + "limits; what the ledger does not know yet is not counted"
    }
}
