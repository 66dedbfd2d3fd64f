import ArgumentParser
import CommandSupport
import EventLog
import Events
import Projections
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

    @OptionGroup var customer: CustomerOrStreamOptions

    @Option(help: "The instant asked about. Default: now.", transform: Clock.instant)
    var at: Instant?

    @Option(
        help: Clock.knownAtHelp,
        transform: Clock.knownAt
    )
    var knownAt: KnownAt = .latest

    @Option(help: "Only access by this product.")
    var product: String?

    @Flag(help: "The picture in letters; so also without UTF-8 or a terminal.")
    var ascii = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let ledger = try await Ledger.open(try await database.settings())
        let answer = try await answer(in: ledger, at: at ?? .systemClock())
        await ledger.log.close()
        if output.json {
            try Terminal.print(json: answer.document)
        } else {
            let style = Terminal.pictureStyle(isASCII: ascii)
            Terminal.print(ExplanationText(answer, style: style, width: Terminal.width).text)
        }
    }

    private func answer(in ledger: Ledger, at instant: Instant) async throws -> ExplanationAnswer {
        let used = try await ledger.log.wholeCommits(knownAt)
        let asked = try await customer.ask(ledger, at: instant, knownAt: used)
        return try await ExplanationAnswer(
            about: asked,
            product: product,
            at: instant,
            knownAt: used,
            askedAs: knownAt,
            in: ledger
        )
    }
}
