public import EventLog
public import Events
internal import Projections

/// What the ledger should know but does not, or learned only by asking Apple.
public struct GapsDocument: Codable, Hashable, Sendable {
    /// The instant as of which renewals count as missing.
    public let at: Instant
    /// The number of subscriptions read.
    public let streams: Int
    /// The number of gaps of each kind.
    public let counts: [String: Int]
    /// The worst gaps, up to the requested number.
    public let gaps: [Gap]
    /// How many subscriptions have events that cannot be read.
    public let unreadableStreams: Int
    /// The first of these.
    public let unreadable: [UnreadableStreams.Named]

    /// A gap.
    public struct Gap: Codable, Hashable, Sendable {
        /// The subscription; empty for a notification that is not about one.
        public let originalTransactionId: String
        /// Where the purchases were made.
        public let environment: Environment
        /// `renewal_missing`, `status_contradicts` or `notification_missed`.
        public let kind: String
        /// The end of the access, or when Apple signed what differs or was missed.
        public let since: Instant
        /// How long it has lasted, or how long the notification took, in milliseconds.
        public let milliseconds: Int64
        /// Apple's statement; nil if Apple made none.
        public let apple: String?
        /// The value folded from the log; nil if there is none.
        public let ours: String?
        /// The command that may close it; nil if nothing is left to do.
        public let next: String?
        /// The events it is based on.
        public let positions: [Position]
    }

    /// The kinds, in listing order.
    public static let kinds = StreamGap.Kind.allCases.map(\.rawValue)
}

/// The thresholds of a gap.
public struct GapLimits: Hashable, Sendable {
    /// How late a renewal may be, in milliseconds; nil for a day, in which Apple reports most, or a
    /// quarter of a period shorter than four days.
    public var renewalPatience: Int64?
    /// How late a fetched notification may be, in milliseconds; nil for an hour.
    ///
    /// After an hour, Apple sends it for the second time. If all periods of the ledger are shorter
    /// than a week, as in test stores, the limit is shorter in proportion.
    public var notificationPatience: Int64?

    /// An hour, for periods of a week or longer.
    static let notificationPatienceMax: Int64 = 3_600_000
    /// Hours in a week.
    static let notificationPatienceParts: Int64 = 168

    /// The default limits.
    public init() {}
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
    public func gaps(
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
        found.state.trim()
        let tally = found.state
        return GapsDocument(
            at: instant,
            streams: tally.streams,
            counts: Dictionary(
                uniqueKeysWithValues: StreamGap.Kind.allCases.map {
                    ($0.rawValue, tally.counts[$0] ?? 0)
                }
            ),
            gaps: tally.worst.map { GapsDocument.Gap($0, at: instant) },
            unreadableStreams: found.unreadable.count,
            unreadable: found.unreadable.named
        )
    }
}

extension GapsDocument.Gap {
    fileprivate init(_ gap: StreamGap, at instant: Instant) {
        originalTransactionId = gap.stream.originalTransactionId
        environment = gap.stream.environment
        kind = gap.kind.rawValue
        since = gap.since
        milliseconds = gap.milliseconds
        apple = gap.apple.isEmpty ? nil : gap.apple
        ours = gap.ours.isEmpty ? nil : gap.ours
        next = gap.next(at: instant)
        positions = gap.positions
    }
}

extension StreamGap {
    // A round asks about subscriptions that ended within the sixty days of billing retry; older
    // ones must be named.
    fileprivate func next(at instant: Instant) -> String? {
        switch kind {
        case .renewalMissing:
            instant.milliseconds - since.milliseconds <= DueCharge.retryMax
                ? "poll" : "backfill \(stream.originalTransactionId)"
        case .statusContradicts: "poll \(stream.originalTransactionId)"
        case .notificationMissed: nil
        }
    }
}

/// The worst gaps so far, and how many there were.
private struct GapTally: Sendable {
    private(set) var streams = 0
    private var periodMax: Int64 = 0
    private(set) var counts: [StreamGap.Kind: Int] = [:]
    private(set) var worst: [StreamGap] = []
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
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
        streams += 1
        periodMax = max(periodMax, stream.periodMilliseconds)
        for gap in stream.found { counts[gap.kind, default: 0] += 1 }
        worst += stream.found
        // Twice the limit before sorting, so sorting is rare and memory is bounded.
        if worst.count > 2 * limit { trim() }
    }

    mutating func take(_ missed: [MissedNotification], of count: Int) {
        counts[.notificationMissed, default: 0] += count
        worst += missed.map { notification in
            StreamGap(
                stream: notification.stream,
                kind: .notificationMissed,
                since: notification.asOf,
                milliseconds: notification.recordedAt.milliseconds
                    - notification.asOf.milliseconds,
                apple: "",
                ours: "",
                positions: [notification.position]
            )
        }
    }

    mutating func trim() {
        worst.sort(by: StreamGap.isWorse)
        worst.removeLast(Swift.max(0, worst.count - limit))
    }
}
