internal import Events
internal import Postgres

extension EventLog {
    /// Why an append would fail now; nil if it would be accepted.
    ///
    /// A recent commit shows that it would. Otherwise this does what an append does first, without
    /// writing to the log, on the connection of the appends: it takes the locks of an append and of
    /// the recording of a rejection, writes a temporary file on the server, compares the clocks, and
    /// looks whether the place of the next event is free.
    ///
    /// - Parameters:
    ///   - freshSeconds: For how long a commit shows that appends work.
    ///   - waitSeconds: How long the database may take before appends count as failing.
    /// - Returns: The error that an append would get.
    package func appendFault(
        freshSeconds: Double = 1,
        waitSeconds: Double = 2
    ) async -> EventLogError? {
        for appender in appenders {
            do {
                try await appender.probe(freshSeconds: freshSeconds, waitSeconds: waitSeconds)
            } catch let error as EventLogError {
                return error
            } catch {
                return await failure(error, doing: "append")
            }
        }
        return nil
    }
}

extension Appender {
    /// Throws the error that an append would get now.
    func probe(freshSeconds: Double, waitSeconds: Double) async throws {
        switch signs.finding(freshSeconds: freshSeconds, waitSeconds: waitSeconds) {
        case .works: return
        case .fails(let error): throw error
        case .unknown: break
        }

        let deadline = Deadline(after: .seconds(waitSeconds + AppendProbe.connectSecondsMax))
        // A server that has restarted since the last append ended the connection.
        if let session, await !session.isReusable { drop(session) }
        let session = try await opened(by: deadline)
        let (lanes, making) = (identity.lanes.value, making)
        do {
            try await session.together { session in
                // Before the transaction begins, because the limit of the last use has long passed.
                session.setDeadline(deadline)
                try session.atomically { session in
                    try session.execute(AppendProbe.locks(secondsMax: waitSeconds))
                    let rows = try session.pipeline([
                        PostgresStatement(AppendProbe.writeFile),
                        PostgresStatement(AppendProbe.clock),
                        PostgresStatement(AppendProbe.newest, [.int4(Int32(lanes))]),
                        PostgresStatement(AppendProbe.taken, [.int4(Int32(lanes))]),
                    ])
                    if let row = rows[3].first { throw AppendProbe.placeTaken(try row.int4(0)) }
                    try AppendProbe.check(rows[1], rows[2], making)
                }
            }
        } catch let error as PostgresError where error.sqlState == "55P03" {
            throw AppendProbe.locked
        } catch {
            if await session.isBroken { drop(session) }
            throw error
        }
    }

    private func drop(_ broken: PostgresSession) {
        if session === broken { session = nil }
    }
}

/// What a probe of the append path asks the database.
private enum AppendProbe {
    /// Seconds for a connection: whoever reads the metrics waits for ten in all.
    static let connectSecondsMax = 2.0

    // Locking assigns no transaction id, so the commit writes nothing. In the order in which an
    // append and a repair lock the tables.
    static func locks(secondsMax: Double) -> String {
        """
        SET LOCAL lock_timeout = \(max(1, Int(secondsMax * 1000)));
        SET LOCAL work_mem = '64kB';
        LOCK TABLE ledger.commit, ledger.root_certificate, ledger.evidence_segment,
            ledger.evidence, ledger.confirmation, ledger.event, ledger.rejection,
            ledger.rejection_taken
            IN ROW EXCLUSIVE MODE
        """
    }

    // More rows than fit in the memory that `locks` leaves go to a file in the data folder.
    static let writeFile = "SELECT count(*) FROM generate_series(1, 20000) AS g"

    static let clock = "SELECT clock_timestamp()"

    static let newest = """
        SELECT l.lane, c.committed_at
        FROM ledger.lane AS l CROSS JOIN LATERAL (
            SELECT committed_at FROM ledger.commit
            WHERE lane = l.lane ORDER BY commit_no DESC LIMIT 1) AS c
        WHERE l.lane < $1 ORDER BY c.committed_at DESC LIMIT 1
        """

    static let taken = """
        SELECT l.lane
        FROM ledger.lane AS l
        LEFT JOIN LATERAL (
            SELECT first_offset + count AS next_offset FROM ledger.commit
            WHERE lane = l.lane ORDER BY commit_no DESC LIMIT 1) AS c ON true
        JOIN ledger.event AS e ON e.lane = l.lane AND e.lane_offset = coalesce(c.next_offset, 1)
        WHERE l.lane < $1 LIMIT 1
        """

    static func placeTaken(_ lane: Int32) -> EventLogError {
        EventLogError(
            .malformedLog,
            "append: lane \(lane) has an event that no commit accounts for, in the place of the next "
                + "one. `subledger verify` names it, and `subledger repair` removes it"
        )
    }

    static func check(
        _ clock: PostgresRows,
        _ newest: PostgresRows,
        _ making: PlanMaking
    ) throws {
        guard making.clock == nil else { return }
        let row = newest.first
        try making.check(
            Instant(microseconds: try clock.single().timestamptz(0)),
            newest: Instant(microseconds: try row?.timestamptz(1) ?? 0),
            ofLane: Int(try row?.int4(0) ?? 0)
        )
    }

    static let locked = EventLogError(
        .tableInUse,
        "append: another session holds a lock on a table of the log, for which appends wait. "
            + "pg_locks and pg_stat_activity show who"
    )
}
