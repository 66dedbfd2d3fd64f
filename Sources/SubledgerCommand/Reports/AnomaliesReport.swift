import ArgumentParser
import CommandSupport
import EventLog
import Events
import Projections
import Subledger

struct AnomaliesReport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "anomalies",
        abstract: "Subscriptions that a person should look at, the worst first.",
        discussion: """
            refund_loop: \(StreamAnomaly.loopChangesMin) or more immediate changes within \
            \(StreamAnomaly.loopWindow / 86_400_000) days to a product of the same level and \
            duration (without a catalog: immediate changes to any product), each of which gives \
            the rest of the old period back. refunded_again: a purchase refunded more than once. \
            everything_refunded: all of \(StreamAnomaly.everythingPurchasesMin) or more purchases. \
            empty_period: periods that give no access, because the purchase is not before the \
            expiry. \
            Reads the whole log once; memory does not grow with it.
            """
    )

    /// Rows printed where nobody says how many: what a person looks at.
    static let limitDefault = 100

    /// Most rows that can be asked for: they are held in memory.
    static let limitMax = 100_000

    @Option(help: "At most this many rows; the counts are of all.")
    var limit = limitDefault

    @OptionGroup var knowledge: LedgerKnowledgeOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...AnomaliesReport.limitMax).contains(limit) else {
            throw ValidationError(
                "--limit is \(limit); expected 1 to \(AnomaliesReport.limitMax)"
            )
        }
    }

    func run() async throws {
        let log = try await database.openLog()
        let found = try await tally(of: log)
        let lanes = log.identity.lanes
        await log.close()
        let document = Document(found.state, found.unreadable, lanes: lanes)
        if output.json { try Terminal.print(json: document) } else { document.printTable() }
        found.unreadable.tell("report anomalies", lanes: lanes)
        try found.unreadable.check()
    }

    private func tally(of log: EventLog) async throws -> Readable<AnomalyTally> {
        let catalogs = try await CatalogStore(log: log).history(
            knownAt: knowledge.knownAt
        )
        let progress = SharedProgress("anomalies", isQuiet: output.quiet)
        var tally = Readable(AnomalyTally(limit: limit))
        for (lane, head) in try await knowledge.heads(of: log) {
            tally = try await log.foldStreams(lane: lane, upTo: head, into: tally) {
                tally,
                history in
                if tally.unreadable.take(history.stream, history.unreadable) { return }
                tally.state.take(StreamAnomalies(Timeline(history), catalogs).found)
                progress.report(tally.state.streams, "streams")
            }
        }
        progress.finish()
        tally.state.trim()
        return tally
    }
}

/// The worst anomalies so far, and how many there were.
private struct AnomalyTally: Sendable {
    private(set) var streams = 0
    private(set) var counts: [StreamAnomaly.Kind: Int] = [:]
    private(set) var worst: [StreamAnomaly] = []
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    mutating func take(_ found: [StreamAnomaly]) {
        streams += 1
        for anomaly in found { counts[anomaly.kind, default: 0] += 1 }
        worst += found
        // Twice the limit before sorting, so that sorting is rare and memory bounded.
        if worst.count > 2 * limit { trim() }
    }

    mutating func trim() {
        worst.sort(by: StreamAnomaly.isWorse)
        worst.removeLast(max(0, worst.count - limit))
    }
}

/// The JSON of `report anomalies`.
private struct Document: Encodable {
    let streams: Int
    let counts: [String: Int]
    let anomalies: [Row]
    let unreadableStreams: Int
    let unreadable: JSONTree

    struct Row: Encodable {
        let originalTransactionId: String
        let environment: String
        let kind: String
        let count: Int
        let givenMilliunits: Int64?
        let currency: String?
        let from: Int64
        let to: Int64
        let positions: [PositionValue]
    }

    init(_ tally: AnomalyTally, _ unreadable: UnreadableStreams, lanes: LaneCount) {
        unreadableStreams = unreadable.count
        self.unreadable = unreadable.document(lanes: lanes)
        streams = tally.streams
        counts = Dictionary(
            uniqueKeysWithValues: StreamAnomaly.Kind.allCases.map {
                ($0.rawValue, tally.counts[$0] ?? 0)
            }
        )
        anomalies = tally.worst.map { row in
            Row(
                originalTransactionId: row.stream.originalTransactionId,
                environment: row.stream.environment.word,
                kind: row.kind.rawValue,
                count: row.count,
                givenMilliunits: row.givenMilliunits,
                currency: row.currency,
                from: row.from.milliseconds,
                to: row.to.milliseconds,
                positions: row.positions.map { PositionValue($0, lanes: lanes) }
            )
        }
    }

    /// The same for people.
    func printTable() {
        if !anomalies.isEmpty {
            var table = TextTable([
                "stream", "environment", "what", "times", "given back", "from", "to",
                "because of",
            ])
            for row in anomalies {
                table.add([
                    row.originalTransactionId, row.environment, row.kind, "\(row.count)",
                    Amount.text(row.givenMilliunits, row.currency),
                    Instant(milliseconds: row.from).clock, Instant(milliseconds: row.to).clock,
                    row.positions.text,
                ])
            }
            Terminal.print(table.text)
        }
        let parts = StreamAnomaly.Kind.allCases.map { "\(counts[$0.rawValue] ?? 0) \($0.rawValue)" }
        Terminal.print("\(streams) streams: " + parts.joined(separator: ", "))
    }
}
