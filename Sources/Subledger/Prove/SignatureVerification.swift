package import AppStore
package import EventLog
package import Events

/// Verifies every stored payload again, offline, from the evidence alone.
///
/// The chain of digests proves that nothing was changed since it was committed; this proves that
/// what was committed is what Apple signed. A signed payload must verify to exactly the root that
/// its record names; one that was accepted on other trust is decoded again. Either way, every event
/// that cites it must be among the facts it gives.
package struct SignatureVerification: Sendable {
    private let log: EventLog
    private let roots: [RootCertificate]
    private let jobs: Int

    /// A verification of that log.
    ///
    /// - Parameters:
    ///   - log: The log.
    ///   - roots: The certificates that chains may end at: Apple's, and any others that the
    ///     ledger's payloads were verified with.
    ///   - jobs: The number of cores to verify on; at least one.
    package init(log: EventLog, roots: [RootCertificate], jobs: Int) {
        self.log = log
        self.roots = roots
        self.jobs = max(1, jobs)
    }

    /// Verifies what is committed now; memory does not grow with the log.
    ///
    /// The result does not depend on the number of jobs: pages are checked concurrently, and
    /// counted in the order of the log.
    ///
    /// - Parameters:
    ///   - since: Start after this checkpoint of the log; nil for the whole log.
    ///   - progress: Called from time to time with the number of payloads verified so far.
    /// - Returns: What was proven, and the first event that was not; the rest is not checked.
    /// - Throws: `EventLogError` if the log cannot be read.
    package func run(
        since: Checkpoint? = nil,
        progress: @Sendable (Int64) -> Void = { _ in }
    ) async throws -> SignatureReport {
        var pages = PageReader(log: log, heads: try await log.heads(), since: since)
        let prover = PayloadProver(
            roots: roots,
            erasures: try await log.explainingErasures()
        )
        var report = SignatureReport()

        try await withThrowingTaskGroup(of: (number: Int, result: PageResult).self) { group in
            var waiting: [Int: PageResult] = [:]
            var (started, counted) = (0, 0)
            while true {
                // A page that finishes early waits for its turn, so it counts as still in progress.
                while started - counted < jobs, report.isOK, let page = try await pages.next() {
                    let number = started
                    group.addTask { (number, prover.judge(page)) }
                    started += 1
                }
                guard let (number, result) = try await group.next() else { break }
                waiting[number] = result
                while let next = waiting.removeValue(forKey: counted) {
                    report.take(next)
                    counted += 1
                }
                progress(report.payloads)
            }
        }
        return report
    }
}

/// Reads the log page by page, lane after lane.
private struct PageReader {
    private let log: EventLog
    private let heads: [(lane: Int, head: EventLog.Head)]
    private let starts: [Int: Int64]
    private var index = 0
    private var commit: Int64?

    init(log: EventLog, heads: [Int: EventLog.Head], since: Checkpoint?) {
        self.log = log
        self.heads = heads.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        starts = Dictionary((since?.heads ?? []).map { ($0.lane, $0.commit) }) { $1 }
    }

    /// The next page; nil after the last.
    mutating func next() async throws(EventLogError) -> CitedPayloadPage? {
        while index < heads.count {
            let (lane, head) = heads[index]
            let after = commit ?? starts[lane] ?? 0
            if let page = try await log.citedPayloads(lane: lane, after: after, upTo: head) {
                commit = page.lastCommit
                return page
            }
            index += 1
            commit = nil
        }
        return nil
    }
}
