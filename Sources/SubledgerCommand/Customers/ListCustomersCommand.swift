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
        abstract: "The customers whom links name, in the order of their bytes."
    )

    @Option(help: "Most lines.")
    var limit = 1000

    @Option(help: "Only customers after this one, to go on from the last line of a list.")
    var after = ""

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    /// Most lines of one answer: the list is held in memory.
    static let limitMax = 100_000

    func validate() throws {
        guard (1...ListCustomersCommand.limitMax).contains(limit) else {
            throw ValidationError(
                "--limit must be from 1 to \(ListCustomersCommand.limitMax), not \(limit)"
            )
        }
    }

    func run() async throws {
        let log = try await database.openLog()
        let customers = try await log.customers(after: after, limit: limit)
        await log.close()
        if output.json {
            try Terminal.print(json: Document(customers: customers.map(Line.init)))
            return
        }
        guard !customers.isEmpty else {
            Terminal.print("no link names a customer")
            return
        }
        var table = TextTable(["customer", "streams", "first linked", "last linked"])
        for line in customers {
            table.add([
                line.customerId, "\(line.streams)", line.firstRecordedAt.clock,
                line.lastRecordedAt.clock,
            ])
        }
        Terminal.print(table.text)
        if customers.count == limit {
            Terminal.write(
                "there may be more; go on with --after \(customers[limit - 1].customerId)"
            )
        }
    }

    private struct Document: Encodable {
        let customers: [Line]
    }

    private struct Line: Encodable {
        let customer: String
        let streams: Int64
        let firstRecordedAt: Int64
        let lastRecordedAt: Int64

        init(_ line: EventLog.LinkedCustomer) {
            customer = line.customerId
            streams = line.streams
            firstRecordedAt = line.firstRecordedAt.milliseconds
            lastRecordedAt = line.lastRecordedAt.milliseconds
        }
    }
}
