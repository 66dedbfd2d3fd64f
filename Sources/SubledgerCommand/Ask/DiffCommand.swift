import ArgumentParser
import CommandSupport
import EventLog
import Events
import Subledger

struct DiffCommand: AsyncParsableCommand, ZonedCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "What the log learned about a customer between two positions or instants.",
        discussion: """
            A line with − was true as known at A and is no longer true at B; a line with + is new \
            at B. The lines cover access, periods, money, refunds, one-time purchases, changes of \
            plan, the state of the renewal and, as of --at, eligibility for offers.
            """
    )

    @OptionGroup var question: SubjectOptions
    @OptionGroup var scope: AloneOption

    @Option(
        help: ArgumentHelp(
            "The two states of knowledge, each a position or a time in the form of --at.",
            discussion: "1391877..1394101, 0:17,1:4..0:20,1:9, or yesterday..now.",
            valueName: "a..b"
        ),
        transform: DiffCommand.bounds
    )
    var known: KnowledgeRange

    @Option(
        help: Clock.help(
            "The instant for the customer's subscriptions and eligibility. Default: now."
        ),
        transform: Clock.time
    )
    var at: AskedTime?

    @OptionGroup var zone: ZoneOption

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let now = Instant.systemClock()
        let at = zone.instant(at, "--at", now: now)
        let first = zone.knownAt(known.first, "--known", now: now)
        let second = zone.knownAt(known.second, "--known", now: now)
        let ledger = try await database.openLedger()
        let answer: KnowledgeDifferenceDocument
        do {
            answer = try await ledger.difference(
                of: try await ledger.subject(question.subject(alone: scope.alone)),
                from: first,
                to: second,
                at: at ?? now
            )
        } catch let error as QuestionError where error.code == .unknownPosition {
            throw Failure(
                .validationFailure,
                error.message.replacing(/^knownAt/, with: "--known")
            )
        }
        await ledger.close()
        try output.print(answer, answer.text(at: at ?? now))
    }

    /// Two bounds of knowledge, as typed.
    struct KnowledgeRange {
        let first: AskedKnowledge
        let second: AskedKnowledge
    }

    private static func bounds(_ text: String) throws -> KnowledgeRange {
        guard let middle = text.firstRange(of: "..") else {
            throw ValidationError(
                "'\(text)' is not a range; expected A..B, as 1391877..1394101 or yesterday..now"
            )
        }
        return KnowledgeRange(
            first: try Clock.knowledge(String(text[..<middle.lowerBound])),
            second: try Clock.knowledge(String(text[middle.upperBound...]))
        )
    }
}
