public import AppStore
public import EventLog
public import Events

extension Ledger {
    /// The channel under which `ingestQuality` counts what is taken in again.
    public static let retrySource = "retry"

    /// Takes in again what was refused and not taken in since, in the order in which it came.
    ///
    /// What is taken now is marked as such. What is refused again stays open, under the new reason
    /// too where that is another; so does a payload of which something is left out because nothing
    /// proves it. The facts keep the channel by which, the time at which and the way in which (live
    /// or by an import) the payload first came. A payload that is not kept whole is refused with `body-not-kept`.
    ///
    /// - Parameters:
    ///   - filter: Which rejections.
    ///   - voucher: Who stands behind what is not signed.
    ///   - clock: Our clock.
    ///   - isStopped: Asked before each page; true finishes what is under way and returns.
    ///   - progress: Receives the progress after each payload.
    /// - Returns: What became of all of them.
    /// - Throws: `EventLogError`.
    public func retryRejections(
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
        last = page.last ?? last
        return page.isEmpty ? nil : page.map(LocatedPayload.init)
    }
}
