internal import Events
internal import Postgres

/// Makes the plan of a commit from a batch: reads what is known, checks the clocks, decides.
struct PlanMaking: Sendable {
    /// Stamps commits instead of the server's clock: for tests and demonstrations; nil otherwise.
    let clock: (@Sendable () -> Instant)?
    /// How far our clock, or the newest commit, may be from the server's clock.
    let clockSkewMillisecondsMax: Int64
    /// Returns the salt of each row.
    let salt: @Sendable () -> Salt

    /// The plan for a batch against `head`; throws if clocks or numbers do not fit.
    func plan(
        _ batch: [Submission],
        _ lookUp: AppendLookUp,
        head: LaneHead,
        in session: isolated PostgresSession
    ) throws -> AppendPlan {
        guard head.hasRoom else {
            throw EventLogError(
                .malformedLog,
                "append: the newest commit of lane \(head.lane) has number \(head.commitNumber) "
                    + "and ends at offset \(head.offset), which this program cannot have written; "
                    + "nothing was appended. Run `subledger verify`"
            )
        }
        guard head.format <= LedgerIdentity.format else {
            throw EventLogError(
                .schemaTooNew,
                "append: the newest commit of lane \(head.lane) has format \(head.format), but "
                    + "this program writes format \(LedgerIdentity.format); nothing was written. "
                    + "Use a newer subledger"
            )
        }

        let found = try session.pipeline(lookUp.statements)
        let (known, serverNow) = try lookUp.knowledge(in: found, session)
        let now: Instant
        if let clock {
            now = clock()
        } else {
            now = serverNow
            try check(serverNow, newest: head.committedAt, ofLane: head.lane)
        }
        var decision = AppendDecision(
            head: head,
            lane: lookUp.lanes[head.lane],
            known: known,
            now: now,
            salt: salt
        )
        return decision.plan(batch)
    }

    /// Throws `clockSkew` if the server's clock is too far from ours, or behind the newest commit
    /// of a lane: one ingest with a clock set to 2099 would stamp every later commit with 2099.
    func check(
        _ server: Instant,
        newest: Instant,
        ofLane lane: Int
    ) throws(EventLogError) {
        let (ours, limit) = (Instant.systemClock(), clockSkewMillisecondsMax)
        let skew = abs(ours.milliseconds - server.milliseconds)
        guard skew <= limit else {
            throw EventLogError(
                .clockSkew,
                "append: the clock of this machine shows \(ours), the clock of the database server "
                    + "\(server). They may differ by at most \(limit / 1000) s; nothing was "
                    + "written. Synchronize both clocks (NTP), or raise the limit with "
                    + "SUBLEDGER_CLOCK_SKEW_SECONDS_MAX"
            )
        }
        let ahead = newest.milliseconds.addingWithinRange(-server.milliseconds)
        guard ahead <= limit else {
            throw EventLogError(
                .clockSkew,
                "append: the newest commit of lane \(lane) has the time \(newest), "
                    + "but the clock of the database server shows \(server). A commit may be at "
                    + "most \(limit / 1000) s ahead of that clock; nothing was written. If the "
                    + "server's clock is wrong, set it. If the time of the commit is wrong, raise "
                    + "the limit with SUBLEDGER_CLOCK_SKEW_SECONDS_MAX: later commits then get its "
                    + "time until the clock passes it, and `--known-at` with a time cannot "
                    + "separate them"
            )
        }
    }
}
