import CommandSupport
import ArgumentParser
import Events
import Subledger
import Synchronization

struct DueCommand: AsyncParsableCommand, KnowledgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "due",
        abstract: "Which subscriptions to ask Apple about: charges pending, failed or overdue.",
        discussion: """
            ends_soon: a charge is pending, and the period ends within --within. failed: billing \
            grace period or billing retry. overdue: the period has ended and Apple has not \
            reported since. failed and overdue are listed for sixty days, as long as Apple may \
            charge. unreadable: an event of the subscription cannot be read, so its state is \
            uncertain. "access until" is the end of the last access, including its grace period. \
            Reads the whole log once and prints lines as it goes.
            """
    )

    @Option(
        help: "How far to look ahead: 24h, 90m, 7d.",
        transform: Clock.milliseconds
    )
    var within: Int64 = 86_400_000

    @Option(
        help: Clock.help("The instant to answer for. Default: now."),
        transform: Clock.time
    )
    var at: AskedTime?

    @Option(
        help: "Only this environment: Production, Sandbox, Xcode or LocalTesting.",
        transform: TrustOptions.environment
    )
    var environment: StoreEnvironment?

    @OptionGroup var knowledge: KnowledgeOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    // One stream is in memory at a time, and each line is printed at once.
    func run() async throws {
        let clocks = knowledge.clocks(at: at)
        let ledger = try await database.openLedger()
        let printer = StreamedLines(isJSON: output.json, header: DueDocument.header)
        let unreadable = try await ledger.forEachDue(
            at: clocks.instant,
            withinMilliseconds: within,
            in: environment,
            knownAt: clocks.knownAt
        ) { try printer.print($0, $0.text) }
        try await AnswerNotes.writeIfEmpty(ledger)
        await ledger.close()
        printer.finish()
        unreadable.printNote("due")
    }
}

extension DueDocument {
    fileprivate static let header = row([
        "subscription", "environment", "reason", "access until", "renews as",
    ])

    fileprivate var text: String {
        DueDocument.row([
            originalTransactionId, environment.word, reason, accessEnd?.clock ?? "–",
            autoRenewProductId ?? "–",
        ])
    }

    private static func row(_ cells: [String]) -> String {
        StreamedTable.row(cells, widths: [16, 12, 10, 23])
    }
}

extension Clock {
    /// A length of time: a whole number and its unit, at most ten years; nil for anything else.
    static func duration(_ text: String) -> Int64? {
        let units: [Character: Int64] = [
            "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000,
        ]
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()),
            (0...lengthMax / unit).contains(count)
        else { return nil }
        return count * unit
    }

    /// The same for an option of a command.
    static func milliseconds(_ text: String) throws -> Int64 {
        guard let duration = duration(text) else {
            throw ValidationError(
                "invalid duration '\(text)'; expected 24h, 90m, 7d, or 30s"
            )
        }
        return duration
    }

    // Longer than any period that Apple sells, and far from overflowing sums of instants.
    private static let lengthMax: Int64 = 3650 * 86_400_000
}
