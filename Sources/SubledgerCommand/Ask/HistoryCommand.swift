import ArgumentParser
import CommandSupport
import EventLog
import Events
import Projections

struct HistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Every event of a subscription, in the order in which the log learnt of it.",
        discussion: """
            An event carries the trust of the payload that brought it first: signed by Apple, \
            fetched from Apple by our client, proven by the shared secret, or vouched for by the \
            operator. A later payload that repeated it is counted with its own trust: "vouched, \
            then signed" is a fact that Apple's signature confirmed. With --trust an event counts \
            where its own payload has that trust, or with those fields that such a payload confirmed.
            The effect is what the event changed in the active periods, or in a one-time purchase: \
            + opened or bought, = renewed, \
            ~ grace, − ended, ↩ restored, > extended, * corrected (another end, or free where it was \
            paid for), · nothing; and the wishes: → asked for another product or billing plan, \
            ← withdrew it; with --trust it is still that of the whole history. Effective is \
            when: valid time. As of is when Apple said it; ≥ stands before a lower bound, where the \
            format has no date of its own.
            """
    )

    @OptionGroup var question: StreamOptions

    @Option(help: "Only what Apple had said by this instant.", transform: Clock.instant)
    var at: Instant?

    @Option(
        help: ArgumentHelp(
            "Only what payloads of this trust said; repeat for more.",
            discussion: "One of \(HistoryCommand.trustWords). Default: all.",
            valueName: "level"
        ),
        transform: HistoryCommand.trust
    )
    var trust: [Verification.Trust] = []

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let log = try await database.openLog()
        let stream = try await question.stream(in: log)
        let lane = log.identity.lanes.lane(of: stream.originalTransactionId)
        let recorded = try await log.recordedHistory(of: stream)
            .cut(to: try await log.wholeCommits(question.knownAt, lane: lane), lane: lane)
        var history = recorded.latest
        let effects = EventEffects.byPosition(recorded)
        let wishes = WishEffects(recorded.latest)
        let evidence = try await log.evidenceSummaries(of: history)
        try await question.printSiblings(of: stream, in: log)
        await log.close()
        if !trust.isEmpty { history.keep(Set(trust.map(\.rawValue)), by: evidence) }
        if let at { history.keep(upTo: at) }
        if output.json {
            try Terminal.print(
                json: HistoryDocument(history, evidence, effects, wishes, lanes: log.identity.lanes)
            )
        } else {
            HistoryDocument.printTable(
                history,
                evidence,
                effects,
                wishes,
                lanes: log.identity.lanes
            )
        }
    }
}

extension Content {
    /// Its fields under Apple's names, and those of later versions by their tags, in hexadecimal.
    fileprivate var jsonFields: [String: JSONValue] {
        var fields = Dictionary(
            uniqueKeysWithValues: entries.map { ("\($0.field)", JSONValue($0.value)) }
        )
        for (tag, value) in unrecognised {
            fields["tag\(tag)"] = JSONValue(.text(hexadecimal(value)))
        }
        return fields
    }
}

extension HistoryCommand {
    private static let trustWords = Verification.Trust.allCases.map(\.rawValue)
        .joined(separator: ", ")

    private static func trust(_ word: String) throws -> Verification.Trust {
        guard let trust = Verification.Trust(rawValue: word) else {
            throw ValidationError("'\(word)' is no level of trust; the words are \(trustWords)")
        }
        return trust
    }
}

extension StreamHistory {
    /// Leaves out what Apple said later.
    fileprivate mutating func keep(upTo instant: Instant) {
        events = events.filter { $0.fact.asOf <= instant }
        confirmations = confirmations.filter { $0.asOf <= instant }
    }

    /// Leaves out what is of other trust: of an event that only a confirmation proves so, all
    /// fields but those confirmed.
    fileprivate mutating func keep(
        _ trusts: Set<String>,
        by evidence: [Int64: EvidenceSummary]
    ) {
        func isKept(_ number: Int64) -> Bool {
            evidence[number].map { trusts.contains($0.trust) } ?? false
        }
        confirmations = confirmations.filter { isKept($0.evidence) }
        let confirmed = confirmations.reduce(into: [Position: FieldSet]()) {
            $0[$1.position, default: []].formUnion($1.fields)
        }
        events = events.compactMap { event in
            if isKept(event.evidence) { return event }
            return confirmed[event.position].map { event.limited(to: $0) }
        }
    }
}

