import ArgumentParser
import CommandSupport
import Subledger

/// The command of a question.
struct QuestionCommand<Asked: Question>: AsyncParsableCommand, KnowledgeCommand {
    static var configuration: CommandConfiguration { Asked.configuration }

    @OptionGroup var question: SubjectOptions

    @OptionGroup(visibility: Asked.mayBeAlone ? .default : .private)
    var scope: AloneOption

    @Option(help: Clock.help(Asked.meaningOfAt), transform: Clock.time)
    var at: AskedTime?

    @OptionGroup var knowledge: KnowledgeOptions

    @Option(help: Asked.help(.group, "group"))
    var group: String?

    @Option(help: Asked.help(.product, "product"))
    var product: [String] = []

    @Option(help: Asked.help(.trust, "level"))
    var trust: [String] = []

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    private var values: [QuestionParameter: [String]] {
        [.group: group.map { [$0] } ?? [], .product: product, .trust: trust]
            .filter { !$0.value.isEmpty }
    }

    func validate() throws {
        guard Asked.mayBeAlone || !scope.alone else {
            throw ValidationError("Unknown option '--alone'")
        }
        for (parameter, given) in values {
            let name = parameter.rawValue
            guard Asked.parameters[parameter] != nil else {
                throw ValidationError("Unknown option '--\(name)'")
            }
            guard let words = parameter.words,
                let wrong = given.first(where: { !words.contains($0) })
            else { continue }
            throw ValidationError(
                "invalid --\(name) '\(wrong)'; expected one of \(words.joined(separator: ", "))"
            )
        }
    }

    func run() async throws {
        let asked = QuestionInput(
            question.subject(alone: scope.alone),
            knowledge.clocks(at: at),
            values: values
        )
        let answer = try await Asked.ask(asked, of: database)
        try output.print(answer, Asked.text(answer, asked))
    }
}

extension QuestionInput {
    /// The values of a question about a subject, at the times that were typed.
    init(
        _ subject: SubjectID,
        _ clocks: QuestionClocks,
        values: [QuestionParameter: [String]] = [:]
    ) {
        self.init(
            subject,
            now: clocks.now,
            at: clocks.at,
            knownAt: clocks.knownAt,
            values: values
        )
    }
}

extension Question {
    /// Asks it of a ledger, and prints on stderr what the answer leaves out.
    static func ask(_ asked: QuestionInput, of database: DatabaseOptions) async throws -> Answer {
        var asked = asked
        let ledger = try await database.openLedger()
        asked.subject = try await ledger.subject(asked.subject)
        let answer = try await answer(asked, from: ledger)
        await ledger.close()
        notes(answer).forEach(Terminal.write)
        return answer
    }
}

extension Terminal {
    /// Prints a part of a text.
    static func print(_ block: Block) { print(block.text) }
}

extension Block {
    /// The part as lines, without a line break at the end.
    var text: String {
        switch self {
        case .line(let line): return line
        case .gap: return ""
        case .table(let header, let rows):
            var table = TextTable(header)
            rows.forEach { table.add($0) }
            return table.text
        }
    }
}

extension Question {
    static var configuration: CommandConfiguration {
        CommandConfiguration(commandName: name, abstract: abstract, discussion: discussion)
    }

    /// The help of a parameter; hidden if the question does not take it.
    static func help(_ parameter: QuestionParameter, _ valueName: String) -> ArgumentHelp {
        ArgumentHelp(
            "\(parameters[parameter] ?? "")",
            discussion: parameter.words.map {
                "One of \($0.joined(separator: ", ")). Default: all."
            } ?? "",
            valueName: valueName,
            visibility: parameters[parameter] == nil ? .private : .default
        )
    }
}

extension [any Question.Type] {
    /// Their commands; four have options that no route has.
    var commands: [any ParsableCommand.Type] {
        map { question in
            switch question {
            case is AccessQuestion.Type: AccessCommand.self
            case is EntitlementsQuestion.Type: EntitlementsCommand.self
            case is ExplainQuestion.Type: ExplainCommand.self
            case is ReplayQuestion.Type: ReplayCommand.self
            default: command(question)
            }
        }
    }

    private func command<Asked: Question>(_: Asked.Type) -> any ParsableCommand.Type {
        QuestionCommand<Asked>.self
    }
}
