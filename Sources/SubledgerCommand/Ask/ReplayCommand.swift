import ArgumentParser
import CommandSupport
import Foundation
import Subledger

struct ReplayCommand: AsyncParsableCommand, KnowledgeCommand {
    static let configuration = ReplayQuestion.configuration

    @OptionGroup var question: SubjectOptions

    @Option(help: Clock.help(ReplayQuestion.meaningOfAt), transform: Clock.time)
    var at: AskedTime?

    @Flag(help: "Wait for Return after each event, if stdin is a terminal.")
    var step = false

    @OptionGroup var knowledge: KnowledgeOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let asked = QuestionInput(question.subject, knowledge.clocks(at: at))
        let answer = try await ReplayQuestion.ask(asked, of: database)
        guard !output.json else { return try Terminal.print(json: answer) }
        let waits = step && !answer.frames.isEmpty && StandardStream.isTerminal(0)
        for (index, block) in ReplayQuestion.text(answer, asked).enumerated() {
            Terminal.print(block)
            if waits, index > 0, readLine() == nil { return }
        }
    }
}
