internal import Events
internal import Postgres

/// Recomputes the chain of a lane from the rows of the log, in bounded memory.
struct LogVerifier {
    /// Events after which a page of commits is full; a commit is never split.
    static let pageEventsMax = 1000

    /// Most events that a commit can have: a full batch, and one payload that overflows it.
    static let countMax = Appender.batchFactsMax + EventLog.factsPerPayloadMax

    private let lane: Int
    private let session: PostgresSession
    private let kept: VerificationReport.Head?
    private var previous: Digest
    private var nextCommit: Int64 = 1
    private var nextOffset: Int64 = 1
    private var committedAt = Instant(milliseconds: .min)
    private var vault: EvidenceVault

    /// A verifier of one lane.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - identity: Where its chain starts.
    ///   - session: A connection that is used by nobody else meanwhile.
    ///   - kept: A head that an earlier verification printed, to be found again on the way.
    init(
        lane: Int,
        identity: LedgerIdentity,
        session: PostgresSession,
        kept: VerificationReport.Head?
    ) {
        self.lane = lane
        self.session = session
        self.kept = kept
        previous = identity.genesis(lane: lane)
        vault = EvidenceVault(lane: lane, session: session)
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

    private func mismatch(
        _ commit: Int64,
        _ reason: String,
        offset: Int64? = nil
    ) -> VerificationReport.Mismatch {
        VerificationReport.Mismatch(lane: lane, commit: commit, offset: offset, reason: reason)
    }
}

extension LogVerifier {
    private struct Page {
        var commits: [(commit: Commit, digest: [UInt8], microseconds: Int64)] = []
        var events: [Int64: StoredEvent] = [:]
        var confirmations: [Int64: [Confirmation]] = [:]
        /// By commit, the event of a confirmation that is filed under another stream or commit.
        var misfiled: [Int64: Int64] = [:]
        var records: [Digest: EvidenceVault.Finding] = [:]
    }

    private enum StoredEvent {
        case event(Event)
        case malformed(String)
    }

    private func headNow() async throws -> (commit: Int64, offset: Int64) {
        let rows = try await session.query(
            AppendSQL.readHead,
            [.int4(Int32(lane))]
        )
        return rows.count == 0 ? (0, 0) : (try rows[0].int8(0), try rows[0].int8(1))
    }

    private mutating func readPage(upTo last: Int64) async throws -> Page {
        var page = Page()
        let rows = try await session.query(
            """
            SELECT commit_no, first_offset, count, confirmations, committed_at, digest
            FROM ledger.commit WHERE lane = $1 AND commit_no >= $2 AND commit_no <= $3
            ORDER BY commit_no LIMIT \(LogVerifier.pageEventsMax)
            """,
            [.int4(Int32(lane)), .int8(nextCommit), .int8(last)]
        )
        guard rows.count > 0 else { throw mismatch(nextCommit, "the commit is missing") }
        var events = 0
        for row in 0..<rows.count where events < LogVerifier.pageEventsMax {
            let commit = Commit(
                lane: lane,
                number: try rows[row].int8(0),
                firstOffset: try rows[row].int8(1),
                count: Int(try rows[row].int4(2)),
                confirmations: Int(try rows[row].int4(3)),
                committedAt: Instant(microseconds: try rows[row].timestamptz(4))
            )
            page.commits.append((commit, try rows[row].bytea(5), try rows[row].timestamptz(4)))
            events += max(0, min(commit.count, LogVerifier.countMax))
        }
        try await readEvents(into: &page, count: events)
        try await readConfirmations(into: &page)
        return page
    }

