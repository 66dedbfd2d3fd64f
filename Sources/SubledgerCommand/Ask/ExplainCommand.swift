import CommandSupport
import ArgumentParser
import Events
import Subledger

struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract:
            "Why a customer did or did not have access, and what the ledger answered then.",
        discussion: """
            Starts with a summary that can be pasted into a ticket. ENTITLED is the answer as known \
            now, SERVED the answer that the ledger gave then. If they differ, the next line shows \
            for how long, and what became known too late. Below follow a timeline and the events \
            that decide the answer. The history is evaluated once for each time at which something \
            became known, so a long history takes longer.
            """
    )

    @OptionGroup var question: SubjectOptions
    @OptionGroup var scope: AloneOption

    @Option(help: Clock.help("The instant to answer for. Default: now."), transform: Clock.time)
    var at: AskedTime?

    @OptionGroup var knowledge: KnowledgeOptions

    @Option(help: "Only access through this product.")
    var product: String?

    @Flag(help: "Draw in ASCII. Default where the locale is not UTF-8 or stdout is not a terminal.")
    var ascii = false

    @OptionGroup var sandbox: SandboxOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let clocks = knowledge.clocks(at: at)
        let ledger = try await database.openLedger()
        let answer = try await ledger.explanation(
            of: question.subject(alone: scope.alone),
            at: clocks.instant,
            product: product,
            knownAt: clocks.knownAt,
            sandbox: try sandbox.chosen(now: clocks.now)
        )
        await ledger.close()
        if output.json {
            try Terminal.print(json: ExplanationDocument(answer))
        } else {
            let style = Terminal.pictureStyle(isASCII: ascii)
            Terminal.print(ExplanationText(answer, style: style, width: Terminal.width).text)
        }
    }
}
