import ArgumentParser
import CommandSupport
import EventLog
import Events
import Foundation

struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Reports over the whole ledger.",
        subcommands: [
            IngestQualityReport.self, DriftReportCommand.self, WrongAnswersReport.self,
            AnomaliesReport.self,
        ]
    )
}

struct IngestQualityReport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ingest-quality",
        abstract: "How much of what came in was refused, known already, or restored.",
        discussion: """
            Adds up the ingest runs; one that is killed leaves no count. A restored id is a \
            transaction id that was new for a purchase that was known. Streams are added up over \
            the runs. The second table is of the whole log, whatever runs brought it: how many \
            purchases have a transaction id, and how many further ids they have.
            """
    )

    @Option(help: "Only runs that ended at this instant or later.", transform: Clock.instant)
    var since: Instant?

    @Option(help: "Only runs of this channel.")
    var source: String?

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let log = try await database.openLog()
        let quality = try await log.ingestQuality(source: source, since: since)
        await log.close()
        if output.json {
            try Terminal.print(json: Document(quality))
        } else {
            print(quality)
        }
    }

    private func print(_ quality: IngestQuality) {
        var table = TextTable([
            "source", "runs", "payloads", "refused", "facts", "known already", "share",
            "restored ids", "share", "streams",
        ])
        for line in quality.sources + [quality.total] {
            let counts = line.counts
            table.add([
                line.source.isEmpty ? "all" : line.source, "\(line.runs)", "\(counts.payloads)",
                "\(counts.rejected)", "\(counts.facts)", "\(counts.duplicates)",
                Share(counts.duplicates, of: counts.facts).text, "\(counts.restored)",
                Share(counts.restored, of: counts.facts).text, "\(counts.streams)",
            ])
        }
        Terminal.print(table.text)
        let reasons = quality.total.counts.rejectedByReason.sorted {
            ($1.value, $0.key) < ($0.value, $1.key)
        }
        for (reason, count) in reasons { Terminal.print("refused \(count) × \(reason)") }
        guard !quality.aliases.isEmpty else { return }
        var aliases = TextTable(["in the log, from", "purchases", "further ids", "share"])
        for line in quality.aliases {
            aliases.add([
                line.evidenceKind, "\(line.purchases)", "\(line.aliases)",
                Share(line.aliases, of: line.purchases).text,
            ])
        }
        Terminal.print("\n" + aliases.text)
    }

    private struct Document: Encodable {
        let sources: [Line]
        let total: Line
        let aliases: [Aliases]

        init(_ quality: IngestQuality) {
            sources = quality.sources.map { Line($0, source: $0.source) }
            total = Line(quality.total, source: nil)
            aliases = quality.aliases.map(Aliases.init)
        }

        struct Line: Encodable {
            let source: String?
            let runs: Int64
            let payloads: Int64
            let rejected: Int64
            let rejectedByReason: [String: Int64]
            let facts: Int64
            let appended: Int64
            let duplicates: Int64
            let duplicatePercent: Double?
            let restored: Int64
            let restoredPercent: Double?
            let streams: Int64

            init(_ line: IngestQuality.Line, source: String?) {
                let counts = line.counts
                self.source = source
                runs = line.runs
                payloads = counts.payloads
                rejected = counts.rejected
                rejectedByReason = counts.rejectedByReason
                facts = counts.facts
                appended = counts.appended
                duplicates = counts.duplicates
                duplicatePercent = Share(counts.duplicates, of: counts.facts).percent
                restored = counts.restored
                restoredPercent = Share(counts.restored, of: counts.facts).percent
                streams = counts.streams
            }
        }

        struct Aliases: Encodable {
            let evidenceKind: String
            let purchases: Int64
            let aliases: Int64
            let aliasPercent: Double?

            init(_ line: IngestQuality.Aliases) {
                evidenceKind = line.evidenceKind
                purchases = line.purchases
                aliases = line.aliases
                aliasPercent = Share(line.aliases, of: line.purchases).percent
            }
        }
    }
}

/// A part of a whole, in percent with two decimals.
private struct Share {
    private let hundredths: Int64?

    /// Nothing of nothing has no share.
    init(_ part: Int64, of whole: Int64) {
        hundredths = whole == 0 ? nil : Int64((Double(part) * 10_000 / Double(whole)).rounded())
    }

    var percent: Double? { hundredths.map { Double($0) / 100 } }

    var text: String {
        hundredths.map { "\($0 / 100).\(String($0 % 100 + 100).dropFirst()) %" } ?? "–"
    }
}
