public import EventLog
public import Events
internal import Projections

/// A subscription to ask Apple about, and why.
public struct DueDocument: Codable, Hashable, Sendable {
    /// Its id.
    public let originalTransactionId: String
    /// Where the purchases were made.
    public let environment: Environment
    /// `ends_soon`, `failed` or `overdue`; `unreadable` where an event of it cannot be read.
    public let reason: String
    /// The end of the access that was there last, with its grace; nil where nothing is certain.
    public let accessEnd: Instant?
    /// What renews next.
    public let autoRenewProductId: String?
    /// The length of the newest period, in milliseconds; nil where nothing is certain.
    public let periodMilliseconds: Int64?
    /// The events that cannot be read, where that is the reason.
    public let unreadable: [PositionValue]?
}

extension Ledger {
    /// Which subscriptions to ask Apple about: charges that wait, or failed.
    ///
    /// Reads the whole log once and holds one subscription in memory.
    ///
    /// - Parameters:
    ///   - instant: As things stand at it.
    ///   - milliseconds: How far to look ahead.
    ///   - environment: Only this one; nil for all.
    ///   - knownAt: How much of the log is used.
    ///   - take: Takes each, while the log is read.
    /// - Returns: The subscriptions of which an event cannot be read.
    /// - Throws: `QuestionError`, `EventLogError`, and what `take` throws.
    public func forEachDue(
        at instant: Instant,
        withinMilliseconds milliseconds: Int64,
        in environment: Environment? = nil,
        knownAt: KnownAt = .latest,
        _ take: @escaping @Sendable (DueDocument) throws -> Void
    ) async throws -> UnreadableStreams {
        let lanes = log.identity.lanes
        return try await foldAll(into: (), knownAt: knownAt, in: environment) { _, history in
            if !history.unreadable.isEmpty {
                try take(DueDocument(unreadable: history, lanes: lanes))
            } else if let due = DueCharge(
                Timeline(history),
                at: instant,
                withinMilliseconds: milliseconds
            ) {
                try take(DueDocument(due))
            }
        }.unreadable
    }
}

extension DueDocument {
    fileprivate init(_ due: DueCharge) {
        originalTransactionId = due.stream.originalTransactionId
        environment = due.stream.environment
        reason = due.reason.rawValue
        accessEnd = due.accessEnd
        autoRenewProductId = due.autoRenewProductId
        periodMilliseconds = due.periodMilliseconds
        unreadable = nil
    }

    fileprivate init(unreadable history: StreamHistory, lanes: LaneCount) {
        originalTransactionId = history.stream.originalTransactionId
        environment = history.stream.environment
        reason = "unreadable"
        accessEnd = nil
        autoRenewProductId = nil
        periodMilliseconds = nil
        unreadable = history.unreadable.map { PositionValue($0.position, lanes: lanes) }
    }
}
