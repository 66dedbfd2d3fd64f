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
        if output.json { try Terminal.print(json: answer) } else { answer.printTables() }
    }
}

extension IngestQualityDocument {
    /// The answer as text.
    fileprivate func printTables() {
        var table = TextTable([
            "source", "runs", "payloads", "refused", "facts", "known already", "share",
            "restored ids", "share", "streams of one run, at most",
        ])
        for line in sources + [total] {
            table.add([
                line.source ?? "all", "\(line.runs)", "\(line.payloads)", "\(line.rejected)",
                "\(line.facts)", "\(line.duplicates)", share(line.duplicatePercent),
                "\(line.restored)", share(line.restoredPercent), "\(line.streamsOfOneRunMax)",
            ])
        }
        Terminal.print(table.text)
        let reasons = total.rejectedByReason.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        for (reason, count) in reasons { Terminal.print("refused \(count) × \(reason)") }
        if !channels.isEmpty {
            var kept = TextTable(["in the log, by channel", "payloads", "events", "refused"])
            for line in channels {
                kept.add([
                    line.source, "\(line.payloads)", "\(line.events)", "\(line.rejected)",
                ])
            }
            Terminal.print("\n" + kept.text)
        }
        guard !aliases.isEmpty else { return }
        var further = TextTable(["in the log, from", "purchases", "further ids", "share"])
        for line in aliases {
            further.add([
                line.evidenceKind, "\(line.purchases)", "\(line.aliases)",
                share(line.aliasPercent),
            ])
        }
        Terminal.print("\n" + further.text)
    }

    private func share(_ percent: Double?) -> String {
        guard let percent else { return "–" }
        let hundredths = Int64((percent * 100).rounded())
        return "\(hundredths / 100).\(String(hundredths % 100 + 100).dropFirst()) %"
    }
}
