public import EventLog

extension Ledger {
    /// The most lines of one page.
    package static let pageLines = 1000

    /// Every subscription in the log, page by page, because the list is as long as the ledger has
    /// customers.
    ///
    /// - Parameter take: Receives each subscription; stops the list if it throws.
    /// - Throws: `EventLogError`, and what `take` throws.
    public func forEachStream(_ take: (StreamSummary) throws -> Void) async throws {
        var last: StreamSummary?
        while true {
            let page = try await log.streams(after: last, limit: Ledger.pageLines)
            for summary in page { try take(summary) }
            last = page.last
            if page.count < Ledger.pageLines { return }
        }
    }
}
