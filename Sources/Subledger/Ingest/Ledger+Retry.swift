package import AppStore
package import EventLog
package import Events

extension Ledger {
    /// The channel under which `ingestQuality` counts retried payloads.
    package static let retrySource = "retry"

    /// Ingests refused payloads again that were not accepted since, in the order in which they
    /// arrived.
    ///
    /// Payloads that are accepted now are marked as such. Those refused again stay open, also under
    /// the new reason if it differs; so does a payload with a statement left out because nothing
    /// proves it. The facts keep the payload's original channel, time and arrival (live or through
    /// an import). A payload that is not kept whole is refused with `body-not-kept`.
    ///
    /// - Parameters:
    ///   - filter: Which rejections.
    ///   - voucher: Who vouches for what is not signed.
    ///   - clock: Our clock.
    ///   - isStopped: Called before each page; true finishes what is under way and returns.
    ///   - progress: Receives the progress after each payload.
    /// - Returns: The outcomes of all of them.
    /// - Throws: `EventLogError`.
    package func retryRejections(
        _ filter: RejectionFilter = RejectionFilter(),
        voucher: Voucher = .unvouched,
        clock: @escaping @Sendable () -> Instant = { .systemClock() },
        isStopped: () -> Bool = { false },
        progress: (IngestReport.Progress) -> Void = { _ in }
    ) async throws -> IngestReport {
        let startedAt = clock()
        let pages = OpenRejections(log, filter, except: startedAt)
        let channel = Channel(
            source: Ledger.retrySource,
            arrival: .imported,
            voucher: voucher,
            startedAt: startedAt,
            mayHaveRefused: true,
            clock: clock
        )
        return try await ingest({ try await pages.next() }, by: channel, isStopped, progress)
    }
}

/// Open rejections, page by page.
private actor OpenRejections {
    private let log: EventLog
    private let filter: RejectionFilter
    private let startedAt: Instant
    private var last: OpenRejection?

    /// Rejections of a page, each with up to `RejectedPayload.bodyByteCountMax` bytes.
    private static let pageCount = 32

    init(_ log: EventLog, _ filter: RejectionFilter, except startedAt: Instant) {
        self.log = log
        self.filter = filter
        self.startedAt = startedAt
    }

    func next() async throws -> [LocatedPayload]? {
        let page = try await log.openRejections(
            filter,
            except: startedAt,
            after: last,
            limit: OpenRejections.pageCount
        )
        // A role that may insert could date one so that it follows itself.
        guard let newest = page.last,
            newest.place != last?.place || newest.original.digest != last?.original.digest
        else { return nil }
        last = newest
        return page.map(LocatedPayload.init)
    }
}
