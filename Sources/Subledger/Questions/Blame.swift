public import EventLog
public import Events
internal import Projections

/// Which event is responsible for each part of a subscription's state.
package enum BlameQuestion: Question {
    package static let name = "blame"
    package static let abstract =
        "Which event is responsible for each part of a subscription's state."
    package static let discussion = """
        Covers the purchase that decides access at --at, and the next renewal as Apple had \
        stated it by then.
        """
    package static let meaningOfAt = "The instant to answer for. Default: now."
    package static let parameters: [QuestionParameter: String] = [:]
    package static let mayBeAlone = true

    package static func answer(
        _ asked: QuestionInput,
        from ledger: Ledger
    ) async throws -> BlameDocument {
        try await ledger.blame(
            of: asked.subject,
            at: asked.at ?? asked.now,
            knownAt: asked.knownAt
        )
    }

    package static func notes(_ answer: BlameDocument) -> [String] {
        answer.erasures.compactMap(\.line)
    }

    package static func text(_ answer: BlameDocument, _ asked: QuestionInput) -> [Block] {
        let header = ["position", "field", "value", "event", "as of", "recorded"]
        let states = answer.subscriptions.map { subscription -> [Block] in
            let id = subscription.originalTransactionId
            return [
                .line("\(id) · \(answer.environment) · \(answer.at.zonedClock)"),
                subscription.fields.isEmpty
                    ? .line(NothingKnown.words) : .table(header, subscription.fields.map(\.cells)),
            ]
        }
        return (states.isEmpty ? [.gap] : Array(states.joined(separator: [.gap])))
            + answer.grounds.lines.map(Block.line)
    }
}

/// Which event is responsible for each part of the state of a customer's subscriptions.
public struct BlameDocument: Codable, Hashable, Sendable {
    /// The id that was asked for.
    public let customer: String
    /// Where the purchases were made.
    public let environment: StoreEnvironment
    /// The instant asked about.
    public let at: Instant
    /// The subscriptions.
    public let subscriptions: [Subscription]
    /// Why each subscription counts; empty if one subscription was asked for alone.
    public let grounds: [SubscriptionGround]
    /// What was erased of the subscriptions.
    public let erasures: [ErasureMark]

    /// The state of one subscription.
    public struct Subscription: Codable, Hashable, Sendable {
        /// Its id.
        public let originalTransactionId: String
        /// What is known of it, most asked-for fields first.
        public let fields: [Field]
    }

    /// One thing that is known, and the event that is responsible.
    public struct Field: Codable, Hashable, Sendable {
        /// The field: a word of our own, or Apple's name of the property.
        public let name: String
        /// Its value; instants are milliseconds since 1970 UTC.
        public let value: PropertyValue
        /// The value as text.
        public let text: String
        /// The event.
        public let position: Position
        /// What it is about.
        public let kind: String?
        /// A short summary of its content.
        public let summary: String?
        /// Apple's date for the statement.
        public let asOf: Instant?
        /// When the log recorded it, on the ledger's clock.
        public let recordedAt: Instant?
    }
}

extension Ledger {
    /// Which event is responsible for each part of the state of a customer's subscriptions.
    ///
    /// The purchase shown is the one that decides access at the instant; the next renewal is as
    /// Apple had stated it by then.
    ///
    /// - Parameters:
    ///   - subject: The customer, or one subscription alone.
    ///   - instant: The instant asked about.
    ///   - knownAt: How much of the log is used.
    /// - Returns: The answer.
    /// - Throws: `QuestionError`, `EventLogError`.
    public func blame(
        of subject: SubjectID,
        at instant: Instant,
        knownAt: KnownAt = .latest
    ) async throws -> BlameDocument {
        let known = try await recorded(subject, at: instant, knownAt: knownAt)
        return BlameDocument(
            customer: known.id,
            environment: known.environment,
            at: instant,
            subscriptions: known.histories.map { history in
                BlameDocument.Subscription(history, at: instant)
            },
            grounds: known.grounds.subscriptions,
            erasures: known.erasures
        )
    }
}

extension BlameDocument.Subscription {
    fileprivate init(_ history: RecordedHistory, at instant: Instant) {
        originalTransactionId = history.stream.originalTransactionId
        fields = StateField.all(of: history.latest, at: instant).map { field in
            let event = history.events.first { $0.position == field.position }
            return BlameDocument.Field(
                name: field.name,
                value: PropertyValue(field.value),
                text: field.value.words,
                position: field.position,
                kind: event?.fact.kind.rawValue,
                summary: event?.fact.summary,
                asOf: event?.fact.asOf,
                recordedAt: event?.recordedAt
            )
        }
    }
}

extension BlameDocument.Field {
    fileprivate var cells: [String] {
        [
            "#\(position)", name, text, [kind, summary].compactMap { $0 }.joined(separator: " "),
            asOf?.clock ?? "", recordedAt?.clock ?? "",
        ]
    }
}
