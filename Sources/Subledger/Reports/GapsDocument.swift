package import EventLog
package import Events
public import Projections

/// What the ledger should know but does not, or learned only by asking Apple.
package struct GapsDocument: LogReport, Hashable {
    /// The instant as of which renewals count as missing.
    package let at: Instant
    /// The number of subscriptions read.
    package let streams: Int
    /// The number of gaps of each kind.
    package let counts: [String: Int]
    /// The worst gaps, up to the requested number.
    package let gaps: [StreamGap]
    /// How many subscriptions have events that cannot be read.
    package let unreadableStreams: Int
    /// The first of these.
    package let unreadable: [UnreadableStreams.Named]
}

/// The thresholds of a gap.
package struct GapLimits: Hashable, Sendable {
    /// How late a renewal may be, in milliseconds; nil for a day, in which Apple reports most, or a
    /// quarter of a period shorter than four days.
    package var renewalPatience: Int64?
    /// How late a fetched notification may be, in milliseconds; nil for an hour.
    ///
    /// After an hour, Apple sends it for the second time. If all periods of the ledger are shorter
    /// than a week, as in test stores, the limit is shorter in proportion.
    package var notificationPatience: Int64?

    /// An hour, for periods of a week or longer.
    static let notificationPatienceMax: Int64 = 3_600_000
    /// Hours in a week.
    static let notificationPatienceParts: Int64 = 168

    /// The default limits.
    package init() {}
}

extension Ledger {
    /// The channel of payloads fetched from the App Store Server API; kept with their evidence.
    package static let serverAPISource = "app-store-server-api"

    /// What the ledger should know but does not, or learned only by asking Apple.
    ///
    /// Reads the log once; memory does not grow with it.
    ///
    /// - Parameters:
    ///   - instant: The instant as of which renewals count as missing.
    ///   - limit: The most gaps that are listed; all are counted.
    ///   - knownAt: How much of the log is used.
    ///   - limits: The thresholds of a gap.
    /// - Returns: The answer.
    /// - Throws: `QuestionError`, `EventLogError`.
    package func gaps(
        at instant: Instant,
        limit: Int = 100,
        knownAt: KnownAt = .latest,
        limits: GapLimits = GapLimits()
    ) async throws -> GapsDocument {
        var found = try await foldAll(into: GapTally(limit: limit), knownAt: knownAt) {
            tally,
            history in
            guard history.unreadable.isEmpty else { return }
            tally.take(StreamGaps(history, at: instant, patience: limits.renewalPatience))
        }
        let missed = try await log.missedNotifications(
            by: Ledger.serverAPISource,
            atLeast: limits.notificationPatience ?? found.state.notificationPatience,
            knownAt: knownAt,
            limit: limit
        )
        found.state.take(missed.found, of: missed.count)
        found.state.gaps.trim()
        return GapsDocument(
            at: instant,
            streams: found.state.gaps.streams,
            counts: found.state.gaps.counts,
            gaps: found.state.gaps.worst.map { $0.withNext(at: instant) },
            unreadableStreams: found.unreadable.count,
            unreadable: found.unreadable.named
        )
    }
}

extension StreamGap {
    // A round asks about subscriptions that ended within the sixty days of billing retry; older
    // ones must be named.
    fileprivate func withNext(at instant: Instant) -> StreamGap {
        var gap = self
        gap.next =
            switch kind {
            case .renewalMissing:
                instant.milliseconds - since.milliseconds <= DueCharge.retryMax
                    ? "poll" : "backfill \(originalTransactionId)"
            case .statusContradicts: "poll \(originalTransactionId)"
            case .notificationMissed: nil
            }
        return gap
    }
}

extension StreamGap: ReportFinding {}

/// The worst gaps so far, and the longest period.
private struct GapTally: Sendable {
    var gaps: FindingTally<StreamGap>
    private var periodMax: Int64 = 0

    init(limit: Int) {
        gaps = FindingTally(limit: limit)
    }

    /// How late a notification may be, according to the longest period.
    var notificationPatience: Int64 {
        guard periodMax > 0 else { return GapLimits.notificationPatienceMax }
        return min(
            GapLimits.notificationPatienceMax,
            periodMax / GapLimits.notificationPatienceParts
        )
    }

    mutating func take(_ stream: StreamGaps) {
        periodMax = max(periodMax, stream.periodMilliseconds)
        gaps.take(of: stream.found)
    }

    mutating func take(_ missed: [MissedNotification], of count: Int) {
        let found = missed.map { notification in
            StreamGap(
                of: notification.stream,
                .notificationMissed,
                since: notification.asOf,
                milliseconds: notification.recordedAt.milliseconds
                    - notification.asOf.milliseconds,
                positions: [notification.position]
            )
        }
        gaps.take(found)
        gaps.count(count - found.count, of: .notificationMissed)
    }
}

extension GapsDocument {
    /// The answer as text.
    package var text: [Block] {
        let header = [
            "subscription", "environment", "what", "since", "for", "Apple", "ours", "next",
            "because of",
        ]
        let rows = gaps.map { gap in
            [
                gap.originalTransactionId.isEmpty ? "–" : gap.originalTransactionId,
                gap.environment.word, gap.kind.rawValue, gap.since.clock,
                Duration.words(gap.milliseconds / 1000), gap.apple ?? "–", gap.ours ?? "–",
                gap.next ?? "–", gap.positions.marks,
            ]
        }
        return (rows.isEmpty ? [] : [.table(header, rows)])
            + [.line(StreamGap.summary(counts, of: streams))]
    }

    /// The gaps as lines of CSV, below their header.
    package var rows: [[String]] {
        let header = [
            "original_transaction_id", "environment", "kind", "since", "seconds", "apple", "ours",
            "positions", "next",
        ]
        return [header]
            + gaps.map { gap in
                [
                    gap.originalTransactionId, gap.environment.word, gap.kind.rawValue,
                    gap.since.clock, "\(gap.milliseconds / 1000)", gap.apple ?? "",
                    gap.ours ?? "", gap.positions.marks, gap.next ?? "",
                ]
            }
    }
}
