public import EventLog
public import Events
internal import Projections

/// A subscription event by event, with the state after each.
package enum ReplayQuestion: Question {
    package static let name = "replay"
    package static let abstract =
        "Replay a subscription event by event, with the state after each."
    package static let discussion = """
        Events are in the order in which they were recorded; fields that changed are marked \
        with *. The state is shown as of --at or, without it, as of the latest instant that \
        Apple had reported on by then.
        """
    package static let meaningOfAt = "Show the state as of this instant after each event."
    package static let parameters: [QuestionParameter: String] = [:]

    package static func answer(
        _ asked: QuestionInput,
        from ledger: Ledger
    ) async throws -> ReplayDocument {
        try await ledger.replay(of: asked.subject, at: asked.at, knownAt: asked.knownAt)
    }

    package static func text(_ answer: ReplayDocument, _ asked: QuestionInput) -> [Block] {
        [.line(answer.title)]
            + (answer.frames.isEmpty
                ? [.line(NothingKnown.words)] : answer.frames.map { .line($0.text) })
    }
}

/// A subscription event by event, with the state after each.
public struct ReplayDocument: Codable, Hashable, Sendable {
    /// The subscription.
    public let originalTransactionId: String
    /// Where the purchases were made.
    public let environment: StoreEnvironment
    /// One frame for each event, in the order in which the log recorded them.
    public let frames: [Frame]
    /// What was erased of it.
    public let erasures: [ErasureMark]
    /// Other subscriptions of the same customer; nil if they cannot be counted: there are too many,
    /// or lanes of a distributed ledger cannot be reached.
    public let otherSubscriptions: Int?

    /// An event, and the state after it.
    public struct Frame: Codable, Hashable, Sendable {
        /// The event.
        public let position: Position
        /// Apple's date for the statement; nil if it was erased.
        public let asOf: Instant?
        /// When the log recorded it, on the ledger's clock.
        public let recordedAt: Instant
        /// What it is about.
        public let kind: String
        /// A short summary of its content.
        public let summary: String
        /// What it changed in the periods, as machine-readable words.
        public let effect: [String]
        /// The effect as text.
        public let effectText: [String]
        /// The state after it, most asked-for properties first.
        public let state: [StateProperty]
        /// The names of the properties it changed, including those that are no longer known.
        public let changed: [String]
    }
}

/// One thing that is known about a subscription at an instant.
public struct StateProperty: Codable, Hashable, Sendable {
    /// The property: a word of our own, or Apple's name.
    public let name: String
    /// Its value; instants are milliseconds since 1970 UTC.
    public let value: PropertyValue
    /// The value as text.
    public let text: String
    /// The event that decides it.
    public let position: Position

    init(_ field: StateField) {
        name = field.name
        value = PropertyValue(field.value)
        text = field.value.words
        position = field.position
    }
}

extension Ledger {
    /// A subscription event by event, with the state after each.
    ///
    /// - Parameters:
    ///   - subject: The subscription.
    ///   - instant: The instant whose state is returned; nil for the latest that Apple had reported
    ///     on by each event.
    ///   - knownAt: How much of the log is used.
    /// - Returns: The answer.
    /// - Throws: `QuestionError.tooManyEvents` above `EventEffects.eventsMax`, and `QuestionError`
    ///   for an unknown subject; `EventLogError`.
    public func replay(
        of subject: SubjectID,
        at instant: Instant? = nil,
        knownAt: KnownAt = .latest
    ) async throws -> ReplayDocument {
        let known = try await subscription(subject, knownAt: knownAt)
        let history = known.histories[0]
        let id = history.stream.originalTransactionId
        guard let effects = EventEffects(history) else {
            throw QuestionError(
                .tooManyEvents,
                "\(id) has \(history.events.count) events; replay accepts at most "
                    + "\(EventEffects.eventsMax)"
            )
        }
        var last: [StateField] = []
        let frames = zip(history.events, effects.changes).map { event, changes in
            let then = history.known(upTo: event.position.offset)
            let asked =
                instant ?? Timeline(then).horizon ?? event.fact.statedAsOf ?? event.recordedAt
            let fields = StateField.all(of: then, at: asked)
            defer { last = fields }
            return ReplayDocument.Frame(event, changes, fields, after: last)
        }
        return ReplayDocument(
            originalTransactionId: id,
            environment: history.stream.environment,
            frames: frames,
            erasures: known.erasures,
            otherSubscriptions: known.others
        )
    }
}

extension ReplayDocument.Frame {
    fileprivate init(
        _ event: Event,
        _ changes: [PeriodChange],
        _ fields: [StateField],
        after last: [StateField]
    ) {
        position = event.position
        asOf = event.fact.statedAsOf
        recordedAt = event.recordedAt
        kind = event.fact.kind.rawValue
        summary = event.fact.summary
        effect = changes.map(\.role.rawValue)
        effectText = changes.map(\.words)
        state = fields.map { StateProperty($0) }
        let isNew = { (field: StateField) in !last.contains { $0.isSame(as: field) } }
        let isGone = { (name: String) in !fields.contains { $0.name == name } }
        changed = fields.filter(isNew).map(\.name) + last.map(\.name).filter(isGone)
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
