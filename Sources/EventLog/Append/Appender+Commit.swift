internal import Events
internal import Postgres

/// The statements of one append: look up, decide, insert.
extension Appender {
    /// The most segments remembered for each lane before its memory is cleared: each is 32 bytes,
    /// and a ledger of one app sees a handful a year.
    static let storedSegmentsMax = 10_000

    /// Uses one round trip to look up and one to commit, and one between them if the ledger has a
    /// directory of lanes; the primary keys refuse the commit if another writer was faster.
    func commitOptimistic(
        _ lookUp: AppendLookUp,
        _ batch: [Submission],
        head: LaneHead,
        by deadline: Deadline
    ) async throws(AppenderFailure) -> AppendPlan {
        let session = try await connected(by: deadline)
        let stored = stored[head.lane, default: SharedParts()]
        let isPlanStale = isPlanStale(at: head.offset)
        let (making, ledgerId) = (making, identity.ledgerId)
        let start = ContinuousClock.now
        do {
            let (plan, shared) = try await session.together {
                session -> (AppendPlan, SharedParts) in
                session.setDeadline(deadline)
                if isPlanStale { try session.execute("DISCARD PLANS") }
                let plan = try making.plan(batch, lookUp, head: head, in: session)
                guard !plan.isEmpty else {
                    try session.query(AppendSQL.waitForStandbys)
                    return (plan, SharedParts())
                }
                try LaneDirectory.announce(plan, in: session)
                let insert = AppendInsert(plan, stored: stored, ledgerId: ledgerId)
                try insert.run(in: session)
                return (plan, insert.shared)
            }
            remember(shared, of: head.lane)
            return plan
        } catch {
            throw await failure(error, since: start)
        }
    }

    /// The same while holding a lock on the lane's row, for a writer that keeps losing the race.
    func commitLocked(
        _ lookUp: AppendLookUp,
        _ batch: [Submission],
        lane: Int,
        genesis: Digest,
        by deadline: Deadline
    ) async throws(AppenderFailure) -> AppendPlan {
        let session = try await connected(by: deadline)
        await session.setDeadline(deadline)
        let stored = stored[lane, default: SharedParts()]
        let (making, ledgerId) = (making, identity.ledgerId)
        var announced: AppendPlan?
        var start = ContinuousClock.now

        do {
            while true {
                do {
                    let (plan, shared) = try await session.atomically {
                        [announced] session -> (AppendPlan, SharedParts) in
                        try session.query(AppendSQL.lockLane, [.int4(Int32(lane))])
                        let head = try AppendSQL.head(
                            in: session.query(AppendSQL.readHead, [.int4(Int32(lane))]),
                            lane: lane,
                            genesis: genesis
                        )
                        // The lane is unchanged, so the plan still is what would be decided.
                        let plan =
                            if let announced, announced.previous == head.digest {
                                announced
                            } else {
                                try making.plan(batch, lookUp, head: head, in: session)
                            }
                        let insert = AppendInsert(plan, stored: stored, ledgerId: ledgerId)
                        guard try Appender.write(plan, insert, announced, in: session) else {
                            return (plan, SharedParts())
                        }
                        return (plan, insert.shared)
                    }
                    remember(shared, of: lane)
                    return plan
                } catch let error as Unannounced {
                    try await session.together { session in
                        try LaneDirectory.announce(error.plan, in: session)
                    }
                    announced = error.plan
                    start = .now
                }
            }
        } catch {
            throw await failure(error, since: start)
        }
    }

    // Whether there was anything to write.
    private static func write(
        _ plan: AppendPlan,
        _ insert: AppendInsert,
        _ announced: AppendPlan?,
        in session: isolated PostgresSession
    ) throws -> Bool {
        guard !plan.isEmpty else {
            try session.query(AppendSQL.waitForStandbys)
            return false
        }
        guard plan.directoryKeys == nil || plan.digest == announced?.digest else {
            throw Unannounced(plan: plan)
        }
        try insert.write(in: session)
        return true
    }

    /// A plan that must be announced before it is written.
    private struct Unannounced: Error { let plan: AppendPlan }

