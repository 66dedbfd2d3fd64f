import CommandSupport
import ArgumentParser
import EventLog
import Subledger

struct StreamsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "streams",
        abstract: "Every subscription and one-time purchase in the log, with events and products."
    )

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let ledger = try await database.openLedger()
        let printer = StreamedLines(isJSON: output.json, header: StreamSummary.header)
        try await ledger.forEachStream { try printer.print($0, $0.text) }
        try await AnswerNotes.writeIfEmpty(ledger)
        await ledger.close()
        printer.finish()
    }
}

extension StreamSummary {
    fileprivate static let header = StreamedTable.row([
        "stream", "environment", "events", "products",
    ])

    fileprivate var text: String {
        StreamedTable.row([
            originalTransactionId, environment.word, "\(events)",
            productIds.joined(separator: ", "),
        ])
    }
}
