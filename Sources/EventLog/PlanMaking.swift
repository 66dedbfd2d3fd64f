internal import Events
internal import Postgres

/// Makes the plan of a commit from a batch: reads what is known, checks the clocks, decides.
struct PlanMaking: Sendable {
    /// Stamps commits instead of the server's clock: for tests and demonstrations; nil otherwise.
    let clock: (@Sendable () -> Instant)?
    /// How far our clock, or the newest commit, may be from the server's clock.
    let clockSkewMillisecondsMax: Int64
    /// Gives the salt of each row.
    let salt: @Sendable () -> Salt

    /// The plan for a batch against `head`; throws where clocks or numbers do not fit.
    func plan(
        _ batch: [Submission],
        _ lookUp: AppendLookUp,
        head: LaneHead,
        in session: isolated PostgresSession
    ) throws -> AppendPlan {
        guard head.hasRoom else {
            throw EventLogError(
                .malformedLog,
                "append: the newest commit of lane \(head.lane) has number \(head.commitNumber) and "
                    + "ends at offset \(head.offset), which no writer of this program made; nothing "
                    + "was written. Run `subledger verify`"
            )
        }
        guard head.format <= LedgerIdentity.format else {
            throw EventLogError(
                .schemaTooNew,
                "append: the newest commit of lane \(head.lane) has format \(head.format), and this "
                    + "program writes format \(LedgerIdentity.format); nothing was written. Use a "
                    + "newer subledger"
            )
        }
        let found = try session.pipeline(lookUp.statements)
        let (known, serverNow) = try lookUp.knowledge(in: found, session)
        let now: Instant
        if let clock {
            now = clock()
        } else {
            now = serverNow
            try check(serverNow, ours: .systemClock(), head: head)
        }
        var decision = AppendDecision(head: head, known: known, now: now, salt: salt)
        return decision.plan(batch)
    }

    // One ingest by a clock of 2099 would stamp every later commit with 2099.
    private func check(_ server: Instant, ours: Instant, head: LaneHead) throws(EventLogError) {
        let limit = clockSkewMillisecondsMax
        let skew = abs(ours.milliseconds - server.milliseconds)
        guard skew <= limit else {
            throw EventLogError(
                .clockSkew,
                "append: this machine's clock says \(ours), the database server's \(server); they "
                    + "may differ by \(limit / 1000) s, and nothing was written. Set the clocks "
                    + "(both by NTP), or allow more with SUBLEDGER_CLOCK_SKEW_SECONDS_MAX"
            )
        }
        let ahead = head.committedAt.milliseconds.addingWithinRange(-server.milliseconds)
        guard ahead <= limit else {
            throw EventLogError(
                .clockSkew,
                "append: the newest commit of lane \(head.lane) was stamped \(head.committedAt), the "
                    + "database server's clock says \(server); a commit may be \(limit / 1000) s ahead "
                    + "of it, and nothing was written. Set the server's clock if it is wrong. If the "
                    + "commit was stamped by a wrong clock, allow more with "
                    + "SUBLEDGER_CLOCK_SKEW_SECONDS_MAX: later commits bear its time until the clock "
                    + "passes it, and `--known-at` a time cannot tell them apart"
            )
        }
    }
}
