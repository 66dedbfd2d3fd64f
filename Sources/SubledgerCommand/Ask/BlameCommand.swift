import CommandSupport
import ArgumentParser
import Events
import Subledger

struct BlameCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "blame",
        abstract: "Which event is responsible for each part of a subscription's state.",
        discussion: """
            Of the purchases the one that decides the access at --at counts; of the next renewal \
            what Apple had said up to then.
            """
    )

    @OptionGroup var question: SubjectOptions
    @OptionGroup var scope: AloneOption

    @Option(help: "The instant asked about. Default: now.", transform: Clock.instant)
    var at: Instant?

    @OptionGroup var knowledge: KnowledgeOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let ledger = try await database.openLedger()
        let answer = try await ledger.blame(
            of: question.subject(alone: scope.alone),
            at: at ?? .systemClock(),
            knownAt: knowledge.knownAt
        )
        await ledger.close()
        AnswerNotes.write(answer.erasures)
        answer.grounds.lines.forEach(Terminal.write)
        if output.json {
            try Terminal.print(json: answer)
        } else {
            Terminal.print(answer.text)
        }
    }
}

extension BlameDocument {
    /// The answer for people.
    fileprivate var text: String {
        subscriptions.map { subscription in
            var table = TextTable(["position", "what", "value", "event", "as of", "recorded"])
            for field in subscription.fields {
                let event = [field.kind, field.summary].compactMap { $0 }.joined(separator: " ")
                table.add([
                    "#\(field.position)", field.name, field.text, event, field.asOf?.clock ?? "",
                    field.recordedAt?.clock ?? "",
                ])
            }
            return "\(subscription.originalTransactionId) · \(environment) · \(at.clock) UTC\n"
                + (subscription.fields.isEmpty ? "nothing is known" : table.text)
        }.joined(separator: "\n\n")
    }
}
