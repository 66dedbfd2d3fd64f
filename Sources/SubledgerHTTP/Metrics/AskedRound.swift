/// The counts of a round of questions to Apple, for the metrics.
package struct AskedRound: Hashable, Sendable {
    /// Why Apple was asked: `poll`, `backfill` or `refresh`.
    package var reason: String
    /// Requests that were answered, refusals included.
    package var requests = 0
    /// Subscriptions that Apple answered about.
    package var answers = 0
    /// Events that the answers added.
    package var newEvents = 0
    /// Facts in the answers that the ledger knew already.
    package var duplicates = 0
    /// Requests without an answer, by the class of the error.
    package var failures: [String: Int] = [:]
    /// Subscriptions that are left for the next round; nil if not counted.
    package var left: Int?
    /// Seconds until the next request may be sent, by Apple's rate limits.
    package var secondsToWait = 0.0

    /// Seconds that the due subscription that waits longest has been waiting; nil if not measured.
    package var oldestDueSeconds: Double?

    /// Why Apple is asked.
    package static let reasons = ["poll", "backfill", "refresh"]
    /// The classes of errors: those of the client, and `ledger` for a fault of ours.
    package static let errors = [
        "credentials", "address", "refused", "rateLimited", "unavailable", "timedOut",
        "answerTooLarge", "answerUnreadable", "ledger",
    ]

    /// Creates a round with all counts zero.
    package init(reason: String) {
        self.reason = reason
    }

    /// Counts a request without an answer.
    ///
    /// - Parameter error: The class of the error, as a machine-readable word.
    package mutating func fail(_ error: String) { failures[error, default: 0] += 1 }
}
