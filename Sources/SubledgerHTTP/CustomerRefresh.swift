package import Events

/// Asks Apple about the subscriptions of a customer, for the route that refreshes them.
///
/// Provided by a program that has a key; the routes themselves do not know a client of Apple's API.
package struct CustomerRefresh: Sendable {
    let ask: @Sendable ([StreamID]) async throws -> (outcome: Outcome, round: AskedRound?)

    /// The outcome of asking Apple.
    package enum Outcome: Sendable {
        /// Apple answered at this time; the answer added this many events.
        case answered(appended: Int, at: Instant)
        /// Apple was asked a short while ago, or another process is asking now; nil if it never
        /// answered yet.
        case recent(answeredAt: Instant?)
        /// Apple's rate limit is reached; nil if it gave no time for a retry.
        case rateLimited(retryAt: Instant?)
        /// It did not answer, or refused to, in words for the operator; with the time before which
        /// it is not asked again, if there is one.
        case failed(String, retryAt: Instant?)
        /// The limit of customers to ask about at once is reached; Apple was not asked.
        case busy
    }

    /// Creates a refresh.
    ///
    /// - Parameter ask: Asks about all of them, and returns the outcome and the counts for the
    ///   metrics, nil if nothing was asked; it limits by itself how often it asks.
    package init(
        _ ask:
            @escaping @Sendable ([StreamID]) async throws -> (
                outcome: Outcome, round: AskedRound?
            )
    ) {
        self.ask = ask
    }
}
