public import Events

/// Asks Apple about the subscriptions of a customer, for the route that refreshes them.
///
/// Given by whoever serves with a key; the routes themselves know no client of Apple's.
public struct CustomerRefresh: Sendable {
    let ask: @Sendable ([StreamID]) async throws -> (outcome: Outcome, round: AskedRound?)

    /// Whether Apple answered.
    public enum Outcome: Sendable {
        /// It did; so many events are new, and then it was.
        case answered(appended: Int, at: Instant)
        /// It was asked a short while ago, or another process asks it now; nil where it never
        /// answered yet.
        case recent(answeredAt: Instant?)
        /// Its rate limit is reached; nil where it named no time to come again.
        case rateLimited(retryAt: Instant?)
        /// It did not answer, or refused to; in words for the operator. Where it is not asked
        /// before some time, that time.
        case failed(String, retryAt: Instant?)
        /// As many customers as may be are being asked about; Apple was not asked.
        case busy
    }

    /// A refresh.
    ///
    /// - Parameter ask: Asks about all of them, and returns what came of it and what to count, nil
    ///   where nothing was asked; it bounds by itself how often it asks.
    public init(
        _ ask:
            @escaping @Sendable ([StreamID]) async throws -> (
                outcome: Outcome, round: AskedRound?
            )
    ) {
        self.ask = ask
    }
}
