import CommandSupport
import ArgumentParser
import Events
import Projections
import Subledger

struct AccessCommand: AsyncParsableCommand, KnowledgeCommand {
    static let configuration = AccessQuestion.configuration

    @OptionGroup var question: SubjectOptions

    @Option(help: Clock.help(AccessQuestion.meaningOfAt), transform: Clock.time)
    var at: AskedTime?

    @OptionGroup var knowledge: KnowledgeOptions

    @Option(help: AccessQuestion.help(.product, "product"))
    var product: String?

    @Option(help: AccessQuestion.help(.group, "group"))
    var group: String?

    @Option(
        help: ArgumentHelp("List which of the issues in this file are unlocked.", valueName: "file")
    )
    var content: String?

    @Option(
        help: ArgumentHelp(
            "Apply the policy in this file, in the format of `rebuild --with`.",
            valueName: "file"
        )
    )
    var with: String?

    @OptionGroup var sandbox: SandboxOptions
    @OptionGroup var database: DatabaseOptions

    @OptionGroup var table: TableWidthOption

    @Flag(name: .long, help: "Print one JSON document.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print nothing: the exit code is the answer.")
    var quiet = false

    func validate() throws {
        if let fault = AccessQuestion.fault(values) { throw ValidationError(fault) }
        guard content == nil || sandbox.areDefaults else {
            throw ValidationError(
                "--content and --sandbox-… cannot be combined: issues are unlocked by one "
                    + "environment; use --environment Sandbox"
            )
        }
    }

    func run() async throws {
        let issues = try content.map(IssueFile.read)
        let clocks = knowledge.clocks(at: at, isQuiet: quiet)
        let policy = try with.map(PolicyFile.read) ?? PolicyDocument()
        let ledger = try await database.openLedger(isQuiet: quiet)
        let isYes: Bool
        do {
            if let issues {
                isYes = try await answer(issues, of: ledger, clocks, under: policy)
            } else {
                isYes = try await answer(ledger, clocks, under: policy)
            }
        } catch let error as PolicyError {
            throw PolicyFile.failure(error, with ?? "the policy")
        }
        await ledger.close()
        if !isYes { throw Exit.no }
    }

    private var values: [QuestionParameter: [String]] {
        [.product: product, .group: group].compactMapValues { $0.map { [$0] } }
    }

    private func print(_ answer: some Encodable, _ text: () -> Void) throws {
        guard !quiet else { return }
        if json { try Terminal.print(json: answer) } else { text() }
    }

    private func answer(
        _ ledger: Ledger,
        _ clocks: QuestionClocks,
        under policy: PolicyDocument
    ) async throws -> Bool {
        let asked = QuestionInput(question.subject, now: clocks.now)
        let sandbox = try sandbox.chosen(now: clocks.now)
        let subject = try await ledger.subject(question.subject, isQuiet: quiet)
        let answer = try await ledger.access(
            of: subject,
            at: clocks.instant,
            to: AccessQuestion.scope(values),
            knownAt: clocks.knownAt,
            under: policy,
            sandbox: sandbox
        )
        try await ledger.checkKnown(answer, of: subject, knownAt: clocks.knownAt)
        AnswerNotes.write(answer.erasures)
        try print(answer) { AccessQuestion.text(answer, asked).forEach(Terminal.print) }
        return answer.access
    }

    private func answer(
        _ issues: [Issue],
        of ledger: Ledger,
        _ clocks: QuestionClocks,
        under policy: PolicyDocument
    ) async throws -> Bool {
        let answer = try await ledger.content(
            issues,
            of: try await ledger.subject(question.subject, isQuiet: quiet),
            at: clocks.instant,
            to: AccessQuestion.scope(values),
            knownAt: clocks.knownAt,
            under: policy
        )
        AnswerNotes.write(answer.erasures)
        try print(answer) { answer.text.forEach(Terminal.print) }
        return answer.issues.contains { $0.unlocked }
    }
}
