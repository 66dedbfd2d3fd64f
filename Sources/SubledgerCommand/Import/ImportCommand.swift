import ArgumentParser
import CommandSupport
import Events
import Foundation
import Subledger
import SubledgerAppStore

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Fetch the whole history of customers from Apple, by their ids.",
        discussion: """
            FILE has one id on each line: a transaction id, an original transaction id, an app \
            transaction id or an order id. Or it is a CSV file whose header names such columns: \
            originalTransactionId, transactionId, appTransactionId, orderId, in any spelling \
            (store_transaction_id); other columns are left out, and what is used is printed. Apple \
            finds nothing by app account token. After the import, commands find a subscription by the \
            order id of an invoice (M…, in either letter case). With --known it asks about every \
            subscription in the ledger instead, for example those of old receipts.

            It prints first how many requests that takes, and how long by Apple's rate limits, of \
            which half is used. --dry-run stops there: it needs no key, and for a file no database.

            If it ends early, run it again: customers about whom Apple answered within --pause are \
            not asked about again. Lines without an id are listed, and all others are asked about.

            Key and settings are those of `subledger poll`. Exit 75 if ids are left, 65 if a line \
            or an answer was refused, 4 if Apple does not know an id.
            """
    )

    @Argument(help: "The file, or - for stdin.")
    var file: String?

    @Option(
        help: ArgumentHelp(
            "The column with the ids, as the header of the file names it.",
            valueName: "header"
        )
    )
    var column: String?

    @Flag(help: "Ask about every subscription in the ledger.")
    var known = false

    @Flag(help: "Only print how many requests it takes, and how long.")
    var dryRun = false

    @Option(
        help: ArgumentHelp(
            "Skip customers about whom Apple answered more recently. Default: 30d.",
            valueName: "duration"
        ),
        transform: Clock.milliseconds
    )
    var pause: Int64 = 30 * 86_400_000

    @OptionGroup var options: PollOptions

    func validate() throws {
        guard (file != nil) != known || options.printConfig else {
            throw ValidationError("expected either a file (- for stdin) or --known")
        }
    }

    func run() async throws {
        let plan = try await PollPlan(options, ProcessEnvironment.variables)
        if options.printConfig {
            Terminal.print(plan.settings.table)
            return
        }
        Interrupt.heed()
        let ids = try file.map { try ImportIDFile($0, column: column) }
        if let use = ids?.use, !options.output.quiet { Terminal.write(use) }
        ids?.printRefusedLines(of: file)
        if dryRun, let ids {
            let estimate = ImportEstimate(of: ids.subjects)
            try options.output.print(estimate, [estimate.text])
            if ids.refused > 0 { throw Exit.badInput }
            return
        }
        let credentials = dryRun ? nil : try plan.apple.credentials(plan.trust.bundleId)
        let ledger = try await plan.database.openLedger(
            policy: try plan.trust.policy(),
            isQuiet: options.output.quiet
        )
        DatabaseOptions.warnOfLoss(ledger.log, "import", isQuiet: options.output.quiet)
        let report: ImportReport?
        do {
            let subjects = try await subjects(ids, ledger, plan)
            report = try await ask(about: subjects, ledger, plan, credentials)
        } catch {
            await ledger.close()
            throw error
        }
        await ledger.close()
        guard let report else { return }
        try print(report, ids)
        if Interrupt.isRequested { throw Exit.interrupted }
        if ids.map({ $0.refused > 0 }) ?? false || report.rejected > 0 { throw Exit.badInput }
        if report.unknown > 0 { throw Exit.notFound }
        if report.left > 0 || report.failed > 0 { throw Exit.tryAgain }
    }

    private func subjects(
        _ ids: ImportIDFile?,
        _ ledger: Ledger,
        _ plan: PollPlan
    ) async throws -> [HistoryImport.Subject] {
        if let ids { return ids.subjects }
        let environments = Poller.Options(plan.trust.environments, pause: pause).environments
        var subjects: [HistoryImport.Subject] = []
        try await ledger.forEachStream { stream in
            guard environments.contains(stream.environment) else { return }
            guard subjects.count < HistoryImport.subjectsMax else {
                throw Failure(
                    Exit.badInput,
                    "the ledger has more than \(HistoryImport.subjectsMax) subscriptions; pass "
                        + "their ids in several files"
                )
            }
            subjects.append(.transaction(stream.originalTransactionId))
        }
        return subjects
    }

    // Nil for a dry run.
    private func ask(
        about subjects: [HistoryImport.Subject],
        _ ledger: Ledger,
        _ plan: PollPlan,
        _ credentials: ServerCredentials?
    ) async throws -> ImportReport? {
        let estimate = ImportEstimate(of: subjects)
        guard let credentials else {
            try options.output.print(estimate, [estimate.text])
            return nil
        }
        if !options.output.quiet { Terminal.write("import: \(estimate.text)") }
        let polling = Poller.Options(plan.trust.environments, pause: pause)
        var rules = HistoryImport.Options(holder: polling.holder)
        (rules.environments, rules.pauseSeconds) = (polling.environments, Double(pause) / 1000)
        let client = AppStoreServerClient(credentials, hosts: plan.apple.hosts)
        let progress = Progress("import", isQuiet: options.output.quiet)
        let report: ImportReport
        do {
            report = try await HistoryImport(ledger, client, options: rules).run(
                subjects,
                isStopped: { Interrupt.isRequested }
            ) { progress.report($0, "id", note: " of \(subjects.count)") }
        } catch {
            progress.finish()
            try await client.close()
            throw error
        }
        progress.finish()
        try await client.close()
        return report
    }
}