    private mutating func readEvents(into page: inout Page, count: Int) async throws {
        let rows = try await session.query(
            """
            SELECT \(EventRows.columns), e.content_digest, e.product_id, e.transaction_id,
                e.app_account_token, e.notification_type, e.subtype, e.customer_id
            FROM ledger.event e
            WHERE e.lane = $1 AND e.lane_offset >= $2 AND e.lane_offset < $3
            ORDER BY e.lane_offset
            """,
            [.int4(Int32(lane)), .int8(nextOffset), .int8(nextOffset + Int64(count))]
        )
        var evidence: Set<Digest> = []
        for row in 0..<rows.count {
            let offset = try rows[row].int8(1)
            do {
                let event = try EventRows.event(in: rows[row])
                let agrees = try columns(in: rows[row], agreeWith: event)
                page.events[offset] =
                    agrees ? .event(event) : .malformed("its columns differ from its content")
                evidence.insert(event.evidence)
            } catch let error as EventLogError {
                page.events[offset] = .malformed(error.message)
            }
        }
        page.records = try await vault.findings(for: evidence)
    }

    // The typed columns repeat parts of `content`, which the digest covers. Times and keys are
    // compared as they are stored, for an event holds them rounded.
    private func columns(in row: PostgresRow, agreeWith event: Event) throws -> Bool {
        let fields: [Field] = [
            .productId, .transactionId, .appAccountToken, .notificationType, .subtype,
            .customerId,
        ]
        for (index, field) in fields.enumerated() {
            let column = 13 + index
            let stored = try row.isNull(column) ? nil : try row.text(column)
            guard stored.map(FieldValue.text) == event.fact.content[field] else { return false }
        }
        return try row.bytea(12) == event.fact.content.digest
            && row.timestamptz(2) == event.recordedAt.microseconds
            && row.int8(4) == event.fact.purchaseDate.milliseconds
            && row.int8(5) == event.fact.expiresDate.milliseconds
    }

    private func readConfirmations(into page: inout Page) async throws {
        guard let first = page.commits.first?.commit, let last = page.commits.last?.commit,
            page.commits.contains(where: { $0.commit.confirmations > 0 })
        else { return }
        let rows = try await session.query(
            """
            SELECT \(EventRows.confirmationColumns), c.commit_no,
                c.known_from_offset = k.first_offset AND e.environment = c.environment
                AND e.original_transaction_id = c.original_transaction_id
            FROM ledger.confirmation c
            JOIN ledger.commit k ON k.lane = c.lane AND k.commit_no = c.commit_no
            LEFT JOIN ledger.event e ON e.lane = c.lane AND e.lane_offset = c.lane_offset
            WHERE c.lane = $1 AND c.commit_no >= $2 AND c.commit_no <= $3
            """,
            [.int4(Int32(lane)), .int8(first.number), .int8(last.number)]
        )
        for row in 0..<rows.count {
            let number = try rows[row].int8(5)
            let confirmation = try EventRows.confirmation(in: rows[row])
            if try rows[row].isNull(6) || !rows[row].bool(6) {
                // Told when its commit's turn comes: an earlier one may not match either.
                page.misfiled[number] = confirmation.position.offset
            }
            page.confirmations[number, default: []].append(confirmation)
        }
    }

    private mutating func verify(
        _ page: Page,
        into report: inout VerificationReport
    ) throws(VerificationReport.Mismatch) {
        for (commit, digest, microseconds) in page.commits {
            try verifyOrder(of: commit)
            guard microseconds == commit.committedAt.microseconds else {
                throw mismatch(commit.number, "committed_at has a fraction of a millisecond")
            }
            if let offset = page.misfiled[commit.number] {
                throw mismatch(
                    commit.number,
                    "a confirmation does not belong to the stream of its event",
                    offset: offset
                )
            }
            var hasher = CommitHasher(after: previous, commit: commit)
            for offset in commit.firstOffset..<commit.firstOffset + Int64(commit.count) {
                hasher.update(try digestOfEvent(at: offset, of: commit, in: page))
            }
            let brought = page.confirmations[commit.number, default: []]
            for confirmation in brought.sorted(by: { $0.precedes($1) }) {
                hasher.update(confirmation.digest)
            }
            let computed = hasher.digest()
            guard digest == computed.bytes, brought.count == commit.confirmations else {
                throw mismatch(
                    commit.number,
                    "its digest is \(hexadecimal(digest)), but its rows give \(computed): the "
                        + "commit, one of its events or confirmations, or a record of evidence "
                        + "was changed"
                )
            }
            if let kept, kept.commit == commit.number,
                kept.digest != computed
                    || kept.offset != commit.firstOffset + Int64(commit.count) - 1
            {
                throw mismatch(
                    commit.number,
                    "the kept head has digest \(kept.digest), this log \(computed): it is another "
                        + "log, or was rewritten as a whole"
                )
            }
            previous = computed
            committedAt = commit.committedAt
            nextCommit = commit.number + 1
            nextOffset = commit.firstOffset + Int64(commit.count)
            report.commits += 1
            report.events += Int64(commit.count)
        }
    }

