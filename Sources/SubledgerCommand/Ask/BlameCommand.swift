import CommandSupport
import ArgumentParser
import Events
import Subledger

struct BlameCommand: AsyncParsableCommand, KnowledgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "blame",
        abstract: "Which event is responsible for each part of a subscription's state.",
        discussion: """
            Covers the purchase that decides access at --at, and the next renewal as Apple had \
            stated it by then.
            """
    )

    @OptionGroup var question: SubjectOptions
    @OptionGroup var scope: AloneOption

    @Option(help: Clock.help("The instant to answer for. Default: now."), transform: Clock.time)
    var at: AskedTime?

    @OptionGroup var knowledge: KnowledgeOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let clocks = knowledge.clocks(at: at)
        let ledger = try await database.openLedger()
        let answer = try await ledger.blame(
            of: try await ledger.subject(question.subject(alone: scope.alone)),
            at: clocks.instant,
            knownAt: clocks.knownAt
        )
        await ledger.close()
        AnswerNotes.write(answer.erasures)
        try output.print(answer, answer.text)
    }
}

extension BlameDocument {
    /// The answer as text.
    fileprivate var text: [String] {
        let tables = subscriptions.map { subscription in
            var table = TextTable(["position", "field", "value", "event", "as of", "recorded"])
            for field in subscription.fields {
                let event = [field.kind, field.summary].compactMap { $0 }.joined(separator: " ")
                table.add([
                    "#\(field.position)", field.name, field.text, event, field.asOf?.clock ?? "",
                    field.recordedAt?.clock ?? "",
                ])
            }
            return "\(subscription.originalTransactionId) · \(environment) · \(at.zonedClock)\n"
                + (subscription.fields.isEmpty ? NothingKnown.words : table.text)
        }
        return [tables.joined(separator: "\n\n")] + grounds.lines
    }
}
