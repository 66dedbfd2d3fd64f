internal import Events
internal import Postgres

// How the rows of a commit are written, and the check that the server stored all of them.
extension AppendInsert {
    /// Whether the events are written by COPY, which does not fit into one flush with the rest.
    var copies: Bool { plan.events.count >= AppendInsert.copyEventsMin }

    /// Writes the rows as one transaction: in one round trip, unless it uses COPY.
    ///
    /// Throws `rowsDropped` if the server stored fewer rows than were sent, and stores none.
    func run(in session: isolated PostgresSession) throws {
        guard !copies else {
            try session.atomically { session in try write(in: session) }
            return
        }
        do {
            try session.pipelineTransaction(allStatements + [check])
        } catch {
            if isIncomplete(error) { throw AppendInsert.rowsDropped }
            throw error
        }
    }

    /// Writes the rows inside an open transaction.
    func write(in session: isolated PostgresSession) throws {
        do {
            try session.pipeline(copies ? statements : allStatements + [check])
        } catch {
            if isIncomplete(error) { throw AppendInsert.rowsDropped }
            throw error
        }
        guard copies else { return }
        let stored = try session.copyIn(AppendInsert.copyEvent, from: plan.events.startIndex) {
            [plan] index, writer throws(PostgresError) in
            guard index < plan.events.endIndex else { return false }
            writer.row(AppendInsert.row(of: plan.events[index]))
            index += 1
            return true
        }
        guard stored == plan.events.count else { throw AppendInsert.rowsDropped }
        do {
            try session.pipeline([check])
        } catch {
            if error.sqlState == "22012" { throw AppendInsert.rowsDropped }
            throw error
        }
    }

    private static var rowsDropped: EventLogError {
        EventLogError(
            .rowsDropped,
            "append: the server did not store all rows that it was sent, so nothing was appended: a "
                + "trigger, a rule or a policy on a table of the ledger drops them. "
                + "`subledger doctor` names it, and `subledger migrate` removes it"
        )
    }

    // A division by zero, which needs no function, unless all rows are there. The last statement of
    // the transaction, in the same round trip.
    private var check: PostgresStatement {
        let commit = plan.commit
        return PostgresStatement(
            AppendInsert.isStored,
            [
                .int4(Int32(commit.lane)), .int8(commit.number), .int8(commit.firstOffset),
                .int8(commit.lastOffset), .int8(Int64(commit.count)), .int8(commit.firstEvidence),
                .int8(commit.lastEvidence), .int8(Int64(commit.evidence)),
                .int8(Int64(commit.confirmations)),
            ]
        )
    }

    /// Whether the server stored fewer rows than were sent: a trigger or a rule of someone dropped
    /// them.
    func isIncomplete(_ error: PostgresError) -> Bool {
        error.sqlState == "22012" && error.statementIndex == allStatements.count
    }

    private static let isStored = """
        SELECT 1 / (CASE WHEN count(*) = 1
            AND (SELECT count(*) FROM ledger.event
                WHERE lane = $1 AND lane_offset BETWEEN $3 AND $4) = $5
            AND (SELECT count(*) FROM ledger.evidence
                WHERE lane = $1 AND evidence_no BETWEEN $6 AND $7) = $8
            AND ($9 = 0 OR (SELECT count(*) FROM ledger.confirmation
                WHERE lane = $1 AND commit_no = $2) = $9)
            THEN 1 ELSE 0 END)
        FROM ledger.commit WHERE lane = $1 AND commit_no = $2
        """
}
