import ArgumentParser
import CommandSupport
import EventLog
import Events
import Subledger

struct DiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "What changed in the knowledge of a customer between two positions or instants.",
        discussion: """
            Lines with − held by the first and do not hold by the second; lines with + are new in \
            the second: first the access, then the periods, then money, refunds, one-time purchases, \
            changes of plan, the state of the renewal and, as of --at, eligibility for offers.
            """
    )

    @OptionGroup var question: SubjectOptions
    @OptionGroup var scope: AloneOption

    @Option(
        help: ArgumentHelp(
            "The two bounds of knowledge, each an offset, lane:offset pairs or an instant.",
            valueName: "a..b"
        ),
        transform: DiffCommand.bounds
    )
    var known: (KnownAt, KnownAt)

    @Option(
        help: "Whose subscriptions, and which eligibility: at this instant. Default: now.",
        transform: Clock.instant
    )
    var at: Instant?

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let ledger = try await database.openLedger()
        let answer = try await ledger.difference(
            of: question.subject(alone: scope.alone),
            from: known.0,
            to: known.1,
            at: at ?? .systemClock()
        )
        await ledger.close()
        answer.grounds.lines.forEach(Terminal.write)
        if output.json {
            try Terminal.print(json: answer)
        } else {
            Terminal.print(answer.text(at: at ?? .systemClock()))
        }
    }

    private static func bounds(_ text: String) throws -> (KnownAt, KnownAt) {
        guard let middle = text.firstRange(of: "..") else {
            throw ValidationError("'\(text)' is no range; expected A..B, as 1391877..1394101")
        }
        return (
            try Clock.knownAt(String(text[..<middle.lowerBound])),
            try Clock.knownAt(String(text[middle.upperBound...]))
        )
    }
}

extension KnowledgeDifferenceDocument {
    /// The answer for people.
    fileprivate func text(at instant: Instant) -> String {
        var lines = lostAccess.map { "− access  \($0.start.clock) → \($0.end.clock)" }
        lines += gainedAccess.map { "+ access  \($0.start.clock) → \($0.end.clock)" }
        for change in periods {
            if let row = change.before { lines.append("− period  \(row.text(at: instant))") }
            if let row = change.after {
                lines.append(
                    "+ period  \(row.text(at: instant))  (\(change.role), \(row.positions.text))"
                )
            }
        }
        for aspect in KnowledgeDifferenceDocument.aspects {
            lines += lost.filter { $0.aspect == aspect }.map { "− \(aspect)  \($0.text)" }
            lines += gained.filter { $0.aspect == aspect }.map {
                "+ \(aspect)  \($0.text)"
                    + ($0.positions.isEmpty ? "" : "  (\($0.positions.text))")
            }
        }
        return ([customer] + (lines.isEmpty ? ["nothing changed"] : lines)).joined(separator: "\n")
    }
}

extension KnowledgeDifferenceDocument.Period {
    fileprivate func text(at instant: Instant) -> String {
        let end =
            endReason == "open" && validTo <= instant
            ? "ended \(validTo.clock.prefix(10)), no renewal known" : endReason
        return "\(kind) \(productId) \(validFrom.clock) → \(validTo.clock) \(end)"
    }
}
