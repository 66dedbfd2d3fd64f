import CommandSupport
import ArgumentParser
import Events
import Subledger

struct ExplainCommand: AsyncParsableCommand, KnowledgeCommand {
    static let configuration = ExplainQuestion.configuration

    @OptionGroup var question: SubjectOptions
    @OptionGroup var scope: AloneOption

    @Option(help: Clock.help(ExplainQuestion.meaningOfAt), transform: Clock.time)
    var at: AskedTime?

    @OptionGroup var knowledge: KnowledgeOptions

    @Option(help: ExplainQuestion.help(.product, "product"))
    var product: String?

    @Flag(help: "Draw in ASCII. Default where the locale is not UTF-8 or stdout is not a terminal.")
    var ascii = false

    @OptionGroup var sandbox: SandboxOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let clocks = knowledge.clocks(at: at)
        let ledger = try await database.openLedger()
        let sandbox = try sandbox.chosen(now: clocks.now)
        let answer = try await ledger.explanation(
            of: try await ledger.subject(question.subject(alone: scope.alone)),
            at: clocks.instant,
            product: product,
            knownAt: clocks.knownAt,
            sandbox: sandbox
        )
        await ledger.close()
        let style = Terminal.pictureStyle(isASCII: ascii)
        try output.print(
            ExplanationDocument(answer),
            ExplanationText(answer, style: style, width: Terminal.width).blocks
        )
    }
}
