internal import Events
internal import Postgres

/// Recomputes the chain of a lane from the rows of the log, in bounded memory.
struct LogVerifier {
    /// Events after which a page of commits is full; a commit is never split.
    static let pageEventsMax = 1000

    /// Most events that a commit can have: a full batch, and one payload that overflows it.
    static let countMax = Appender.batchFactsMax + EventLog.factsPerPayloadMax

    let lane: Int
    let lanes: LaneCount
    let session: PostgresSession
    private let kept: VerificationReport.Head?
    private var previous: Digest
    private(set) var nextCommit: Int64 = 1
    private(set) var nextOffset: Int64 = 1
    private var nextEvidence: Int64 = 1
    private var committedAt = Instant(milliseconds: .min)
    var vault: EvidenceVault

    /// A verifier of one lane.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - identity: Where its chain starts.
    ///   - dictionaries: What payloads are deflated with.
    ///   - session: A connection that is used by nobody else meanwhile.
    ///   - kept: A head that an earlier verification printed, to be found again on the way.
    init(
        lane: Int,
        identity: LedgerIdentity,
        dictionaries: EvidenceDictionaries,
        session: PostgresSession,
        kept: VerificationReport.Head?
    ) {
        self.lane = lane
        lanes = identity.lanes
        self.session = session
        self.kept = kept
        previous = identity.genesis(lane: lane)
        vault = EvidenceVault(lane: lane, dictionaries, session: session)
    }

    /// Verifies the lane; throws the first `Mismatch`.
    ///
    /// `report` holds what matched until then. What is committed while this runs is verified too,
    /// or not, but never called a mismatch.
    mutating func run(
        into report: inout VerificationReport,
        progress: @Sendable (Int64) -> Void
    ) async throws {
        let head = try await headNow()
        while nextCommit <= head.commit {
            let page = try await readPage(upTo: head.commit)
            try verify(page, into: &report)
            progress(report.events)
        }
        try await verifyNothingElse(than: head)
        if let kept, kept.commit >= nextCommit {
            throw mismatch(
                kept.commit,
                "the kept head names it, but the log ends at commit \(nextCommit - 1): commits "
                    + "were removed, or an older copy was restored"
            )
        }
        if nextCommit > 1 {
            report.heads.append(
                VerificationReport.Head(
                    lane: lane,
                    offset: nextOffset - 1,
                    commit: nextCommit - 1,
                    digest: previous
                )
            )
        }
    }

    func mismatch(
        _ commit: Int64,
        _ reason: String,
        offset: Int64? = nil
    ) -> VerificationReport.Mismatch {
        VerificationReport.Mismatch(lane: lane, commit: commit, offset: offset, reason: reason)
    }
}

extension LogVerifier {
    private mutating func verify(
        _ page: Page,
        into report: inout VerificationReport
    ) throws(VerificationReport.Mismatch) {
        for (mark, microseconds) in page.commits {
            let commit = mark.commit
            try verifyOrder(of: commit)
            guard microseconds == commit.committedAt.microseconds else {
                throw mismatch(commit.number, "committed_at has a fraction of a millisecond")
            }
            var hasher = CommitHasher(after: previous, commit: commit)
            var cited: Set<Int64> = []
            for offset in commit.firstOffset..<commit.firstOffset + Int64(commit.count) {
                let (digest, evidence) = try digestOfEvent(at: offset, of: commit, in: page)
                hasher.update(digest)
                cited.insert(evidence)
            }
            let brought = page.confirmations[commit.number, default: []].sorted {
                $0.row.precedes($1.row)
            }
            for stored in brought {
                let (digest, evidence) = try digestOfConfirmation(stored, of: commit, in: page)
                hasher.update(digest)
                cited.formUnion(evidence)
            }
            let computed = hasher.digest()
            guard mark.digest == computed, brought.count == commit.confirmations else {
                throw mismatch(
                    commit.number,
                    "its digest is \(mark.digest), but its rows give \(computed): the commit, one of "
                        + "its events or confirmations, or a record of evidence was changed"
                )
            }
            guard cited.count == commit.evidence else {
                throw mismatch(
                    commit.number,
                    "it holds \(commit.evidence) payloads, of which its events and confirmations "
                        + "cite \(cited.count)"
                )
            }
            try compareWithKept(commit, computed)
            previous = computed
            committedAt = commit.committedAt
            nextCommit = commit.number + 1
            nextOffset = commit.lastOffset + 1
            nextEvidence = commit.lastEvidence + 1
            report.commits += 1
            report.events += Int64(commit.count)
        }
    }

