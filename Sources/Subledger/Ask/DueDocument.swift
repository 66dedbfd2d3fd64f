public import EventLog
public import Events
internal import Projections

/// A subscription whose current status should be requested from Apple, and why.
public struct DueDocument: Codable, Hashable, Sendable {
    /// Its id.
    public let originalTransactionId: String
    /// Where the purchases were made.
    public let environment: StoreEnvironment
    /// `ends_soon`, `failed` or `overdue`; `unreadable` if one of its events cannot be read.
    public let reason: String
    /// The end of the last known access, including its grace period; nil if nothing is certain.
    public private(set) var accessEnd: Instant?
    /// The product that renews next.
    public private(set) var autoRenewProductId: String?
    /// The length of the newest period, in milliseconds; nil if it is not certain.
    public private(set) var periodMilliseconds: Int64?
    /// The events that cannot be read, if that is the reason.
    public private(set) var unreadable: [Position]?
}

extension Ledger {
    /// Lists the subscriptions to ask Apple about: those whose charge is due, or has failed.
    ///
    /// Reads the whole log once and holds one subscription in memory.
    ///
    /// - Parameters:
    ///   - instant: The instant at which they are due.
    ///   - milliseconds: How far to look ahead.
    ///   - environment: Only this one; nil for all.
    ///   - knownAt: How much of the log is used.
    ///   - take: Receives each subscription while the log is read.
    /// - Returns: The subscriptions with an event that cannot be read.
    /// - Throws: `QuestionError`, `EventLogError`, and what `take` throws.
    public func forEachDue(
        at instant: Instant,
        withinMilliseconds milliseconds: Int64,
        in environment: StoreEnvironment? = nil,
        knownAt: KnownAt = .latest,
        _ take: @escaping @Sendable (DueDocument) throws -> Void
    ) async throws -> UnreadableStreams {
        try await foldAll(into: (), knownAt: knownAt, in: environment) { _, history in
            if !history.unreadable.isEmpty {
                try take(
                    DueDocument(
                        originalTransactionId: history.stream.originalTransactionId,
                        environment: history.stream.environment,
                        reason: "unreadable",
                        unreadable: history.unreadable.map(\.position)
                    )
                )
            } else if let due = DueCharge(
                Timeline(history),
                at: instant,
                withinMilliseconds: milliseconds
            ) {
                try take(
                    DueDocument(
                        originalTransactionId: due.stream.originalTransactionId,
                        environment: due.stream.environment,
                        reason: due.reason.rawValue,
                        accessEnd: due.accessEnd,
                        autoRenewProductId: due.autoRenewProductId,
                        periodMilliseconds: due.periodMilliseconds
                    )
                )
            }
        }.unreadable
    }
}
