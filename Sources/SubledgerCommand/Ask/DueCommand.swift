import ArgumentParser
import CommandSupport
import EventLog
import Events
import Projections

struct DueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "due",
        abstract: "Which subscriptions to ask Apple about: charges that wait, or failed.",
        discussion: """
            ends_soon: the charge waits, and the period ends within the time. failed: billing \
            grace or retry. overdue: the period has ended and Apple has not spoken since. Both for \
            sixty days, as long as Apple may charge. unreadable: an event of the subscription \
            cannot be read, so that nothing is certain of it. Reads the whole log once; the lines come as \
            it goes. Access until is the end of the access that was there last, with its grace.
            """
    )

    @Option(
        help: "How far to look ahead: 24h, 90m, 7d.",
        transform: Clock.milliseconds
    )
    var within: Int64 = 86_400_000

    @Option(help: "As things stand at this instant. Default: now.", transform: Clock.instant)
    var at: Instant?

    @Option(
        help: "Only this environment: Production, Sandbox, Xcode or LocalTesting.",
        transform: TrustOptions.environment
    )
    var environment: Environment?

    @OptionGroup var knowledge: LedgerKnowledgeOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let log = try await database.openLog()
        // The only clock of the question is read here, at the edge.
        let instant = at ?? .systemClock()
        if output.json { Terminal.put("[") }
        let unreadable = try await printLines(log, at: instant)
        if output.json { Terminal.print("]") }
        unreadable.tell("due", lanes: log.identity.lanes)
        await log.close()
    }

    // One stream is in memory at a time, and each line leaves at once.
    private func printLines(
        _ log: EventLog,
        at instant: Instant
    ) async throws -> UnreadableStreams {
        let (within, isJSON, lanes) = (within, output.json, log.identity.lanes)
        let wanted = environment
        var isFirst = Readable(true)
        for (lane, head) in try await knowledge.heads(of: log) {
            isFirst = try await log.foldStreams(lane: lane, upTo: head, into: isFirst) {
                isFirst,
                history in
                guard wanted.map({ $0 == history.stream.environment }) ?? true else { return }
                let line: Line
                if isFirst.unreadable.take(history.stream, history.unreadable) {
                    line = Line(unreadable: history, lanes: lanes)
                } else {
                    let timeline = Timeline(history)
                    let due = DueCharge(timeline, at: instant, withinMilliseconds: within)
                    guard let due else { return }
                    line = Line(due)
                }
                if isFirst.state, !isJSON { Terminal.print(Line.header) }
                if isJSON {
                    Terminal.put((isFirst.state ? "" : ",") + (try Terminal.text(json: line)))
                } else {
                    Terminal.print(line.text)
                }
                isFirst.state = false
            }
        }
        return isFirst.unreadable
    }

    private struct Line: Encodable {
        let originalTransactionId: String
        let environment: String
        let reason: String
        let accessEnd: Int64?
        let autoRenewProductId: String?
        /// The positions of the events that cannot be read, where that is the reason.
        let unreadable: [PositionValue]?

        init(_ due: DueCharge) {
            originalTransactionId = due.stream.originalTransactionId
            environment = due.stream.environment.word
            reason = due.reason.rawValue
            accessEnd = due.accessEnd.milliseconds
            autoRenewProductId = due.autoRenewProductId
            unreadable = nil
        }

        init(unreadable history: StreamHistory, lanes: LaneCount) {
            originalTransactionId = history.stream.originalTransactionId
            environment = history.stream.environment.word
            reason = "unreadable"
            accessEnd = nil
            autoRenewProductId = nil
            unreadable = history.unreadable.map { PositionValue($0.position, lanes: lanes) }
        }

        static let header = row(
            "subscription",
            "environment",
            "reason",
            "access until",
            "renews as"
        )

        var text: String {
            Line.row(
                originalTransactionId,
                environment,
                reason,
                accessEnd.map { Instant(milliseconds: $0).clock } ?? "–",
                autoRenewProductId ?? "–"
            )
        }

        private static func row(_ cells: String...) -> String {
            StreamedTable.row(cells, widths: [16, 12, 10, 23])
        }
    }
}

extension Clock {
    /// A length of time: a whole number and its unit, of at most ten years.
    static func milliseconds(_ text: String) throws -> Int64 {
        let units: [Character: Int64] = [
            "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000,
        ]
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()),
            (0...lengthMax / unit).contains(count)
        else {
            throw ValidationError(
                "'\(text)' is no length of time; expected 24h, 90m, 7d, or 30s"
            )
        }
        return count * unit
    }

    // Longer than any period Apple sells; keeps sums of instants far from overflow.
    private static let lengthMax: Int64 = 3650 * 86_400_000
}
