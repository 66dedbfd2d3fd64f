import CommandSupport
import ArgumentParser
import Projections
import Subledger

struct WrongAnswersReport: LogReportCommand {
    static let configuration = CommandConfiguration(
        commandName: "wrong-answers",
        abstract: "How long access answers were wrong because events arrived late.",
        discussion: """
            Compares, for every stream (the events of one subscription or one-time purchase) and \
            every instant, what was answered then with what is known now. Reads the log once and \
            holds one stream in memory, and evaluates it once for each time something became known about it. Times at which this ledger \
            could not yet be asked are left out and counted separately: those before its first \
            commit, and those of imported payloads; --all includes them.
            """
    )

    @Option(help: "Maximum number of streams to list, longest wrong answers first.")
    var limit = 20

    @Option(
        help: ArgumentHelp(
            "Do not count wrong answers with this cause; repeat for more.",
            discussion: "One of \(WrongAnswersReport.causeWords).",
            valueName: "cause"
        ),
        transform: WrongAnswersReport.cause
    )
    var without: [WrongAnswers.Cause] = []

    @Flag(help: "Also count times at which this ledger could not yet be asked.")
    var all = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    /// The most lines of one report, which are held in memory.
    static let limitMax = 10_000

    private static let causeWords = WrongAnswers.Cause.allCases.map(\.rawValue)
        .joined(separator: ", ")

    private static func cause(_ word: String) throws -> WrongAnswers.Cause {
        guard let cause = WrongAnswers.Cause(rawValue: word) else {
            throw ValidationError("invalid cause '\(word)'; expected one of \(causeWords)")
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
        try await report {
            try await $0.wrongAnswers(limit: limit, without: Set(without), countsNotAsked: all)
        } print: {
            try output.print($0, $0.text(countsNotAsked: all))
        }
    }
}
