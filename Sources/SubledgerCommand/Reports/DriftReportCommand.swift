import ArgumentParser
import CommandSupport
import EventLog
import Events
import Projections

struct DriftReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drift",
        abstract: "Whether the fold agrees with what Apple says in its own payloads.",
        discussion: """
            Each status in a version 2 notification, and each signed renewal info, is compared \
            with what is folded from all that was signed by then. A signed status revoked is also \
            listed where Apple later signed a later date of that revocation: the last date stands. \
            Exit 3 where they differ.
            """
    )

    @Option(help: "Most disagreements to print; all are counted.")
    var limit = 100

    @OptionGroup var knowledge: LedgerKnowledgeOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard limit >= 0 else { throw ValidationError("--limit is negative: \(limit)") }
    }

    func run() async throws {
        let log = try await database.openLog()
        let found = try await report(of: log)
        await log.close()
        let (report, unreadable) = (found.state, found.unreadable)
        let document = Document(report, unreadable, lanes: log.identity.lanes)
        if output.json { try Terminal.print(json: document) } else { document.printTable() }
        unreadable.tell("report drift", lanes: log.identity.lanes)
        try unreadable.check()
        guard report.checked == report.agreeing else { throw Exit.mismatch }
    }

    private func report(of log: EventLog) async throws -> Readable<DriftReport> {
        let limit = limit
        var report = Readable(DriftReport())
        for (lane, head) in try await knowledge.heads(of: log) {
            report = try await log.foldStreams(lane: lane, upTo: head, into: report) {
                report,
                history in
                if report.unreadable.take(history.stream, history.unreadable) { return }
                report.state.add(Drift.check(history), keeping: limit)
            }
        }
        return report
    }

    private struct Document: Encodable {
        let checked: Int
        let agreeing: Int
        let drift: [Line]
        let unreadableStreams: Int
        let unreadable: JSONTree

        struct Line: Encodable {
            let position: PositionValue
            let originalTransactionId: String
            let environment: String
            let asOf: Int64
            let what: String
            let apple: String
            let ours: String
        }

        init(_ report: DriftReport, _ unreadable: UnreadableStreams, lanes: LaneCount) {
            unreadableStreams = unreadable.count
            self.unreadable = unreadable.document(lanes: lanes)
            checked = report.checked
            agreeing = report.agreeing
            drift = report.disagreements.map { found in
                Line(
                    position: PositionValue(found.position, lanes: lanes),
                    originalTransactionId: found.stream.originalTransactionId,
                    environment: found.stream.environment.word,
                    asOf: found.asOf.milliseconds,
                    what: found.subject.rawValue,
                    apple: found.apple,
                    ours: found.ours
                )
            }
        }

        func printTable() {
            Terminal.print("\(agreeing) of \(checked) statements of Apple's agree with the fold")
            guard !drift.isEmpty else { return }
            var table = TextTable(["subscription", "environment", "as of", "what", "Apple", "ours"])
            for line in drift {
                table.add([
                    line.originalTransactionId, line.environment,
                    Instant(milliseconds: line.asOf).clock, line.what, line.apple,
                    line.ours.isEmpty ? "–" : line.ours,
                ])
            }
            Terminal.print(table.text)
        }
    }
}