    private func compareWithKept(
        _ commit: Commit,
        _ computed: Digest
    ) throws(VerificationReport.Mismatch) {
        guard let kept, kept.commit == commit.number,
            kept.digest != computed || kept.offset != commit.lastOffset
        else { return }
        throw mismatch(
            commit.number,
            "the kept head has digest \(kept.digest), this log \(computed): it is another "
                + "log, or was rewritten as a whole"
        )
    }

    private func verifyOrder(of commit: Commit) throws(VerificationReport.Mismatch) {
        guard commit.number == nextCommit else {
            throw mismatch(nextCommit, "the commit is missing; the next is \(commit.number)")
        }
        guard commit.format == LedgerIdentity.format else {
            throw mismatch(
                commit.number,
                "it has format \(commit.format), and this program reads format "
                    + "\(LedgerIdentity.format): what is before it is verified; use a newer subledger "
                    + "for the rest"
            )
        }
        guard commit.count >= 0, commit.confirmations >= 0, commit.count <= LogVerifier.countMax,
            commit.evidence >= 0, commit.evidence <= LogVerifier.countMax
        else {
            throw mismatch(
                commit.number,
                "it claims \(commit.count) events, \(commit.confirmations) confirmations and "
                    + "\(commit.evidence) payloads"
            )
        }
        guard commit.firstOffset == nextOffset, commit.firstEvidence == nextEvidence else {
            throw mismatch(
                commit.number,
                "it starts at offset \(commit.firstOffset) and payload \(commit.firstEvidence), not "
                    + "at \(nextOffset) and \(nextEvidence)"
            )
        }
        guard commit.committedAt >= committedAt else {
            throw mismatch(commit.number, "its time is before that of the commit before it")
        }
    }

    private func digestOfEvent(
        at offset: Int64,
        of commit: Commit,
        in page: Page
    ) throws(VerificationReport.Mismatch) -> (Digest, evidence: Int64) {
        let (event, salt, store, isLate): (Event, Salt, String, Bool)
        switch page.events[offset] {
        case .event(let stored, let its, let word, let late):
            (event, salt, store, isLate) = (stored, its, word, late)
        case .malformed(let reason): throw mismatch(commit.number, reason, offset: offset)
        case nil: throw mismatch(commit.number, "the event is missing", offset: offset)
        }
        guard event.recordedAt == commit.committedAt else {
            throw mismatch(
                commit.number,
                "recorded_at differs from the commit's time",
                offset: offset
            )
        }
        let (record, arrival) = try record(event.evidence, of: commit, in: page, at: offset)
        guard event.isImported == (arrival == .imported) else {
            throw mismatch(
                commit.number,
                "is_imported differs from the arrival of its evidence",
                offset: offset
            )
        }
        let commitments = event.commitments(
            salt: salt,
            evidence: record,
            store: store,
            isLate: isLate
        )
        return (commitments.digest, event.evidence)
    }

    private func digestOfConfirmation(
        _ stored: StoredConfirmation,
        of commit: Commit,
        in page: Page
    ) throws(VerificationReport.Mismatch) -> (Digest, evidence: [Int64]) {
        let row = stored.row
        guard let salt = stored.salt, let confirmations = row.confirmations(lane: lane),
            !confirmations.isEmpty
        else {
            throw mismatch(commit.number, "a confirmation does not have the form that is written")
        }
        guard stored.knownFrom == commit.firstOffset,
            stored.microseconds == commit.committedAt.microseconds
        else {
            throw mismatch(commit.number, "a confirmation is dated otherwise than its commit")
        }
        let own = lanes.lane(of: row.stream.originalTransactionId)
        for confirmation in confirmations {
            let offset = confirmation.position.offset
            guard own == lane, offset <= commit.lastOffset, page.streams[offset] == row.stream
            else {
                throw mismatch(
                    commit.number,
                    "a confirmation does not belong to the stream of its event",
                    offset: offset
                )
            }
            let span = confirmation.asOf.milliseconds.subtractingReportingOverflow(
                row.asOf.milliseconds
            )
            guard !span.overflow,
                (0...ConfirmationRow.spanMillisecondsMax).contains(span.partialValue)
            else {
                throw mismatch(
                    commit.number,
                    "a confirmation is as of another time than its row",
                    offset: offset
                )
            }
        }
        let numbers = row.evidenceNumbers(lane: lane)
        var records: [Digest] = []
        for number in numbers {
            records.append(try record(number, of: commit, in: page, at: nil).record)
        }
        return (
            row.commitments(lane: lane, salt: salt, evidence: records).digest, numbers
        )
    }

