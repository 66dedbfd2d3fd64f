import CommandSupport
import ArgumentParser
import Events
import Projections
import Subledger

struct AccessCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "access",
        abstract: "Whether a customer has access, and to what; exit 0 yes, 1 no, 4 unknown.",
        discussion: """
            Considers all subscriptions of the customer, in all apps: when one ends, access from \
            the others remains. If the answer relies on a link, or on what Apple states about the \
            account, it says so. Within a group, the product of the highest level in the catalog \
            counts, otherwise the period that began last. Family sharing gives access. A sandbox \
            purchase gives no access in production, except with --sandbox-customer and \
            --sandbox-from. A non-consumable that was bought and not revoked is owned: access \
            without end. Consumables and non-renewing subscriptions are listed but not judged: \
            only the app knows what is left of them. A refunded or revoked purchase of any type \
            gives no access. The type is Apple's or, if a receipt does not name it, the catalog's.

            --content lists which issues of a magazine are unlocked: the newest one when an \
            unbroken run of periods began, and each one published during the run. The file \
            contains a JSON array of {"name","publishedAt"}, where publishedAt is a date or \
            milliseconds, or lines of the form DATE NAME. Exit 0 if any issue is unlocked. A \
            refunded purchase unlocks nothing, as if it had never been bought. With --with and \
            {"refundIsRetroactive":false}, issues that it unlocked before the refund stay \
            unlocked.
            """
    )

    @OptionGroup var question: SubjectOptions

    @Option(
        help: Clock.help("The instant to answer for. Default: now."),
        transform: Clock.time
    )
    var at: AskedTime?

    @OptionGroup var knowledge: KnowledgeOptions

    @Option(help: "Access to this product only.")
    var product: String?

    @Option(help: "Access to this subscription group only.")
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
        guard product == nil || group == nil else {
            throw ValidationError(
                "--product and --group cannot be combined: a product belongs to one group"
            )
        }
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

    private var scope: AccessScope {
        if let product { return .product(product) }
        return group.map { .group(.identified($0)) } ?? .anything
    }

    private func print(_ answer: some Encodable, _ lines: [String]) throws {
        guard !quiet else { return }
        if json { try Terminal.print(json: answer) } else { lines.forEach(Terminal.print) }
    }

    private func answer(
        _ ledger: Ledger,
        _ clocks: QuestionClocks,
        under policy: PolicyDocument
    ) async throws -> Bool {
        let answer = try await ledger.access(
            of: question.subject,
            at: clocks.instant,
            to: scope,
            knownAt: clocks.knownAt,
            under: policy,
            sandbox: try sandbox.chosen(now: clocks.now)
        )
        AnswerNotes.write(answer.erasures)
        try print(answer, answer.text)
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
            of: question.subject,
            at: clocks.instant,
            to: scope,
            knownAt: clocks.knownAt,
            under: policy
        )
        AnswerNotes.write(answer.erasures)
        try print(answer, answer.text)
        return answer.issues.contains { $0.unlocked }
    }
}
