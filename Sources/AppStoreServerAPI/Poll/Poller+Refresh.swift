public import Events
internal import EventLog
internal import Subledger

/// What became of a question about one customer.
public struct RefreshReport: Sendable {
    /// What the answers came to.
    public internal(set) var asked = PollReport()
    /// When Apple answered last about one of the subscriptions; nil where it never did.
    public internal(set) var answeredAt: Instant?
}

extension Poller {
    /// Asks Apple about the subscriptions of one customer now.
    ///
    /// - Parameters:
    ///   - streams: The customer's subscriptions and purchases.
    ///   - pauseSeconds: Since the last answer before which nothing is asked.
    /// - Returns: What it came to; nothing was asked where all are counted as skipped.
    /// - Throws: `ServerError` with the code `credentials`; `EventLogError`.
    public func refresh(
        _ streams: [StreamID],
        pauseSeconds: Double = Poller.refreshPauseSeconds
    ) async throws -> RefreshReport {
        var report = RefreshReport()
        let watch = PollWatch(isStopped: { false }, progress: { _ in })
        // One after the other: an answer covers the other subscriptions of the same account, which
        // are left out then.
        for stream in streams where options.environments.contains(stream.environment) {
            let hasEnded = try await ask(
                [stream],
                pauseSeconds: pauseSeconds,
                &report.asked,
                watch
            )
            if hasEnded { break }
        }
        report.answeredAt = try await ledger.log.answeredAt(of: streams).values.max()
        return report
    }

    /// Seconds for which an answer about a customer is new enough.
    public static let refreshPauseSeconds = 60.0
}