    private func record(
        _ number: Int64,
        of commit: Commit,
        in page: Page,
        at offset: Int64?
    ) throws(VerificationReport.Mismatch) -> (record: Digest, arrival: Arrival) {
        guard number >= commit.firstEvidence, number <= commit.lastEvidence else {
            throw mismatch(
                commit.number,
                "evidence \(number) was not brought by this commit",
                offset: offset
            )
        }
        switch page.records[number] {
        case .whole(let record, let its, let arrival) where its == commit.number:
            return (record, arrival)
        case .whole:
            throw mismatch(
                commit.number,
                "evidence \(number) is filed under another commit",
                offset: offset
            )
        case .damaged(let reason):
            throw mismatch(commit.number, "evidence \(number): \(reason)", offset: offset)
        case nil:
            throw mismatch(commit.number, "evidence \(number) is missing", offset: offset)
        }
    }

    /// Rows that no commit accounts for were inserted behind the chain's back.
    private func verifyNothingElse(than head: (commit: Int64, offset: Int64)) async throws {
        let rows = try await session.query(
            """
            SELECT
                (SELECT min(lane_offset) FROM ledger.event
                 WHERE lane = $1 AND (lane_offset < 1 OR lane_offset > coalesce(
                    (SELECT first_offset + (count - 1) FROM ledger.commit
                     WHERE lane = $1 ORDER BY commit_no DESC LIMIT 1), 0))),
                (SELECT min(c.commit_no) FROM (
                    SELECT commit_no, count(*) AS stored FROM ledger.confirmation
                    WHERE lane = $1 GROUP BY commit_no) c
                 LEFT JOIN ledger.commit k ON k.lane = $1 AND k.commit_no = c.commit_no
                 WHERE k.confirmations IS DISTINCT FROM c.stored),
                (SELECT min(commit_no) FROM ledger.commit WHERE lane = $1 AND commit_no < 1),
                (SELECT min(evidence_no) FROM ledger.evidence
                 WHERE lane = $1 AND (evidence_no < 1 OR evidence_no > coalesce(
                    (SELECT first_evidence_no + (evidence - 1) FROM ledger.commit
                     WHERE lane = $1 ORDER BY commit_no DESC LIMIT 1), 0))),
                (SELECT min(c.version) FROM ledger.catalog c
                 WHERE c.lane = $1 AND NOT EXISTS (
                    SELECT FROM ledger.event e
                    WHERE e.lane = $1 AND e.environment = ''
                        AND e.original_transaction_id = 'catalog' AND e.kind = 'catalog'
                        AND ledger.content_fields(e.content) ->> 'catalogVersion'
                            = c.version::text))
            """,
            [.int4(Int32(lane))]
        )
        if try !rows[0].isNull(0) {
            let offset = try rows[0].int8(0)
            throw mismatch(
                head.commit + 1,
                "event \(offset) belongs to no commit",
                offset: offset
            )
        }
        if try !rows[0].isNull(1) {
            throw mismatch(
                try rows[0].int8(1),
                "more confirmations are stored for it than it accounts for"
            )
        }
        if try !rows[0].isNull(2) {
            throw mismatch(try rows[0].int8(2), "commits are numbered from 1")
        }
        if let number = try rows[0].int8IfPresent(3) {
            throw mismatch(head.commit, "evidence \(number) was brought by no commit")
        }
        if let version = try rows[0].int4IfPresent(4) {
            throw mismatch(head.commit, "version \(version) of the catalog is in no event")
        }
    }
}

extension LogVerifier {
    /// Number of rows of `ledger.lane`, which writers lock.
    static func lanesThere(in session: PostgresSession) async throws -> Int {
        Int(try await session.query("SELECT count(*) FROM ledger.lane")[0].int8(0))
    }

    /// A lane with rows that the ledger does not count among its lanes; nil for none.
    ///
    /// Its number of lanes was changed, or rows were moved out of sight.
    static func otherLane(than lanes: LaneCount, in session: PostgresSession) async throws -> Int? {
        // Two ranges each, so that an index answers both.
        let tables = ["event", "commit", "confirmation", "evidence", "catalog"].flatMap { table in
            ["lane < 0", "lane >= $1"].map { "SELECT min(lane) FROM ledger.\(table) WHERE \($0)" }
        }
        let rows = try await session.query(
            "SELECT min(l.min) FROM (\(tables.joined(separator: " UNION ALL "))) l",
            [.int4(Int32(lanes.value))]
        )
        return try rows[0].isNull(0) ? nil : Int(try rows[0].int4(0))
    }
}
