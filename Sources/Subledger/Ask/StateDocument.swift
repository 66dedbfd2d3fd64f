public import EventLog
public import Events
public import Projections

/// The state of a subscription over time, and how it was set to renew.
public struct StateDocument: Codable, Hashable, Sendable {
    /// The subscription.
    public let originalTransactionId: String
    /// Where the purchases were made.
    public let environment: Environment
    /// Its states by time.
    public let states: [RenewalState]
    /// Why there is no state, or none at the instant asked about; nil if there is one.
    public let noState: NoState?
    /// The one-time purchase, if the id names one; nil for a subscription.
    public let oneTimePurchase: OneTimePurchaseDocument?
    /// What was erased of it.
    public let erasures: [ErasureMark]
    /// Other subscriptions of the same customer; nil if they cannot be counted: there are too many,
    /// or lanes of a distributed ledger cannot be reached.
    public let otherSubscriptions: Int?

    /// Why there is no state.
    public struct NoState: Codable, Hashable, Sendable {
        /// `oneTimePurchase`, or why there is no access at the instant.
        public let reason: String
        /// The end of the last access; nil if there was none.
        public let since: Instant?
    }
}

extension Ledger {
    /// The state of a subscription over time, and how it was set to renew.
    ///
    /// - Parameters:
    ///   - subject: The subscription.
    ///   - instant: Only the state at it; nil for all.
    ///   - knownAt: How much of the log is used.
    /// - Returns: The answer.
    /// - Throws: `QuestionError`, `EventLogError`.
    public func state(
        of subject: SubjectID,
        at instant: Instant? = nil,
        knownAt: KnownAt = .latest
    ) async throws -> StateDocument {
        StateDocument(try await subscription(subject, knownAt: knownAt), at: instant)
    }
}

extension StateDocument {
    fileprivate init(_ known: Known, at instant: Instant?) {
        let all = RenewalStates(known.timeline)
        let rows = instant.map { all.state(at: $0).map { [$0] } ?? [] } ?? all.rows
        originalTransactionId = known.stream.originalTransactionId
        environment = known.stream.environment
        states = rows
        oneTimePurchase = OneTimePurchaseDocument(insteadOf: known)
        // After Apple's last statement there is no state, but how the access ended is known.
        if rows.isEmpty, oneTimePurchase != nil {
            noState = NoState(reason: "oneTimePurchase", since: nil)
        } else if rows.isEmpty, let instant {
            let answer = AccessAnswer(known.timeline, at: instant)
            noState = answer.reason.map {
                NoState(reason: $0.rawValue, since: answer.period?.validTo)
            }
        } else {
            noState = nil
        }
        erasures = known.erasures
        otherSubscriptions = known.others
    }
}
