import CommandSupport
import ArgumentParser
import Projections
import Subledger

struct AnomaliesReport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "anomalies",
        abstract: "Subscriptions that a person should look at, the worst first.",
        discussion: """
            refund_loop: \(StreamAnomaly.loopChangesMin) or more immediate changes within \
            \(StreamAnomaly.loopWindow / 86_400_000) days to a product of the same level and \
            duration (without a catalog: immediate changes to any product), each of which gives \
            the rest of the old period back. refunded_again: a purchase refunded more than once. \
            everything_refunded: all of \(StreamAnomaly.everythingPurchasesMin) or more purchases. \
            empty_period: periods that give no access, because the purchase is not before the \
            expiry. \
            Reads the whole log once; memory does not grow with it.
            """
    )

    /// Rows printed where nobody says how many: what a person looks at.
    static let limitDefault = 100

    /// Most rows that can be asked for: they are held in memory.
    static let limitMax = 100_000

    @Option(help: "At most this many rows; the counts are of all.")
    var limit = limitDefault

    @OptionGroup var knowledge: KnowledgeOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...AnomaliesReport.limitMax).contains(limit) else {
            throw ValidationError(
                "--limit is \(limit); expected 1 to \(AnomaliesReport.limitMax)"
            )
        }
    }

    func run() async throws {
        let clocks = knowledge.clocks()
        let ledger = try await database.openLedger()
        let progress = SharedProgress("anomalies", isQuiet: output.quiet)
        let answer = try await ledger.anomalies(limit: limit, knownAt: clocks.knownAt) {
            progress.report($0, "stream")
        }
        progress.finish()
        try await AnswerNotes.writeIfEmpty(ledger)
        await ledger.close()
        if output.json { try Terminal.print(json: answer) } else { answer.printTable() }
        UnreadableStreams.tell(answer.unreadable, answer.unreadableStreams, "report anomalies")
        guard answer.unreadableStreams == 0 else { throw Exit.mismatch }
    }
}

extension AnomaliesDocument {
    /// The answer for people.
    fileprivate func printTable() {
        if !anomalies.isEmpty {
            var table = TextTable([
                "stream", "environment", "what", "times", "given back", "from", "to",
                "because of",
            ])
            for row in anomalies {
                table.add([
                    row.originalTransactionId, row.environment.word, row.kind, "\(row.count)",
                    Amount.text(row.givenMilliunits, row.currency), row.from.clock, row.to.clock,
                    row.positions.text,
                ])
            }
            Terminal.print(table.text)
        }
        let parts = AnomaliesDocument.kinds.map { "\(counts[$0] ?? 0) \($0)" }
        Terminal.print("\(streams) streams: " + parts.joined(separator: ", "))
    }
}
