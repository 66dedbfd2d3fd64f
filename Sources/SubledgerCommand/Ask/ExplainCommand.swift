import CommandSupport
import ArgumentParser
import Events
import Subledger

struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract:
            "Why a customer had access at an instant, or had none, and what was answered then.",
        discussion: """
            ENTITLED is what is known now about then; SERVED is what the ledger answered then. \
            Where they differ it says for how long, and what was learnt too late. Below stands the \
            shortest chain of events that makes the answer, and which of them would change it. \
            Costs one fold for each time something became known.
            """
    )

    @OptionGroup var question: SubjectOptions
    @OptionGroup var scope: AloneOption

    @Option(help: "The instant asked about. Default: now.", transform: Clock.instant)
    var at: Instant?

    @OptionGroup var knowledge: KnowledgeOptions

    @Option(help: "Only access by this product.")
    var product: String?

    @Flag(help: "The picture in letters; so also without UTF-8 or a terminal.")
    var ascii = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let ledger = try await database.openLedger()
        let answer = try await ledger.explanation(
            of: question.subject(alone: scope.alone),
            at: at ?? .systemClock(),
            product: product,
            knownAt: knowledge.knownAt
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