/// The JSON of `history`: events under Apple's property names.
struct HistoryDocument: Encodable {
    let originalTransactionId: String
    let environment: String
    let events: [Line]

    struct Line: Encodable {
        let position: PositionValue
        let recordedAt: Int64
        let asOf: Int64?
        let asOfIsLowerBound: Bool
        let kind: String
        let erased: String?
        let bundleId: String
        let purchaseDate: Int64?
        let expiresDate: Int64?
        let earlierRevocationDate: Int64?
        let fields: [String: JSONValue]
        let evidence: String?
        let evidenceKind: String?
        let source: String?
        let arrival: String?
        let trust: String?
        let confirmations: Int
        let confirmedBy: [ConfirmedBy]
        let effective: Int64?
        let effect: [String]?
    }

    /// The confirmations of an event by payloads of one trust.
    struct ConfirmedBy: Encodable {
        let trust: String
        let count: Int
        let firstAsOf: Int64
        let lastAsOf: Int64

        /// By trust, the strongest first; those whose payload is missing are left out.
        static func all(
            _ confirmations: [Confirmation],
            _ evidence: [Int64: EvidenceSummary]
        ) -> [ConfirmedBy] {
            let byTrust = Dictionary(grouping: confirmations) { evidence[$0.evidence]?.trust }
            return Verification.Trust.allCases.compactMap { trust in
                guard let found = byTrust[trust.rawValue] else { return nil }
                let times = found.map(\.asOf.milliseconds)
                return ConfirmedBy(
                    trust: trust.rawValue,
                    count: found.count,
                    firstAsOf: times.min() ?? 0,
                    lastAsOf: times.max() ?? 0
                )
            }
        }
    }

    /// The document; `evidence` describes the payloads by their numbers, `effects` of what the
    /// events changed, where that was asked.
    init(
        _ history: StreamHistory,
        _ evidence: [Int64: EvidenceSummary],
        _ effects: [Position: [PeriodChange]],
        _ wishes: WishEffects,
        lanes: LaneCount
    ) {
        originalTransactionId = history.stream.originalTransactionId
        environment = history.stream.environment.word
        let confirmations = Dictionary(grouping: history.confirmations, by: \.position)
        let revocations = RevocationChanges(history)
        events = history.events.map { event in
            let fact = event.fact
            let summary = evidence[event.evidence]
            return Line(
                position: PositionValue(event.position, lanes: lanes),
                recordedAt: event.recordedAt.milliseconds,
                asOf: fact.kind == .erased ? nil : fact.asOf.milliseconds,
                asOfIsLowerBound: fact.isUndated(in: summary),
                kind: fact.kind.rawValue,
                erased: event.erased.word,
                bundleId: fact.bundleId,
                purchaseDate: fact.purchaseDate.ifSet,
                expiresDate: fact.expiresDate.ifSet,
                earlierRevocationDate: revocations.earlierDate(at: event.position)?.milliseconds,
                fields: fact.content.jsonFields,
                evidence: summary?.digest?.hex,
                evidenceKind: summary?.evidenceKind,
                source: summary?.source,
                arrival: summary?.arrival,
                trust: summary?.trust,
                confirmations: confirmations[event.position]?.count ?? 0,
                confirmedBy: ConfirmedBy.all(confirmations[event.position] ?? [], evidence),
                effective: fact.kind == .erased ? nil : fact.effective.milliseconds,
                effect: effects[event.position].map { changes in
                    changes.map(\.role.rawValue) + wishes.at(event.position).map(\.name)
                }
            )
        }
    }

