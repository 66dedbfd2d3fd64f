import CommandSupport
import ArgumentParser
import Projections
import Subledger

struct AnomaliesReport: AsyncParsableCommand, KnowledgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "anomalies",
        abstract: "Subscriptions that need attention, worst first.",
        discussion: """
            refund_loop: --loop-changes or more immediate changes within --loop-days days to a \
            product of the same level and duration (without a catalog: immediate changes to any \
            product), each of which refunds the rest of the old period. refunded_again: a purchase \
            refunded --refunds or more times. everything_refunded: all of --purchases or more \
            purchases. empty_period: periods that give no access, because the purchase date is not \
            before the expiry date. extension_taken_back: Apple extended a period and later stated \
            its old end again, although extensions are irreversible. shared_token: an app account \
            token with which --token-accounts or more Apple accounts have bought. \
            shared_transaction: a transaction id and line item under several original transaction \
            ids. Reads the whole log once, and subscriptions that share an id a second time; \
            memory does not grow with its size.
            """
    )

    /// The default number of rows, for a person to read.
    static let limitDefault = 100

    /// The most rows that can be requested, which are held in memory.
    static let limitMax = 100_000

    /// The greatest threshold: more changes, days or purchases than any subscription has.
    static let thresholdMax = 100_000

    @Option(help: "Maximum number of rows; the counts include all rows.")
    var limit = limitDefault

    @Option(help: "Minimum number of changes in a refund loop.")
    var loopChanges = AnomalyLimits().loopChangesMin

    @Option(help: "Maximum number of days from the first to the last change of a refund loop.")
    var loopDays = AnomalyLimits().loopDays

    @Option(help: "Minimum number of refunds of one purchase for refunded_again.")
    var refunds = AnomalyLimits().refundsOfPurchaseMin

    @Option(help: "Minimum number of purchases for everything_refunded.")
    var purchases = AnomalyLimits().everythingPurchasesMin

    @Option(help: "Minimum number of Apple accounts for shared_token.")
    var tokenAccounts = AnomalyLimits().tokenAccountsMin

    @OptionGroup var knowledge: KnowledgeOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...AnomaliesReport.limitMax).contains(limit) else {
            throw ValidationError(
                "--limit is \(limit); expected 1 to \(AnomaliesReport.limitMax)"
            )
        }
        let named = [
            ("--loop-changes", loopChanges), ("--loop-days", loopDays), ("--refunds", refunds),
            ("--purchases", purchases), ("--token-accounts", tokenAccounts),
        ]
        for (name, value) in named where !(1...AnomaliesReport.thresholdMax).contains(value) {
            throw ValidationError(
                "\(name) is \(value); expected 1 to \(AnomaliesReport.thresholdMax)"
            )
        }
    }

    private var limits: AnomalyLimits {
        var limits = AnomalyLimits()
        limits.loopChangesMin = loopChanges
        limits.loopDays = loopDays
        limits.refundsOfPurchaseMin = refunds
        limits.everythingPurchasesMin = purchases
        limits.tokenAccountsMin = tokenAccounts
        return limits
    }

    func run() async throws {
        let clocks = knowledge.clocks()
        let ledger = try await database.openLedger()
        let progress = SharedProgress("anomalies", isQuiet: output.quiet)
        let answer = try await ledger.anomalies(
            limit: limit,
            knownAt: clocks.knownAt,
            limits: limits
        ) {
            progress.report($0, "stream")
        }
        progress.finish()
        try await AnswerNotes.writeIfEmpty(ledger)
        await ledger.close()
        if output.json { try Terminal.print(json: answer) } else { answer.printTable() }
        UnreadableStreams.printNote(answer.unreadable, answer.unreadableStreams, "report anomalies")
        guard answer.unreadableStreams == 0 else { throw Exit.mismatch }
    }
}

extension AnomaliesDocument {
    /// The answer as text.
    fileprivate func printTable() {
        if !anomalies.isEmpty {
            var table = TextTable([
                "subscription", "environment", "anomaly", "times", "given back", "from", "to",
                "because of",
            ])
            for row in anomalies {
                table.add([
                    row.originalTransactionId, row.environment.word,
                    row.kind.rawValue + (row.sharedId.map { " \($0)" } ?? ""), "\(row.count)",
                    Amount.text(row.givenMilliunits, row.currency), row.from.clock, row.to.clock,
                    row.positions.marks,
                ])
            }
            Terminal.print(table.text)
        }
        let parts = AnomaliesDocument.kinds.map { "\(counts[$0] ?? 0) \($0)" }
        Terminal.print("\(counted(streams, "stream")): " + parts.joined(separator: ", "))
    }
}