    private func verifyOrder(of commit: Commit) throws(VerificationReport.Mismatch) {
        guard commit.number == nextCommit else {
            throw mismatch(nextCommit, "the commit is missing; the next is \(commit.number)")
        }
        guard commit.count >= 0, commit.confirmations >= 0, commit.count <= LogVerifier.countMax
        else {
            throw mismatch(
                commit.number,
                "it claims \(commit.count) events and \(commit.confirmations) confirmations"
            )
        }
        guard commit.firstOffset == nextOffset else {
            throw mismatch(
                commit.number,
                "it starts at offset \(commit.firstOffset), not \(nextOffset)"
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
    ) throws(VerificationReport.Mismatch) -> Digest {
        let event: Event
        switch page.events[offset] {
        case .event(let stored): event = stored
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
        switch page.records[event.evidence] {
        case .whole(let record):
            return event.digest(evidenceRecord: record)
        case .damaged(let reason):
            throw mismatch(
                commit.number,
                "evidence \(event.evidence): \(reason)",
                offset: offset
            )
        case nil:
            throw mismatch(
                commit.number,
                "evidence \(event.evidence) is missing",
                offset: offset
            )
        }
    }

    /// Rows that no commit accounts for were inserted behind the chain's back.
    private func verifyNothingElse(than head: (commit: Int64, offset: Int64)) async throws {
        let rows = try await session.query(
            """
            SELECT
                (SELECT min(lane_offset) FROM ledger.event
                 WHERE lane = $1 AND (lane_offset < 1 OR lane_offset > coalesce(
                    (SELECT first_offset + count - 1 FROM ledger.commit
                     WHERE lane = $1 ORDER BY commit_no DESC LIMIT 1), 0))),
                (SELECT min(c.commit_no) FROM (
                    SELECT commit_no, count(*) AS stored FROM ledger.confirmation
                    WHERE lane = $1 GROUP BY commit_no) c
                 LEFT JOIN ledger.commit k ON k.lane = $1 AND k.commit_no = c.commit_no
                 WHERE k.confirmations IS DISTINCT FROM c.stored),
                (SELECT min(commit_no) FROM ledger.commit WHERE lane = $1 AND commit_no < 1),
                (SELECT min(encode(v.digest, 'hex')) FROM ledger.evidence v
                 WHERE v.lane = $1 AND NOT EXISTS (
                    SELECT FROM ledger.event e
                    WHERE e.lane = $1 AND e.evidence_digest = v.digest))
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
        if let digest = try rows[0].textIfPresent(3) {
            throw mismatch(head.commit, "evidence \(digest) was brought by no commit")
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
        let tables = ["event", "commit", "confirmation"].flatMap { table in
            ["lane < 0", "lane >= $1"].map { "SELECT min(lane) FROM ledger.\(table) WHERE \($0)" }
        }
        let rows = try await session.query(
            "SELECT min(l.min) FROM (\(tables.joined(separator: " UNION ALL "))) l",
            [.int4(Int32(lanes.value))]
        )
        return try rows[0].isNull(0) ? nil : Int(try rows[0].int4(0))
    }
}
