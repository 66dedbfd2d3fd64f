internal import EventLog
public import Events
internal import Subledger

/// The result of a request about one customer.
public struct RefreshReport: Sendable {
    /// The result of the requests.
    public internal(set) var asked = PollReport()
    /// When Apple last answered about one of the subscriptions; nil if it never did.
    public internal(set) var answeredAt: Instant?

    /// Whether a request was sent.
    public var hasAsked: Bool { asked.requests > 0 || asked.failed > 0 }

    /// Whether a rate limit ended it, possibly before the first request.
    public var isRateLimited: Bool { asked.left > 0 || asked.retryAt != nil }
}

extension Poller {
    /// Asks Apple about the subscriptions of one customer now.
    ///
    /// A refusal is not recorded as an answer, so that the next refresh reports it, too.
    ///
    /// - Parameters:
    ///   - streams: The customer's subscriptions and purchases.
    ///   - pauseSeconds: Seconds after the last answer during which nothing is requested.
    /// - Returns: The report; nothing was requested if all subscriptions are counted as skipped.
    /// - Throws: `ServerError` with the code `credentials`; `EventLogError`.
    public func refresh(
        _ streams: [StreamID],
        pauseSeconds: Double = Poller.refreshPauseSeconds
    ) async throws -> RefreshReport {
        var report = RefreshReport()
        let watch = PollWatch(isStopped: { false }, progress: { _ in })
        // One after the other: an answer covers the other subscriptions of the same account, which
        // are then skipped.
        for stream in streams where options.environments.contains(stream.environment) {
            let hasEnded = try await ask(
                [stream],
                pauseSeconds: pauseSeconds,
                marksRefusals: false,
                &report.asked,
                watch
            )
            if hasEnded { break }
        }
        report.answeredAt = try await ledger.log.pollAnswers(about: streams)
            .values.map(\.answeredAt).max()
        return report
    }

    /// Seconds for which an answer about a customer counts as current.
    public static let refreshPauseSeconds = 60.0
}
