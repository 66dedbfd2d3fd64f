import ArgumentParser
import CommandSupport
import EventLog
import Events
import Projections

struct WrongAnswersReport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wrong-answers",
        abstract: "For how long the ledger denied or granted wrongly, because it learnt late.",
        discussion: """
            Compares, for every subscription and every instant, what was answered then with what is \
            known now. Reads the log once and holds one subscription in memory, with one fold for \
            each time something became known of it. What was imported was not known while it \
            happened: its cause is notYetKnown.
            """
    )

    @Option(help: "Most subscriptions listed, those with the most seconds first.")
    var limit = 20

    @Option(
        help: ArgumentHelp(
            "Leave out this cause; repeat for more.",
            discussion: "One of \(WrongAnswersReport.causeWords).",
            valueName: "cause"
        ),
        transform: WrongAnswersReport.cause
    )
    var without: [WrongAnswers.Cause] = []

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    /// Most lines of one report: they are held in memory.
    static let limitMax = 10_000

    private static let causeWords = WrongAnswers.Cause.allCases.map(\.rawValue)
        .joined(separator: ", ")

    private static func cause(_ word: String) throws -> WrongAnswers.Cause {
        guard let cause = WrongAnswers.Cause(rawValue: word) else {
            throw ValidationError("'\(word)' is no cause; the words are \(causeWords)")
        }
        return cause
    }

    func validate() throws {
        guard (1...WrongAnswersReport.limitMax).contains(limit) else {
            throw ValidationError(
                "--limit must be from 1 to \(WrongAnswersReport.limitMax), not \(limit)"
            )
        }
    }

    func run() async throws {
        let log = try await database.openLog()
        let found = try await tally(log)
        let lanes = log.identity.lanes
        await log.close()
        if output.json {
            try Terminal.print(json: document(found.state, found.unreadable, lanes))
        } else {
            print(found.state)
        }
        found.unreadable.tell("report wrong-answers", lanes: lanes)
        try found.unreadable.check()
    }

    private func tally(_ log: EventLog) async throws -> Readable<WrongAnswerTally> {
        var tally = Readable(WrongAnswerTally(limit: limit, without: Set(without)))
        for (lane, head) in try await log.heads().sorted(by: { $0.key < $1.key }) {
            tally = try await log.foldRecordedStreams(lane: lane, upTo: head, into: tally) {
                tally,
                history in
                if tally.unreadable.take(history.stream, history.unreadable) { return }
                tally.state.add(history)
            }
        }
        return tally
    }

    private func document(
        _ tally: WrongAnswerTally,
        _ unreadable: UnreadableStreams,
        _ lanes: LaneCount
    ) -> JSONTree {
        .object([
            "unreadableStreams": .number(Int64(unreadable.count)),
            "unreadable": unreadable.document(lanes: lanes),
            "streams": .number(Int64(tally.streams)),
            "streamsWithAny": .number(Int64(tally.streamsWithAny)),
            "wronglyDeniedSeconds": .number(tally.seconds(.wronglyDenied)),
            "wronglyGrantedSeconds": .number(tally.seconds(.wronglyGranted)),
            "causes": .array(
                tally.totals.map { total in
                    .object([
                        "kind": .text(total.kind.rawValue), "cause": .text(total.cause.rawValue),
                        "seconds": .number(total.seconds),
                    ])
                }
            ),
            "worst": .array(tally.worst.map(line)),
        ])
    }

    private func line(_ line: WrongAnswerTally.Line) -> JSONTree {
        .object([
            "originalTransactionId": .text(line.stream.originalTransactionId),
            "environment": .text(line.stream.environment.word),
            "wronglyDeniedSeconds": .number(line.answers.seconds(.wronglyDenied)),
            "wronglyGrantedSeconds": .number(line.answers.seconds(.wronglyGranted)),
            "stretches": .array(
                line.answers.stretches.map { stretch in
                    .object([
                        "kind": .text(stretch.kind.rawValue),
                        "cause": .text(stretch.cause.rawValue),
                        "from": .number(stretch.from.milliseconds),
                        "to": .number(stretch.to.milliseconds),
                        "seconds": .number(stretch.seconds),
                    ])
                }
            ),
        ])
    }

    private func print(_ tally: WrongAnswerTally) {
        Terminal.print(
            "\(tally.streamsWithAny) of \(tally.streams) subscriptions were answered wrongly at "
                + "some time: denied for \(Duration.words(tally.seconds(.wronglyDenied))), granted "
                + "for \(Duration.words(tally.seconds(.wronglyGranted)))"
        )
        guard !tally.worst.isEmpty else { return }
        var causes = TextTable(["kind", "cause", "time"])
        for total in tally.totals {
            causes.add([total.kind.rawValue, total.cause.words, Duration.words(total.seconds)])
        }
        var table = TextTable(["subscription", "environment", "denied", "granted", "longest"])
        for line in tally.worst {
            let longest = line.answers.stretches.max { $0.seconds < $1.seconds }
            table.add([
                line.stream.originalTransactionId, line.stream.environment.word,
                Duration.words(line.answers.seconds(.wronglyDenied)),
                Duration.words(line.answers.seconds(.wronglyGranted)),
                longest.map { "\($0.from.clock) → \($0.to.clock), \($0.cause.words)" } ?? "",
            ])
        }
        Terminal.print(causes.text + "\n\n" + table.text)
    }
}