    /// The newest commit of a lane; the genesis if there is none.
    func readHead(
        of lane: Int,
        genesis: Digest,
        by deadline: Deadline
    ) async throws(AppenderFailure) -> LaneHead {
        let session = try await connected(by: deadline)
        await session.setDeadline(deadline)
        do {
            let rows = try await session.query(AppendSQL.readHead, [.int4(Int32(lane))])
            return try AppendSQL.head(in: rows, lane: lane, genesis: genesis)
        } catch {
            throw await failure(error, isUnknown: false)
        }
    }

    // The look-up is planned once per session, for the size that the table has then. On a young
    // log, before the first ANALYZE, the planner may consider a scan of the whole lane as good as a
    // probe of the wide index, so the plan is renewed whenever the log has doubled.
    private func isPlanStale(at offset: Int64) -> Bool {
        guard let planned = plannedOffset else {
            plannedOffset = offset
            return false
        }
        guard offset / 2 >= max(planned, Appender.planRowsMin) else { return false }
        plannedOffset = offset
        return true
    }

    private func remember(_ shared: SharedParts, of lane: Int) {
        guard !shared.isEmpty else { return }
        if stored[lane, default: SharedParts()].segments.count > Appender.storedSegmentsMax {
            stored[lane] = nil
        }
        stored[lane, default: SharedParts()].formUnion(shared)
    }

    func connected(by deadline: Deadline) async throws(AppenderFailure) -> PostgresSession {
        do {
            return try await opened(by: deadline)
        } catch {
            throw await failure(error, isUnknown: false)
        }
    }

    /// The connection, opened if there is none.
    func opened(by deadline: Deadline) async throws -> PostgresSession {
        if let session { return session }
        let session = try await PostgresSession.connect(settings, by: deadline)
        await session.setDeadline(deadline)
        try await session.execute(
            AppendSQL.prepareSession(
                hasOwnClock: making.clock != nil,
                secondsMax: limits.secondsMax
            )
        )
        self.session = session
        plannedOffset = nil
        return session
    }

    // An attempt that took so long may have waited for a lock with a time that is no longer that of
    // the server; a faster one was refused for what it contains.
    private static let staleAfter = Duration.seconds(1)

    func failure(
        _ error: any Error,
        isUnknown: Bool = true,
        since start: ContinuousClock.Instant? = nil
    ) async -> AppenderFailure {
        if let stale = error as? LaneDirectory.StaleHead, let session {
            do {
                try await session.together { try stale.resetIfAhead(in: $0) }
                return .lostRace
            } catch {
                return await failure(error, isUnknown: isUnknown)
            }
        }
        guard let error = error as? PostgresError else {
            let known = error as? EventLogError
            if known?.code == .rowsDropped {
                // A plan that a rule has emptied depends on no table any more, so it would outlive the
                // rule.
                await session?.close()
                session = nil
            }
            return .refused(known ?? EventLogError(.database, "append: \(error)"))
        }

        if AppendInsert.isLostRace(error) { return .lostRace }
        if error.sqlState == "LG003", let start, start.duration(to: .now) > Appender.staleAfter {
            return .lostRace
        }
        if AppendInsert.isCatalogTaken(error) { return .catalogTaken }
        if AppendInsert.isSharedPartTaken(error) { return .sharedPartTaken }
        if AppendInsert.isPlaceTaken(error) {
            return .refused(AppendInsert.placeTaken(error, doing: "append"))
        }

        var cause = EventLogError(error, doing: "append")
        if error.sqlState == "57014" {
            // Cancelled from outside: by an operator, or by a limit that is not ours. This is not a
            // fault of the batch, so the batch must not be split.
            cause = EventLogError(.databaseUnavailable, cause.message)
        }
        // A disk that is full stays so for longer than an append may wait.
        guard cause.isRetryable, cause.code != .diskFull else { return .refused(cause) }
        await session?.close()
        session = nil
        let isLost = [.connectionLost, .deadlinePassed].contains(error.code)
        return .connectionLost(cause, isUnknown: isUnknown && isLost)
    }
}
