import CommandSupport
import ArgumentParser
import Events
import Foundation
import Subledger

struct ReplayCommand: AsyncParsableCommand, KnowledgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Replay a subscription event by event, with the state after each.",
        discussion: """
            Events are in the order in which they were recorded; fields that changed are marked \
            with *. The state is shown as of --at or, without it, as of the latest instant that \
            Apple had reported on by then.
            """
    )

    @OptionGroup var question: SubjectOptions

    @Option(
        help: Clock.help("Show the state as of this instant after each event."),
        transform: Clock.time
    )
    var at: AskedTime?

    @Flag(help: "Wait for Return after each event, if stdin is a terminal.")
    var step = false

    @OptionGroup var knowledge: KnowledgeOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let clocks = knowledge.clocks(at: at)
        let ledger = try await database.openLedger()
        let answer = try await ledger.replay(
            of: try await ledger.subject(question.subject),
            at: clocks.at,
            knownAt: clocks.knownAt
        )
        await ledger.close()
        answer.notes.forEach(Terminal.write)
        if output.json {
            try Terminal.print(json: answer)
            return
        }
        Terminal.print(answer.title)
        if answer.frames.isEmpty { Terminal.print(NothingKnown.words) }
        for frame in answer.frames {
            Terminal.print(frame.text)
            if step, StandardStream.isTerminal(0), readLine() == nil { return }
        }
    }
}

extension ReplayDocument.Frame {
    /// The event and the state as text; changed properties are marked with `*`.
    fileprivate var text: String {
        var lines = [
            "#\(position)  recorded \(recordedAt.clock)  as of \(asOf?.clock ?? "–")  \(kind) "
                + summary,
            "    " + (effectText.isEmpty ? "· nothing" : effectText.joined(separator: ", ")),
        ]
        lines += state.map { property in
            "  \(changed.contains(property.name) ? "*" : " ") \(property.name) = \(property.text)"
        }
        let removed = changed.filter { name in !state.contains { $0.name == name } }
        return (lines + removed.map { "  * \($0) –" }).joined(separator: "\n")
    }
}
