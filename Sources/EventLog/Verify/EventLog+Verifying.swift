import Events
internal import Postgres

extension EventLog {
    /// Recomputes every digest of the log from its rows, evidence included, in bounded memory.
    ///
    /// The report does not depend on the number of jobs. Commits made while this runs may or may
    /// not be verified, but are never reported as a mismatch.
    ///
    /// - Parameters:
    ///   - options: What to compare, and where to start.
    ///   - progress: Called with the number of events verified so far, from any thread.
    /// - Returns: What matched, and the first mismatch of each lane.
    /// - Throws: `databaseUnavailable`; a mismatch is a result, not an error.
    package func verify(
        _ options: VerificationOptions = VerificationOptions(),
        progress: @escaping @Sendable (Int64) -> Void = { _ in }
    ) async throws(EventLogError) -> VerificationReport {
        let verification = ChainVerification(
            identity: identity,
            sources: evidenceSources,
            pool: pool,
            rangeRowsMax: options.rangeRowsMax,
            jobs: max(1, min(options.jobs ?? readersMax, readersMax))
        )
        do {
            return try await verification.report(options, progress: progress)
        } catch {
            throw await failure(error, doing: "verify the log")
        }
    }
}

extension ChainVerification {
    fileprivate func report(
        _ options: VerificationOptions,
        progress: @escaping @Sendable (Int64) -> Void
    ) async throws -> VerificationReport {
        let started = try await pool.borrowing { try await self.lanes(since: options.since, $0) }
        let lanes = try await run(started, progress: progress)
        return try await pool.borrowing { session in
            var report = VerificationReport()
            report.since = options.since
            report.events = lanes.reduce(0) { $0 + $1.events }
            report.commits = lanes.reduce(0) { $0 + $1.commits }
            report.erasedEvents = lanes.reduce(0) { $0 + Int64($1.erased.events.count) }
            report.mismatches = try await mismatches(of: lanes, session)
            let wrong = Set(report.mismatches.map(\.lane))
            report.heads = lanes.map(\.end)
                .filter { $0.commit > 0 && !wrong.contains($0.lane) }
                .map(VerificationReport.Head.init)
            try await compare(options, lanes, into: &report, session)
            return report
        }
    }

    private func mismatches(
        of lanes: [Lane],
        _ session: PostgresSession
    ) async throws -> [VerificationReport.Mismatch] {
        let whole = lanes.filter { $0.mismatch == nil }.map(\.start.lane)
        let extra = try await UnaccountedRows.find(in: whole, session)
        let erasures = try await RecordedErasures(of: identity.lanes, session)
        var mismatches: [VerificationReport.Mismatch] = []
        for lane in lanes {
            let known = lane.mismatch ?? extra[lane.start.lane]
            if let known {
                mismatches.append(known)
            } else if let fault = try await erasures.fault(
                lane: lane.start.lane,
                lane.erased,
                offsets: lane.start.offset + 1..<lane.end.offset + 1,
                session
            ) {
                mismatches.append(fault)
            }
        }

        if let lane = try await LogVerifier.otherLane(than: identity.lanes, in: session) {
            let reason = "this ledger has \(identity.lanes.value) lanes, from 0"
            mismatches.append(VerificationReport.Mismatch(lane: lane, commit: 1, reason: reason))
        }
        if mismatches.isEmpty,
            try await LogVerifier.laneRowCount(in: session) != identity.lanes.value
        {
            let reason = "ledger.lane must have one row for each of \(identity.lanes.value) lanes"
            mismatches.append(VerificationReport.Mismatch(lane: 0, commit: 1, reason: reason))
        }
        return mismatches.sorted { $0.lane < $1.lane }
    }

    private func compare(
        _ options: VerificationOptions,
        _ lanes: [Lane],
        into report: inout VerificationReport,
        _ session: PostgresSession
    ) async throws {
        var comparison = KeptHeadsComparison(identity, lanes)
        report.kept = try await comparison.compare(options.kept, session)
        // A head that the log does not contain is reported by itself.
        report.mismatches += try await BackdatedCommits.find(
            after: report.kept.filter { $0.kept.identity == identity && $0.isOK }.map(\.kept),
            lanes: identity.lanes,
            session
        )
        var rows = StoredCheckpoints(since: options.since, knownKeys: options.publicKeys)
        while let page = try await rows.next(session) {
            report.storedCheckpoints += Int64(page.kept.count + page.damaged.count)
            report.storedCheckpointsOfKnownKeys += Int64(page.kept.filter(\.isOutside).count)
            let results = try await comparison.compare(page.kept, session)
            report.kept += results.filter { !$0.isOK && $0.kept.isOutside }
            let contradicting = results.filter { !$0.isOK && !$0.kept.isOutside }
                .map(\.kept.source)
            let passedOver =
                page.damaged + page.datedLater
                + contradicting.filter { !page.datedLater.contains($0) }
            report.passedOver += passedOver.prefix(
                VerificationReport.passedOverMax - report.passedOver.count
            )
        }
        report.evidence = comparison.evidence
    }
}
