import CommandSupport
import ArgumentParser
import Projections
import Subledger

struct AnomaliesReport: LogReportCommand, KnowledgeCommand {
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

    /// The most rows, which are held in memory, and the greatest threshold: more changes, days or
    /// purchases than any subscription has.
    static let numberMax = 100_000

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
        let named = [
            ("--limit", limit), ("--loop-changes", loopChanges), ("--loop-days", loopDays),
            ("--refunds", refunds), ("--purchases", purchases), ("--token-accounts", tokenAccounts),
        ]
        for (name, value) in named {
            try Self.check(name, value, max: AnomaliesReport.numberMax)
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
        let progress = Progress("anomalies", isQuiet: output.quiet)
        try await report { ledger in
            let answer = try await ledger.anomalies(
                limit: limit,
                knownAt: clocks.knownAt,
                limits: limits
            ) {
                progress.report($0, "stream")
            }
            progress.finish()
            return answer
        } print: {
            try output.print($0, $0.text)
        }
    }
}
