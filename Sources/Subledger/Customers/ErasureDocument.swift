public import EventLog
public import Events

/// What an erasure removed, or would remove.
public struct ErasureDocument: Codable, Hashable, Sendable {
    /// Whether it was done; false for a dry run.
    public let erased: Bool
    /// What is removed, subscription by subscription.
    public let erasures: [Line]
    /// What counts as the customer's and is kept.
    public let left: [Left]

    /// A subscription that is kept.
    public struct Left: Codable, Hashable, Sendable {
        /// Its id.
        public let originalTransactionId: String
        /// Where the purchases were made.
        public let environment: Environment
        /// Why it is kept.
        public let reason: String
    }

    /// What is removed from one subscription.
    public struct Line: Codable, Hashable, Sendable {
        /// The event that records it; nil for a dry run.
        public let position: Position?
        /// The subscription.
        public let originalTransactionId: String
        /// Where the purchases were made.
        public let environment: Environment
        /// `subscription`, `customer`, `link` or `payload`.
        public let scope: String
        /// The lane that holds it.
        public let lane: Int
        /// The offsets of the events, as ranges.
        public let events: String
        /// The offsets of the confirmations, as ranges.
        public let confirmations: String
        /// The numbers of the payloads, as ranges.
        public let evidence: String
        /// The number of these events.
        public let eventCount: Int
        /// The number of these payloads.
        public let evidenceCount: Int
    }

    /// The document of erasures.
    public init(
        _ erasures: [StreamErasure],
        leaving exceptions: [ErasureException] = [],
        isDone: Bool
    ) {
        erased = isDone
        left = exceptions.map { exception in
            Left(
                originalTransactionId: exception.stream.originalTransactionId,
                environment: exception.stream.environment,
                reason: exception.words
            )
        }
        self.erasures = erasures.map { done in
            Line(
                position: done.position,
                originalTransactionId: done.stream.originalTransactionId,
                environment: done.stream.environment,
                scope: done.erasure.scope.rawValue,
                lane: done.lane,
                events: done.erasure.events.description,
                confirmations: done.erasure.confirmations.description,
                evidence: done.erasure.evidence.description,
                eventCount: Int(done.erasure.events.count),
                evidenceCount: Int(done.erasure.evidence.count)
            )
        }
    }
}

extension ErasureException {
    /// The erasure as text.
    package var words: String {
        let why =
            switch reason {
            case .otherTokens(let tokens):
                "it has another app account token (\(tokens.joined(separator: ", ")))"
            case .sharedWith(let tokens):
                "it has no token and could equally belong to token "
                    + "\(tokens.joined(separator: ", "))"
            case .severalCustomers(let customers):
                "it is joined to several customers (\(customers.joined(separator: ", ")))"
            }
        return "not erased: \(stream.originalTransactionId) (\(stream.environment)): \(why). To "
            + "erase it too, link it to the customer first, or erase it as a subscription"
    }
}
