public import AppStore
public import EventLog
public import Events

extension Ledger {
    /// Payloads that are verified or appended at once.
    ///
    /// What waits while one commit is flushed is the next one, so there must be enough to fill it.
    public static let ingestWindow = 512

    /// Bytes of payloads that are held at once, so that memory is bounded whatever their size.
    public static let ingestBytesMax = 64 << 20

    /// Takes in payloads, many at a time, in bounded memory.
    ///
    /// A payload that is refused does not stop the others. An error of the log stops everything;
    /// what was appended before it stays, and taking in the same payloads again completes the work.
    ///
    /// - Parameters:
    ///   - next: Gives the next payload; nil after the last.
    ///   - source: The channel they came by.
    ///   - voucher: Who stands behind what is not signed.
    ///   - clock: Our clock.
    ///   - isStopped: Asked before each payload; true finishes what is under way and returns.
    ///   - progress: Told the report so far, after each payload.
    /// - Returns: What became of all of them.
    /// - Throws: `EventLogError`, or what `next` threw.
    public func ingest(
        next: () throws -> LocatedPayload?,
        source: String,
        voucher: Voucher = .nobody,
        clock: @escaping @Sendable () -> Instant = { .systemClock() },
        isStopped: () -> Bool = { false },
        progress: (IngestReport) -> Void = { _ in }
    ) async throws -> IngestReport {
        var report = IngestReport()
        try await withThrowingTaskGroup(of: Ingested.self) { group in
            var payloads = 0
            var bytes = 0
            func finishOne() async throws {
                guard let ingested = try await group.next() else { return }
                payloads -= 1
                bytes -= ingested.byteCount
                ingested.count(in: &report)
                progress(report)
            }
            while let located = try next() {
                guard !isStopped() else {
                    report.wasStopped = true
                    break
                }
                while payloads >= Ledger.ingestWindow
                    || (payloads > 0 && bytes + located.byteCount > Ledger.ingestBytesMax)
                {
                    try await finishOne()
                }
                payloads += 1
                bytes += located.byteCount
                group.addTask { try await ingest(located, source, voucher, clock()) }
            }
            while payloads > 0 { try await finishOne() }
        }
        return report
    }

    private func ingest(
        _ located: LocatedPayload,
        _ source: String,
        _ voucher: Voucher,
        _ now: Instant
    ) async throws -> Ingested {
        let verified: VerifiedPayload
        do throws(Rejection) {
            verified = try verifier.verify(
                payload: try located.payload.get(),
                source: source,
                receivedAt: now,
                voucher: voucher
            )
        } catch {
            return Ingested(located, .failure(error))
        }
        return Ingested(located, .success(try await append(verified)))
    }
}

extension LocatedPayload {
    fileprivate var byteCount: Int {
        switch payload {
        case .success(let bytes): bytes.count
        case .failure: 0
        }
    }
}

/// One payload's fate.
private struct Ingested: Sendable {
    let path: String
    let byteCount: Int
    let outcome: Result<Ledger.Ingestion, Rejection>

    init(_ located: LocatedPayload, _ outcome: Result<Ledger.Ingestion, Rejection>) {
        path = located.path
        byteCount = located.byteCount
        self.outcome = outcome
    }

    func count(in report: inout IngestReport) {
        switch outcome {
        case .success(let ingestion): report.take(ingestion, at: path)
        case .failure(let rejection): report.refuse(path, rejection)
        }
    }
}
