internal import AppStore
public import EventLog
public import Events
internal import Projections

/// Every event of a subscription.
package enum HistoryQuestion: Question {
    package static let name = "history"
    package static let abstract = "Every event of a subscription, in the order of recording."
    package static let discussion = """
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
    package static let meaningOfAt = "Only what Apple had stated by this instant."
    package static let parameters: [QuestionParameter: String] = [
        .trust: "Only what payloads of this trust stated; repeat for more."
    ]
    package static let repeated: Set<QuestionParameter> = [.trust]

    package static func answer(
        _ asked: QuestionInput,
        from ledger: Ledger
    ) async throws -> HistoryDocument {
        try await ledger.history(
            of: asked.subject,
            at: asked.at,
            trust: Set(asked.values[.trust, default: []].compactMap(Verification.Trust.init)),
            knownAt: asked.knownAt,
            newestMax: asked.newestMax
        )
    }

    package static func text(_ answer: HistoryDocument, _ asked: QuestionInput) -> [Block] {
        guard !answer.events.isEmpty else {
            let isFiltered = asked.at != nil || asked.values[.trust] != nil
            return [
                .line(answer.title), .line(isFiltered ? "no event matches" : NothingKnown.words),
            ]
        }
        let header = [
            "position", "effective", "as of", "recorded", "lag", "trust", "source", "kind",
            "content", "effect",
        ]
        let repetitions = answer.events.reduce(0) { $0 + $1.confirmations }
        let rest = asked.newestMax.map { newest in
            "the newest \(newest) events; `subledger history \(answer.originalTransactionId)` lists all"
        }
        return [.line(answer.title), .table(header, answer.events.map(\.cells))]
            + (repetitions > 0 ? [.line("repetitions of these events: \(repetitions)")] : [])
            + [rest].compactMap(\.self).map(Block.line)
    }
}

/// Every event of a subscription, in the order in which the log recorded it.
public struct HistoryDocument: Codable, Hashable, Sendable {
    /// The subscription.
    public let originalTransactionId: String
    /// Where the purchases were made.
    public let environment: StoreEnvironment
    /// The events by position.
    public let events: [Line]
    /// What was erased of it.
    public let erasures: [ErasureMark]
    /// Other subscriptions of the same customer; nil if they cannot be counted: there are too many,
    /// or lanes of a distributed ledger cannot be reached.
    public let otherSubscriptions: Int?

    /// An event.
    public struct Line: Codable, Hashable, Sendable {
        /// Its position in the log.
        public let position: Position
        /// When the log recorded it, on the ledger's clock.
        public let recordedAt: Instant
        /// Apple's date for the statement; nil if it was erased.
        public let asOf: Instant?
        /// Whether that date is only a lower bound, because the format has no date of its own.
        public let asOfIsLowerBound: Bool
        /// What it is about: `transaction`, `renewal`, `notification`, `link`, `catalog`, `erasure`,
        /// or `erased`.
        public let kind: String
        /// A short summary of its content.
        public let summary: String
        /// What was erased from it: `payload`, `person` or `everything`; nil if nothing was.
        public let erased: String?
        /// The app.
        public let bundleId: String
        /// Apple's `purchaseDate`.
        public let purchaseDate: Instant?
        /// Apple's `expiresDate`.
        public let expiresDate: Instant?
        /// The revocation date that it corrects.
        public let earlierRevocationDate: Instant?
        /// Its properties under Apple's names; properties of later versions as `tag` and a number.
        public let fields: [String: PropertyValue]
        /// SHA-256 of the payload that brought it, in hexadecimal.
        public let evidence: String?
        /// The kind of that payload.
        public let evidenceKind: String?
        /// The channel it came by.
        public let source: String?
        /// Whether it arrived `live` or through an `import`.
        public let arrival: String?
        /// Why it is believed: `signed`, `fetched`, `shared-secret` or `vouched`.
        public let trust: String?
        /// Whether its payload is kept; nil if the payload is missing.
        public let isPayloadKept: Bool?
        /// How often a later payload repeated it without anything new.
        public let confirmations: Int
        /// The confirmations by trust, strongest first.
        public let confirmedBy: [ConfirmedBy]
        /// When the stated fact took effect; nil if it was erased.
        public let effective: Instant?
        /// What it changed in periods and in requested changes, as machine-readable words; nil if
        /// the history is too long.
        public let effect: [String]?
        /// The effect as text.
        public let effectText: [String]?
    }

    /// The confirmations of an event by payloads with the same trust.
    public struct ConfirmedBy: Codable, Hashable, Sendable {
        /// The trust.
        public let trust: String
        /// How many there are.
        public let count: Int
        /// Apple's date for the first.
        public let firstAsOf: Instant
        /// Apple's date for the last.
        public let lastAsOf: Instant
    }
}

extension Ledger {
    /// Every event of a subscription, in the order in which the log recorded it.
    ///
    /// - Parameters:
    ///   - subject: The subscription.
    ///   - instant: Only what Apple had stated by then; nil for all.
    ///   - trust: Only statements from payloads with these trusts; empty for all. If only a
    ///     confirmation has the trust, only the fields it confirms are returned.
    ///   - knownAt: How much of the log is used.
    ///   - newestMax: The most events, the newest ones, because each effect costs a fold; nil for
    ///     all.
    /// - Returns: The answer.
    /// - Throws: `QuestionError`, `EventLogError`.
    public func history(
        of subject: SubjectID,
        at instant: Instant? = nil,
        trust: Set<Verification.Trust> = [],
        knownAt: KnownAt = .latest,
        newestMax: Int? = nil
    ) async throws -> HistoryDocument {
        let known = try await subscription(subject, knownAt: knownAt)
        var history = known.history
        let evidence = try await log.evidenceSummaries(of: history)
        let effects = EventEffects.byPosition(known.histories[0], newestMax)
        let requests = RequestEffects(history)
        if !trust.isEmpty { history.keep(Set(trust.map(\.rawValue)), by: evidence) }
        if let instant { history.keep(upTo: instant) }
        let confirmations = Dictionary(grouping: history.confirmations, by: \.position)
        let revocations = RevocationChanges(history)
        history.events = history.events.suffix(newestMax ?? .max)
        return HistoryDocument(
            originalTransactionId: history.stream.originalTransactionId,
            environment: history.stream.environment,
            events: history.events.map { event in
                HistoryDocument.Line(
                    event,
                    evidence,
                    confirmations[event.position] ?? [],
                    effects[event.position],
                    requests.at(event.position),
                    corrects: revocations.earlierDate(at: event.position)
                )
            },
            erasures: known.erasures,
            otherSubscriptions: known.others
        )
    }
}

extension HistoryDocument.Line {
    fileprivate init(
        _ event: Event,
        _ evidence: [Int64: EvidenceSummary],
        _ confirmations: [Confirmation],
        _ changes: [PeriodChange]?,
        _ requests: [RequestEffects.Effect],
        corrects earlierDate: Instant?
    ) {
        let fact = event.fact
        let found = evidence[event.evidence]
        position = event.position
        recordedAt = event.recordedAt
        asOf = fact.statedAsOf
        asOfIsLowerBound = fact.isUndated(in: found)
        kind = fact.kind.rawValue
        summary = fact.summary
        erased = event.erased.word
        bundleId = fact.bundleId
        purchaseDate = fact.purchaseDate.ifSet
        expiresDate = fact.expiresDate.ifSet
        earlierRevocationDate = earlierDate
        fields = fact.content.properties
        self.evidence = found?.digest?.hex
        evidenceKind = found?.evidenceKind
        source = found?.source
        arrival = found?.arrival
        trust = found?.trust
        isPayloadKept = found?.isKept
        self.confirmations = confirmations.count
        confirmedBy = HistoryDocument.ConfirmedBy.all(confirmations, evidence)
        effective = fact.kind == .erased ? nil : fact.effective
        effect = changes.map { $0.map(\.role.rawValue) + requests.map(\.name) }
        effectText = changes.map { $0.map(\.words) + requests.map(\.words) }
    }
}

extension HistoryDocument.ConfirmedBy {
    // By trust, strongest first; omits confirmations whose payload is missing.
    fileprivate static func all(
        _ confirmations: [Confirmation],
        _ evidence: [Int64: EvidenceSummary]
    ) -> [HistoryDocument.ConfirmedBy] {
        let byTrust = Dictionary(grouping: confirmations) { evidence[$0.evidence]?.trust }
        return Verification.Trust.allCases.compactMap { trust in
            guard let found = byTrust[trust.rawValue] else { return nil }
            let times = found.map(\.asOf)
            guard let first = times.min(), let last = times.max() else { return nil }
            return HistoryDocument.ConfirmedBy(
                trust: trust.rawValue,
                count: found.count,
                firstAsOf: first,
                lastAsOf: last
            )
        }
    }
}

extension StreamHistory {
    // Omits what Apple stated later.
    fileprivate mutating func keep(upTo instant: Instant) {
        events = events.filter { $0.fact.asOf <= instant }
        confirmations = confirmations.filter { $0.asOf <= instant }
    }

    // Omits statements with another trust. If only a confirmation has the trust, only the fields it
    // confirms remain.
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

extension EventEffects {
    // The changes made by each event; empty if the history is too long.
    fileprivate static func byPosition(
        _ history: RecordedHistory,
        _ newestMax: Int?
    ) -> [Position: [PeriodChange]] {
        guard let effects = EventEffects(history, newestMax: newestMax) else { return [:] }
        let events = history.events.suffix(effects.changes.count)
        return zip(events, effects.changes).reduce(into: [:]) { $0[$1.0.position] = $1.1 }
    }
}

extension HistoryDocument.Line {
    fileprivate var cells: [String] {
        [
            "#\(position)", effective?.clock ?? "–", asOfText, recordedAt.clock, lag, trustText,
            source ?? "?", kind, summaryText,
            effectText.map { $0.isEmpty ? "·" : $0.joined(separator: ", ") } ?? "",
        ]
    }

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
