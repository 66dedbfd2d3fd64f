package import EventLog

extension Ledger {
    /// The most lines of one page.
    package static let pageLines = 1000

    /// Every subscription in the log, page by page, because the list is as long as the ledger has
    /// customers.
    ///
    /// - Parameter take: Receives each subscription; stops the list if it throws.
    /// - Throws: `EventLogError`, and what `take` throws.
    package func forEachStream(_ take: (StreamSummary) throws -> Void) async throws {
        try await forEach(take) { try await log.streams(after: $0, limit: Ledger.pageLines) }
    }

    /// Every line of a list, page by page; `read` returns the page after a line.
    func forEach<Line>(
        _ take: (Line) async throws -> Void,
        of read: (Line?) async throws -> [Line]
    ) async throws {
        var last: Line?
        repeat {
            let page = try await read(last)
            for line in page { try await take(line) }
            last = page.count < Ledger.pageLines ? nil : page.last
        } while last != nil
    }
}
