import ArgumentParser
import CommandSupport
import EventLog
import Events
import Foundation
import Projections
import Subledger

struct StreamsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "streams",
        abstract: "Every subscription in the log, with its events and products."
    )

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    /// Lines fetched at once: the list is as long as the ledger has customers.
    static let pageLines = 1000

    func run() async throws {
        let log = try await database.openLog()
        var last: StreamSummary?
        var isFirst = true
        if output.json { Terminal.put("[") }
        while true {
            let page = try await log.streams(after: last, limit: StreamsCommand.pageLines)
            if isFirst, !page.isEmpty, !output.json { Terminal.print(Line.header) }
            for stream in page {
                if output.json {
                    Terminal.put((isFirst ? "" : ",") + (try Terminal.text(json: Line(stream))))
                } else {
                    Terminal.print(Line.text(stream))
                }
                isFirst = false
            }
            last = page.last
            if page.count < StreamsCommand.pageLines { break }
        }
        if output.json { Terminal.print("]") }
        await log.close()
    }

    private struct Line: Encodable {
        let originalTransactionId: String
        let environment: String
        let lane: Int
        let events: Int64
        let productIds: [String]
        let firstRecordedAt: Int64
        let lastRecordedAt: Int64

        init(_ summary: StreamSummary) {
            originalTransactionId = summary.stream.originalTransactionId
            environment = summary.stream.environment.word
            lane = summary.lane
            events = summary.events
            productIds = summary.productIds
            firstRecordedAt = summary.firstRecordedAt.milliseconds
            lastRecordedAt = summary.lastRecordedAt.milliseconds
        }

        static let header = StreamedTable.row(["subscription", "environment", "events", "products"])

        static func text(_ summary: StreamSummary) -> String {
            StreamedTable.row([
                summary.stream.originalTransactionId, "\(summary.stream.environment)",
                "\(summary.events)", summary.productIds.joined(separator: ", "),
            ])
        }
    }
}
