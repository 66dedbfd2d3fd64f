import ArgumentParser
import CommandSupport
import EventLog
import Subledger

struct EraseReturnedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "returned",
        abstract: "List subscriptions that name the person of an erased customer again.",
        discussion: """
            An erasure covers the subscriptions that the log had. If the same person subscribes \
            again later, Apple sends their app account token with the new subscription, and it is \
            recorded: the ledger keeps nothing by which it could recognise the person. This lists \
            the subscriptions with a token that share Apple's appTransactionId with an erased \
            customer and came after the erasure; `erase customer` with that token erases them. \
            Purchases without an appTransactionId are not found, so keep your list of erasure \
            requests, and run `erase customer` again for each from time to time.
            """
    )

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let ledger = try await database.openLedger()
        let returned = try await ledger.returnedCustomers()
        await ledger.log.close()
        let rows = returned.map { line in
            [
                line.originalTransactionId, line.environment.word, "\(line.position)",
                line.erased, "\(line.erasure)",
            ]
        }
        try output.print(
            ["returned": returned],
            [
                rows.isEmpty
                    ? .line("no subscription of an erased customer came back")
                    : .table(["subscription", "environment", "event", "erased", "by event"], rows)
            ]
        )
    }
}
