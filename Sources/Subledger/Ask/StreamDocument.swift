internal import EventLog
public import Events

/// A subscription in the log, with its events and products.
public struct StreamDocument: Codable, Hashable, Sendable {
    /// Its id.
    public let originalTransactionId: String
    /// Where the purchases were made.
    public let environment: Environment
    /// The lane that holds it.
    public let lane: Int
    /// How many events it has.
    public let events: Int64
    /// What was bought, each product once.
    public let productIds: [String]
    /// When the log first recorded it, on the ledger's clock.
    public let firstRecordedAt: Instant
    /// When the log last recorded something about it.
    public let lastRecordedAt: Instant
}

extension Ledger {
    /// The most lines of one page.
    package static let pageLines = 1000

    /// Every subscription in the log, page by page, because the list is as long as the ledger has
    /// customers.
    ///
    /// - Parameter take: Receives each subscription; stops the list if it throws.
    /// - Throws: `EventLogError`, and what `take` throws.
    public func forEachStream(_ take: (StreamDocument) throws -> Void) async throws {
        var last: StreamSummary?
        while true {
            let page = try await log.streams(after: last, limit: Ledger.pageLines)
            for summary in page { try take(StreamDocument(summary)) }
            last = page.last
            if page.count < Ledger.pageLines { return }
        }
    }
}

extension StreamDocument {
    fileprivate init(_ summary: StreamSummary) {
        originalTransactionId = summary.stream.originalTransactionId
        environment = summary.stream.environment
        lane = summary.lane
        events = summary.events
        productIds = summary.productIds
        firstRecordedAt = summary.firstRecordedAt
        lastRecordedAt = summary.lastRecordedAt
    }
}
