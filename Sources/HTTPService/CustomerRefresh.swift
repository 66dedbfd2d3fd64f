public import Events

/// Asks Apple about the subscriptions of a customer, for the route that refreshes them.
///
/// Provided by a program that has a key; the routes themselves do not know a client of Apple's API.
public struct CustomerRefresh: Sendable {
    let ask: @Sendable ([StreamID]) async throws -> (outcome: Outcome, round: AskedRound)

    /// The outcome of asking Apple.
    public enum Outcome: Sendable {
        /// Apple answered at this time; the answer added this many events.
        case answered(appended: Int, at: Instant)
        /// Apple was asked a short while ago, or another process is asking now; nil if it never
        /// answered yet.
        case recent(answeredAt: Instant?)
        /// Apple's rate limit is reached; nil if it gave no time for a retry.
        case rateLimited(retryAt: Instant?)
        /// Apple did not answer, or refused; the reason is for the operator.
        case failed(String)
    }

    /// Creates a refresh.
    ///
    /// - Parameter ask: Asks about all of them, and returns the outcome and the counts for the
    ///   metrics; it limits by itself how often it asks.
    public init(
        _ ask:
            @escaping @Sendable ([StreamID]) async throws -> (
                outcome: Outcome, round: AskedRound
            )
    ) {
        self.ask = ask
    }
}
