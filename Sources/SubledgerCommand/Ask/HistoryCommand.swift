import CommandSupport
import AppStore
import ArgumentParser
import Events
import Subledger

struct HistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Every event of a subscription, in the order of recording.",
        discussion: """
            An event has the trust of the payload that it first came in: signed by Apple, fetched \
            from Apple by our client, proven by the shared secret, or vouched for by the operator. \
            Later payloads that repeated it are counted with their own trust: "vouched, then \
            signed" is a fact that Apple's signature later confirmed. With --trust, an event \
            counts if its own payload has that trust; otherwise only the fields that such a \
            payload confirmed count.
            The effect is what the event changed in the active periods, or in a one-time purchase: \
            + opened or bought, = renewed, ~ grace, − ended, ↩ restored, > extended, * corrected \
            (another end, or free where it was paid for), · nothing; and requests: → asked for \
            another product or billing plan, ← withdrew it. With --trust, the effect is still the \
            effect in the whole history. "effective" is the valid time. "as of" is when Apple \
            stated it; ≥ marks a lower bound, where the format has no date of its own.
            """
    )

    @OptionGroup var question: SubjectOptions

    @Option(help: Clock.help("Only what Apple had stated by this instant."), transform: Clock.time)
    var at: AskedTime?

    @Option(
        help: ArgumentHelp(
            "Only what payloads of this trust stated; repeat for more.",
            discussion: "One of \(HistoryCommand.trustWords). Default: all.",
            valueName: "level"
        ),
        transform: HistoryCommand.trust
    )
    var trust: [Verification.Trust] = []

    @OptionGroup var knowledge: KnowledgeOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let clocks = knowledge.clocks(at: at)
        let answer = try await database.ask { ledger in
            try await ledger.history(
                of: question.subject,
                at: clocks.at,
                trust: Set(trust),
                knownAt: clocks.knownAt
            )
        }
        try output.print(answer, answer.text(isFiltered: !trust.isEmpty || at != nil))
    }
}

extension HistoryCommand {
    private static let trustWords = Verification.Trust.allCases.map(\.rawValue)
        .joined(separator: ", ")

    private static func trust(_ word: String) throws -> Verification.Trust {
        guard let trust = Verification.Trust(rawValue: word) else {
            throw ValidationError("invalid trust level '\(word)'; expected one of \(trustWords)")
        }
        return trust
    }
}

extension HistoryDocument {
    /// The answer as text; with a filter, an empty list means nothing about the other events.
    fileprivate func text(isFiltered: Bool) -> [String] {
        let title = "\(originalTransactionId) · \(environment) · UTC"
        guard !events.isEmpty else {
            return [title, isFiltered ? "no event matches" : NothingKnown.words]
        }
        var table = TextTable([
            "position", "effective", "as of", "recorded", "lag", "trust", "source", "kind",
            "content", "effect",
        ])
        for line in events {
            table.add([
                "#\(line.position)", line.effective?.clock ?? "–", line.asOfText,
                line.recordedAt.clock, line.lag, line.trustText, line.source ?? "?", line.kind,
                line.summaryText,
                line.effectText.map { $0.isEmpty ? "·" : $0.joined(separator: ", ") } ?? "",
            ])
        }
        let repetitions = events.reduce(0) { $0 + $1.confirmations }
        return [title, table.text]
            + (repetitions > 0
                ? ["repetitions of these events: \(repetitions)"] : [])
    }
}

extension HistoryDocument.Line {
    /// The as-of, marked if it is only a lower bound.
    fileprivate var asOfText: String {
        asOf.map { (asOfIsLowerBound ? "≥ " : "") + $0.clock } ?? "–"
    }

    fileprivate var summaryText: String {
        summary + (earlierRevocationDate.map { " (was \($0.clock))" } ?? "")
            + (erased == "person" ? " · rest erased" : "")
    }

    fileprivate var trustText: String {
        guard var own = trust else { return "?" }
        if isPayloadKept == false { own += ", not kept" }
        guard let best = confirmedBy.first.flatMap({ Verification.Trust(rawValue: $0.trust) }),
            let first = trust.flatMap(Verification.Trust.init(rawValue:)),
            best.isStronger(than: first)
        else { return own }
        return "\(own), then \(best.rawValue)"
    }

    fileprivate var lag: String {
        guard let asOf else { return "–" }
        let seconds = (recordedAt.milliseconds - asOf.milliseconds) / 1000
        return seconds < 0 ? "–" : Duration.words(seconds)
    }
}
