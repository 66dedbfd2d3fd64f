import ArgumentParser
import CommandSupport
import Events
import Subledger

struct GapsReport: LogReportCommand, KnowledgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "gaps",
        abstract: "What the ledger lacks, or learned only by asking Apple.",
        discussion: """
            renewal_missing: a subscription should have renewed, but its access ended more than \
            --late-renewal ago and Apple has reported nothing since. status_contradicts: Apple's \
            newest status or renewal info differs from what the ledger computes from everything \
            signed by then; `report drift` compares all of them. notification_missed: a \
            notification that `poll` or `backfill` fetched from Apple's history, at least \
            --late-notification after Apple signed it. Exit 3 if a renewal is missing or a status \
            contradicts the ledger.

            The column next names the command that may close a gap: a round of `poll` asks about \
            subscriptions that ended within 60 days; older ones must be named. If nothing ever \
            arrived about a customer, the ledger does not contain the customer, and no report \
            shows the gap: `import` and `backfill --all` find such customers.

            In a ledger of a store with short months (`simulate --month 5m`, Apple's sandbox), the \
            defaults are shorter in proportion: a quarter of the period for a renewal, and 1/168 \
            of the longest period for a notification.
            """
    )

    /// The most rows that can be requested, which are held in memory.
    static let limitMax = 100_000

    @Option(help: "Maximum number of rows, from 1 to \(limitMax); the counts include all.")
    var limit = 100

    @Option(
        help: ArgumentHelp(
            "How late a renewal may be. Default: 24h, or a quarter of a short period.",
            valueName: "duration"
        ),
        transform: Clock.milliseconds
    )
    var lateRenewal: Int64?

    @Option(
        help: ArgumentHelp(
            "How late a notification may be. Default: 1h, or less if all periods are short.",
            valueName: "duration"
        ),
        transform: Clock.milliseconds
    )
    var lateNotification: Int64?

    @Option(help: Clock.help("As things stood then. Default: now."), transform: Clock.time)
    var at: AskedTime?

    @OptionGroup var form: CSVOptions

    @OptionGroup var knowledge: KnowledgeOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        try Self.check("--limit", limit, max: GapsReport.limitMax)
        guard !form.isCSV || !output.json else {
            throw ValidationError("--csv and --json cannot be combined")
        }
    }

    func run() async throws {
        let clocks = knowledge.clocks(at: at)
        var limits = GapLimits()
        limits.renewalPatience = lateRenewal
        limits.notificationPatience = lateNotification
        let answer = try await report {
            try await $0.gaps(
                at: clocks.instant,
                limit: limit,
                knownAt: clocks.knownAt,
                limits: limits
            )
        } print: { answer in
            if form.isCSV {
                Terminal.put(form.excel ? answer.excelCSV : answer.rows.csv)
            } else {
                try output.print(answer, answer.text)
            }
        }
        let open = answer.counts.filter { $0.key != "notification_missed" }.values.reduce(0, +)
        guard open == 0 else { throw Exit.mismatch }
    }
}
