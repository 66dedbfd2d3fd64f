/// The counts of a round of questions to Apple, for the metrics.
public struct AskedRound: Hashable, Sendable {
    /// Why Apple was asked: `poll`, `backfill` or `refresh`.
    public var reason: String
    /// Requests that were answered, refusals included.
    public var requests = 0
    /// Subscriptions that Apple answered about.
    public var answers = 0
    /// Events that the answers added.
    public var newEvents = 0
    /// Facts in the answers that the ledger knew already.
    public var duplicates = 0
    /// Requests without an answer, by the class of the error.
    public var failures: [String: Int] = [:]
    /// Subscriptions that are left for the next round; nil if not counted.
    public var left: Int?
    /// Seconds until the next request may be sent, by Apple's rate limits.
    public var secondsToWait = 0.0

    /// Seconds that the due subscription that waits longest has been waiting; nil if not measured.
    public var oldestDueSeconds: Double?

    /// Why Apple is asked.
    public static let reasons = ["poll", "backfill", "refresh"]
    /// The classes of errors: those of the client, and `ledger` for a fault of ours.
    public static let errors = [
        "credentials", "address", "refused", "rateLimited", "unavailable", "timedOut",
        "answerTooLarge", "answerUnreadable", "ledger",
    ]

    /// Creates a round with all counts zero.
    public init(reason: String) {
        self.reason = reason
    }

    /// Counts a request without an answer.
    ///
    /// - Parameter error: The class of the error, as a machine-readable word.
    public mutating func fail(_ error: String) { failures[error, default: 0] += 1 }
}
