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
    /// Questions without an answer.
    public var failures = 0
    /// Subscriptions that are left for another round; nil if not counted.
    public var left: Int?
    /// Seconds until the next request may be sent, by Apple's rate limits.
    public var secondsToWait = 0.0

    /// Creates a round with all counts zero.
    public init(reason: String) {
        self.reason = reason
    }
}
