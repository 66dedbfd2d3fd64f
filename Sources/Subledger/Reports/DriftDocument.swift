public import EventLog
public import Events
internal import Projections

/// Whether the fold agrees with Apple's statements in its own payloads.
public struct DriftDocument: Codable, Hashable, Sendable {
    /// The number of Apple's statements that were compared.
    public let checked: Int
    /// The number of statements that agree.
    public let agreeing: Int
    /// The statements that do not agree, up to the requested number.
    public let drift: [Line]
    /// How many subscriptions have events that cannot be read.
    public let unreadableStreams: Int
    /// The first of these.
    public let unreadable: [UnreadableStreams.Named]

    /// A statement that does not agree.
    public struct Line: Codable, Hashable, Sendable {
        /// The event that contains it.
        public let position: Position
        /// The subscription.
        public let originalTransactionId: String
        /// Where the purchases were made.
        public let environment: Environment
        /// Apple's date for the statement.
        public let asOf: Instant
        /// What it is about.
        public let what: String
        /// Apple's value.
        public let apple: String
        /// The value folded from everything signed by then.
        public let ours: String
    }
}

extension Ledger {
    /// Whether the fold agrees with Apple's statements in its own payloads.
    ///
    /// Compares each status in a version 2 notification, and each signed renewal info, with the
    /// fold of everything signed by then.
    ///
    /// - Parameters:
    ///   - limit: The most disagreements that are listed; all are counted.
    ///   - knownAt: How much of the log is used.
    /// - Returns: The answer.
    /// - Throws: `QuestionError`, `EventLogError`.
    public func drift(
        limit: Int = 100,
        knownAt: KnownAt = .latest
    ) async throws -> DriftDocument {
        let found = try await foldAll(into: DriftReport(), knownAt: knownAt) { report, history in
            guard history.unreadable.isEmpty else { return }
            report.add(Drift.check(history), keeping: limit)
        }
        return DriftDocument(
            checked: found.state.checked,
            agreeing: found.state.agreeing,
            drift: found.state.disagreements.map { found in
                DriftDocument.Line(
                    position: found.position,
                    originalTransactionId: found.stream.originalTransactionId,
                    environment: found.stream.environment,
                    asOf: found.asOf,
                    what: found.subject.rawValue,
                    apple: found.apple,
                    ours: found.ours
                )
            },
            unreadableStreams: found.unreadable.count,
            unreadable: found.unreadable.named
        )
    }
}