extension ImportCommand {
    /// The report, with the errors in the list.
    private struct Document: Encodable {
        let report: ImportReport
        let lines: Int?
        let refusedLines: [ImportIDFile.RefusedLine]

        private enum CodingKeys: String, CodingKey { case lines, refusedLines }

        func encode(to encoder: any Encoder) throws {
            try report.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encodeIfPresent(lines, forKey: .lines)
            try container.encode(refusedLines, forKey: .refusedLines)
        }
    }

    private func print(_ report: ImportReport, _ ids: ImportIDFile?) throws {
        for failure in report.failures {
            Terminal.write("import: \(failure.id): \(failure.message)")
        }
        let more = report.unknown + report.failed - report.failures.count
        if more > 0 { Terminal.write("import: and \(counted(more, "failure")) more") }
        try options.output.print(
            Document(report: report, lines: ids?.lines, refusedLines: ids?.refusedLines ?? []),
            report.text
        )
    }
}

extension ImportIDFile {
    fileprivate func printRefusedLines(of path: String?) {
        let place = path == "-" ? "stdin" : path ?? ""
        for refused in refusedLines {
            Terminal.write("refused  \(place), line \(refused.line): \(refused.message)")
        }
        if refused > refusedLines.count {
            Terminal.write("… and \(counted(refused - refusedLines.count, "line")) more")
        }
    }
}

extension ImportEstimate {
    /// The report as one line of text.
    fileprivate var text: String {
        "\(counted(ids, "id")): at least \(counted(requests, "request")), about "
            + "\(durationWords(seconds)) by half of Apple's rate limits"
    }
}

extension ImportReport {
    fileprivate var text: [Block] {
        var blocks = orders.map { order in
            let ids = order.originalTransactionIds
            return Block.line(
                "order \(order.orderId): \(ids.count == 1 ? "subscription" : "subscriptions") "
                    + ids.joined(separator: ", ")
            )
        }
        if ordersFound > orders.count {
            blocks.append(.line("… and \(counted(ordersFound - orders.count, "order")) more"))
        }
        let always = [
            ("ids", ids), ("  answered", answered), ("  with new events", withNews),
        ]
        let ifAny = [
            ("  skipped: customer answered recently", skipped), ("  unknown to Apple", unknown),
            ("  not answered", failed), ("  left", left),
        ].filter { $0.1 > 0 }
        var rows = (always + ifAny + [("requests", requests), ("new events", appended)])
            .map { [$0.0, "\($0.1)"] }
        if rejected > 0 { rows.append(["refused answers", "\(rejected)"]) }
        if let retryAt { rows.append(["continue at", "\(retryAt)"]) }
        return blocks + [.table(["", "count"], rows)]
    }
}
