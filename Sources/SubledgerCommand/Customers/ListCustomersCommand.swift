import ArgumentParser
import CommandSupport
import EventLog
import Events
import Foundation
import Projections
import Subledger

struct ListCustomersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "The customers that links name, in byte order."
    )

    @Option(help: "Maximum number of lines.")
    var limit = 1000

    @Option(help: "Only customers after this one: continue from the last line of a list.")
    var after = ""

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    /// The most lines of one answer, which is held in memory.
    static let limitMax = 100_000

    func validate() throws {
        guard (1...ListCustomersCommand.limitMax).contains(limit) else {
            throw ValidationError(
                "--limit must be from 1 to \(ListCustomersCommand.limitMax), not \(limit)"
            )
        }
    }

    func run() async throws {
        let ledger = try await database.openLedger()
        try await AnswerNotes.writeIfEmpty(ledger)
        let answer = try await ledger.linkedCustomers(after: after, limit: limit)
        await ledger.close()
        let rows = answer.customers.map { line in
            [
                line.customerId, "\(line.streams)", line.firstRecordedAt.clock,
                line.lastRecordedAt.clock,
            ]
        }
        try output.print(
            answer,
            [
                rows.isEmpty
                    ? .line("no link names a customer")
                    : .table(["customer", "streams", "first linked", "last linked"], rows)
            ]
        )
        if !output.json, let last = answer.customers.last, rows.count == limit {
            Terminal.write("there may be more; continue with --after \(last.customerId)")
        }
    }
}
