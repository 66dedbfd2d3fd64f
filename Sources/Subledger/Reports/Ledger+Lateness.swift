package import EventLog
package import Events
internal import Projections

extension Ledger {
    /// How long answers about a subscription turned out to have been wrong, as revealed by some of
    /// its events.
    ///
    /// Times in which this ledger cannot have been asked are left out.
    ///
    /// - Parameters:
    ///   - stream: The subscription.
    ///   - offsets: From the first of the events to the last, in the subscription's lane.
    ///   - firstCommit: When the ledger made its first commit.
    /// - Returns: Whole seconds in which access was wrongly denied, and wrongly granted.
    /// - Throws: `EventLogError`.
    package func wrongSeconds(
        of stream: StreamID,
        revealedBy offsets: ClosedRange<Int64>,
        firstCommit: Instant?
    ) async throws(EventLogError) -> (denied: Int64, granted: Int64) {
        let history = try await log.recordedHistory(of: stream)
        let (before, after) = (
            WrongAnswers([history.cut(upTo: offsets.lowerBound - 1)], firstCommit: firstCommit),
            WrongAnswers([history.cut(upTo: offsets.upperBound)], firstCommit: firstCommit)
        )
        func revealed(_ kind: WrongAnswers.Kind) -> Int64 {
            max(0, after.asked.seconds(kind) - before.asked.seconds(kind))
        }
        return (revealed(.wronglyDenied), revealed(.wronglyGranted))
    }
}
