internal import Events
internal import Postgres

extension EventLog {
    /// Recomputes every digest of the log from its rows, evidence included, in bounded memory.
    ///
    /// - Parameters:
    ///   - kept: Heads that an earlier verification printed; the log must still contain them.
    ///   - progress: Told the number of events verified so far, now and then.
    /// - Returns: What matched, and the first thing that does not.
    /// - Throws: `databaseUnavailable`; a mismatch is a result, not an error.
    public func verify(
        kept: [VerificationReport.Head] = [],
        progress: @escaping @Sendable (Int64) -> Void = { _ in }
    ) async throws(EventLogError) -> VerificationReport {
        let heads = Dictionary(kept.map { ($0.lane, $0) }) { $1 }
        let (identity, dictionaries) = (identity, dictionaries)
        return try await reading("verify the log") { session in
            var report = VerificationReport()
            for lane in 0..<identity.lanes.value {
                var verifier = LogVerifier(
                    lane: lane,
                    identity: identity,
                    dictionaries: dictionaries,
                    session: session,
                    kept: heads[lane]
                )
                do {
                    try await verifier.run(into: &report, progress: progress)
                } catch let mismatch as VerificationReport.Mismatch {
                    report.firstMismatch = mismatch
                    return report
                }
            }
            let others = try await LogVerifier.otherLane(than: identity.lanes, in: session)
            if let lane = heads.keys.filter({ $0 >= identity.lanes.value }).min() ?? others {
                report.firstMismatch = VerificationReport.Mismatch(
                    lane: lane,
                    commit: 1,
                    offset: nil,
                    reason: "this ledger has \(identity.lanes.value) lanes, from 0"
                )
            }
            if report.isOK, try await LogVerifier.lanesThere(in: session) != identity.lanes.value {
                report.firstMismatch = VerificationReport.Mismatch(
                    lane: 0,
                    commit: 1,
                    offset: nil,
                    reason:
                        "ledger.lane must have one row for each of \(identity.lanes.value) lanes"
                )
            }
            return report
        }
    }
}
