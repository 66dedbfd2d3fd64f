import CommandSupport
import ArgumentParser
import Events
import Subledger

struct IngestQualityReport: AsyncParsableCommand, ZonedCommand {
    static let configuration = CommandConfiguration(
        commandName: "ingest-quality",
        abstract: "How much of the input was refused, already known, or restored.",
        discussion: """
            Adds up the ingest runs, except those that were killed. A restored id is a new \
            transaction id of a purchase that was already known. Several runs may contain the same \
            subscription, so subscriptions are not added up; the largest number in one run is \
            shown. The second table counts what the log contains from each channel, including \
            channels without runs: notifications that `serve` received, answers that `poll` \
            fetched. The third covers the whole log, independent of channels: how many purchases \
            have a transaction id, and how many further ids they have.
            """
    )

    @Option(
        help: Clock.help("Only runs that ended, and payloads that arrived, then or later."),
        transform: Clock.time
    )
    var since: AskedTime?

    @OptionGroup var zone: ZoneOption

    @Option(help: "Only this channel.")
    var source: String?

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let since = zone.instant(since, "--since", now: .systemClock())
        let ledger = try await database.openLedger()
        try await AnswerNotes.writeIfEmpty(ledger)
        let answer = try await ledger.ingestQuality(source: source, since: since)
        await ledger.close()
        try output.print(answer, answer.text)
    }
}