    /// The same for people.
    static func printTable(
        _ history: StreamHistory,
        _ evidence: [Int64: EvidenceSummary],
        _ effects: [Position: [PeriodChange]] = [:],
        _ wishes: WishEffects? = nil,
        lanes: LaneCount
    ) {
        Terminal.print(
            "\(history.stream.originalTransactionId) · \(history.stream.environment) · UTC"
        )
        var table = TextTable([
            "position", "effective", "as of", "recorded", "lag", "trust", "source", "kind",
            "what it says", "effect",
        ])
        let confirmations = Dictionary(grouping: history.confirmations, by: \.position)
        let revocations = RevocationChanges(history)
        for event in history.events {
            let summary = evidence[event.evidence]
            let trust = HistoryDocument.trust(
                summary,
                ConfirmedBy.all(confirmations[event.position] ?? [], evidence).first?.trust
            )
            let isBlank = event.fact.kind == .erased
            let corrected = revocations.earlierDate(at: event.position).map { " (was \($0.clock))" }
            let rest = (corrected ?? "") + (event.erased == .person ? " · rest erased" : "")
            table.add([
                event.position.mark(lanes: lanes), isBlank ? "–" : event.fact.effective.clock,
                isBlank ? "–" : event.fact.asOfText(in: summary),
                event.recordedAt.clock, isBlank ? "–" : lag(event), trust,
                summary?.source ?? "?",
                event.fact.kind.rawValue, event.fact.summary + rest,
                effects[event.position].map {
                    HistoryDocument.effect($0, wishes?.at(event.position) ?? [])
                } ?? "",
            ])
        }
        Terminal.print(table.text)
        // A commit may repeat events that are beyond what was asked for.
        let repetitions = history.events.reduce(0) {
            $0 + (confirmations[$1.position]?.count ?? 0)
        }
        if repetitions > 0 {
            Terminal.print("repetitions of these events without news: \(repetitions)")
        }
    }

    private static func trust(_ summary: EvidenceSummary?, _ confirmed: String?) -> String {
        guard var own = summary?.trust else { return "?" }
        if summary?.isKept == false { own += ", not kept" }
        guard let best = confirmed.flatMap(Verification.Trust.init(rawValue:)),
            let first = summary.flatMap({ Verification.Trust(rawValue: $0.trust) }),
            best.isStronger(than: first)
        else { return own }
        return "\(own), then \(best.rawValue)"
    }

    private static func effect(
        _ changes: [PeriodChange],
        _ wishes: [WishEffects.Effect]
    ) -> String {
        let words = changes.map(\.words) + wishes.map(\.words)
        return words.isEmpty ? "·" : words.joined(separator: ", ")
    }

    private static func lag(_ event: Event) -> String {
        let seconds = (event.recordedAt.milliseconds - event.fact.asOf.milliseconds) / 1000
        return switch seconds {
        case ..<0: "–"
        case ..<120: "\(seconds)s"
        case ..<7200: "\(seconds / 60)m"
        case ..<172_800: "\(seconds / 3600)h"
        default: "\(seconds / 86_400)d"
        }
    }
}

extension EventEffects {
    /// The changes of each event; none where the history is too long for them.
    static func byPosition(_ history: RecordedHistory) -> [Position: [PeriodChange]] {
        guard let effects = EventEffects(history) else { return [:] }
        return Dictionary(
            uniqueKeysWithValues: zip(history.events.map(\.position), effects.changes)
        )
    }
}

extension Fact {
    /// Whether its as-of is only a lower bound: neither its form nor the payload it came in has a
    /// date of its own, as no version 1 notification has.
    func isUndated(in payload: EvidenceSummary?) -> Bool {
        content.format.isUndated
            || payload?.evidenceKind == PayloadKind.statusUpdateNotification.rawValue
                && content.format != .receiptTransaction
    }

    /// The as-of for tables, with a sign where it is only a lower bound.
    fileprivate func asOfText(in payload: EvidenceSummary?) -> String {
        (isUndated(in: payload) ? "≥ " : "") + asOf.clock
    }

    /// When what it says took effect: the date of a revocation, else the start of the purchase; of
    /// a version of the catalog its first instant; of all else when it was said.
    var effective: Instant {
        if kind == .catalog { return content.instant(.effectiveFrom) ?? asOf }
        guard kind == .transaction, purchaseDate.ifSet != nil else { return asOf }
        return content.instant(.revocationDate) ?? purchaseDate
    }
}
