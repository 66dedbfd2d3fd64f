import ArgumentParser
import CommandSupport
import EventLog
import Events
import Foundation
import Projections
import Subledger

struct PeriodsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "periods",
        abstract: "When a subscription gave access, and why it stopped.",
        discussion: """
            Folded from the log at once; no table stands between. Open is a period that had not \
            ended when Apple last spoke. Where its end has passed since, the text prints "expired \
            since Apple last spoke"; the JSON keeps open, as the table active_periods does, which \
            knows no clock.
            """
    )

    @OptionGroup var question: StreamOptions

    @Option(help: "Only the periods that hold this instant.", transform: Clock.instant)
    var at: Instant?

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let log = try await database.openLog()
        let stream = try await question.stream(in: log)
        let history = try await log.history(of: stream, knownAt: question.knownAt)
        try await ErasureMarks.tell(of: [stream], in: log)
        try await question.printSiblings(of: stream, in: log)
        await log.close()
        let timeline = Timeline(history)
        let periods = ActivePeriods(timeline)
        let rows = periods.rows.filter { row in
            at.map { row.validFrom <= $0 && $0 < row.validTo } ?? true
        }
        let active = periods.active.filter { interval in at.map(interval.contains) ?? true }
        if output.json {
            try Terminal.print(
                json: PeriodsDocument(stream, rows, active, lanes: log.identity.lanes)
            )
        } else {
            PeriodsDocument.printTable(
                stream,
                rows,
                active,
                at: at ?? .systemClock(),
                instead: OneTimePurchase.sentence(of: timeline, without: "periods"),
                lanes: log.identity.lanes
            )
        }
    }
}
