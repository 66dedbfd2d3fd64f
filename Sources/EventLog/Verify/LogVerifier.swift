internal import Events
internal import Postgres

/// Recomputes the chain over a range of commits of a lane from the rows of the log, in bounded
/// memory.
struct LogVerifier {
    /// Events and payloads at which a page of commits is full; a commit is never split.
    static let pageEventsMax = 1000

    /// The most events in a commit: a full batch, and one payload that overflows it.
    static let countMax = Appender.batchFactsMax + EventLog.factsPerPayloadMax

    let lanes: LaneCount
    let session: PostgresSession
    private var state: LaneState
    var vault: EvidenceVault
    private var audit = ErasureAudit()

    var lane: Int { state.lane }
    var nextCommit: Int64 { state.commit.addingWithinRange(1) }
    var nextOffset: Int64 { state.offset.addingWithinRange(1) }
    private var nextEvidence: Int64 { state.evidence.addingWithinRange(1) }

    /// The result for a range.
    struct Range: Sendable {
        /// The lane.
        let lane: Int
        /// The commit before its first.
        let after: Int64
        /// The state that its first commit followed; nil if that is missing.
        let start: LaneState?
        /// The newest commit up to which it matches.
        var end: LaneState?
        var commits: Int64 = 0
        var events: Int64 = 0
        var mismatch: VerificationReport.Mismatch?
        /// What it found erased.
        var erased = ErasureAudit()
    }

    /// A verifier of a range.
    ///
    /// - Parameters:
    ///   - start: What the first commit follows.
    ///   - lanes: The lanes of the ledger.
    ///   - sources: What payloads are restored from, besides their rows.
    ///   - session: A connection that nothing else uses in the meantime.
    init(
        start: LaneState,
        lanes: LaneCount,
        sources: EvidenceSources,
        session: PostgresSession
    ) {
        state = start
        self.lanes = lanes
        self.session = session
        vault = EvidenceVault(lane: start.lane, sources, session: session)
    }

    /// Verifies the commits up to that one, or to the first mismatch.
    ///
    /// `progress` is called with the number of events of each page.
    mutating func run(
        upTo last: Int64,
        progress: @Sendable (Int64) -> Void
    ) async throws -> Range {
        var range = Range(lane: lane, after: state.commit, start: state)
        do {
            while state.commit < last {
                let page = try await readPage(upTo: last)
                let before = range.events
                try verify(page, into: &range)
                progress(range.events - before)
            }
        } catch let mismatch as VerificationReport.Mismatch {
            range.mismatch = mismatch
        }
        range.end = state
        range.erased = audit
        return range
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
        into range: inout Range
    ) throws(VerificationReport.Mismatch) {
        for (mark, microseconds) in page.commits {
            let commit = mark.commit
            try verifyOrder(of: commit)
            guard microseconds == commit.committedAt.microseconds else {
                throw mismatch(commit.number, "committed_at has a fraction of a millisecond")
            }
            var hasher = CommitHasher(after: state.digest, commit: commit)
            var cited: Set<Int64> = []
            for offset in commit.firstOffset..<commit.firstOffset + Int64(commit.count) {
                let (digest, evidence) = try digestOfEvent(at: offset, of: commit, in: page)
                hasher.update(digest)
                cited.insert(evidence)
            }
            // The rows that cited an erased payload may themselves be erased.
            for number in erasedEvidence(of: commit, in: page) {
                cited.insert(number)
                audit.take(erasedEvidence: number, commit: commit)
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
                    "it has \(commit.evidence) payloads, but its events and confirmations cite "
                        + "\(cited.count) of them"
                )
            }

            state = LaneState(mark)
            range.commits += 1
            range.events += Int64(commit.count)
        }
    }

    private func verifyOrder(of commit: Commit) throws(VerificationReport.Mismatch) {
        guard commit.number >= nextCommit else {
            throw mismatch(commit.number, "there is more than one commit of this number")
        }
        guard commit.number == nextCommit else {
            throw mismatch(nextCommit, "the commit is missing; the next is \(commit.number)")
        }
        guard commit.format == LedgerIdentity.format else {
            throw mismatch(
                commit.number,
                "it has format \(commit.format), but this program reads format "
                    + "\(LedgerIdentity.format): everything before it is verified; use a newer "
                    + "subledger for the rest"
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
        guard commit.committedAt >= state.committedAt else {
            throw mismatch(commit.number, "its time is earlier than that of the previous commit")
        }
    }

    private func erasedEvidence(of commit: Commit, in page: Page) -> [Int64] {
        guard commit.evidence > 0 else { return [] }
        return (commit.firstEvidence...commit.lastEvidence).filter {
            if case .erased = page.records[$0] { true } else { false }
        }
    }

    private mutating func digestOfEvent(
        at offset: Int64,
        of commit: Commit,
        in page: Page
    ) throws(VerificationReport.Mismatch) -> (Digest, evidence: Int64) {
        let (event, keys, store, isLate): (Event, CommitmentKeys, String, Bool)
        switch page.events[offset] {
        case .event(let stored, let its, let word, let late):
            (event, keys, store, isLate) = (stored, its, word, late)
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

        audit.take(event)
        let (record, arrival) = try record(
            event.evidence,
            of: commit,
            in: page,
            at: offset,
            isErased: event.erased != .nothing
        )
        guard event.isImported == (arrival == .imported) else {
            throw mismatch(
                commit.number,
                "is_imported differs from the arrival of its evidence",
                offset: offset
            )
        }

        let commitments = event.commitments(
            keys: keys,
            evidence: record,
            store: store,
            isLate: isLate
        )
        return (commitments.digest, event.evidence)
    }

    private mutating func digestOfConfirmation(
        _ stored: StoredConfirmation,
        of commit: Commit,
        in page: Page
    ) throws(VerificationReport.Mismatch) -> (Digest, evidence: [Int64]) {
        let row = stored.row
        audit.take(row.stream, commit: commit, erased: stored.erased)
        let isBlank = stored.erased == .everything && row.repetitions.isEmpty
        guard let keys = stored.keys,
            let confirmations = isBlank ? [] : row.confirmations(lane: lanes[lane]),
            isBlank || !confirmations.isEmpty
        else {
            throw mismatch(commit.number, "a confirmation does not have the expected form")
        }
        guard stored.knownFrom == commit.firstOffset,
            stored.microseconds == commit.committedAt.microseconds
        else {
            throw mismatch(commit.number, "a confirmation's date or offset differs from its commit")
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
                    "the as-of of a confirmation is outside the range of its row",
                    offset: offset
                )
            }
        }
        let numbers = isBlank ? [] : row.evidenceNumbers
        var records: [Digest] = []
        for number in numbers {
            records.append(
                try record(
                    number,
                    of: commit,
                    in: page,
                    at: nil,
                    isErased: stored.erased != .nothing
                ).record
            )
        }
        return (
            row.commitments(lane: lane, keys: keys, evidence: records).digest, numbers
        )
    }

    private func record(
        _ number: Int64,
        of commit: Commit,
        in page: Page,
        at offset: Int64?,
        isErased: Bool
    ) throws(VerificationReport.Mismatch) -> (record: Digest, arrival: Arrival) {
        guard number >= commit.firstEvidence, number <= commit.lastEvidence else {
            throw mismatch(
                commit.number,
                "evidence \(number) does not belong to this commit",
                offset: offset
            )
        }

        switch page.records[number] {
        case .whole(let record, let its, let arrival) where its == commit.number && !isErased:
            return (record, arrival)
        case .erased(let its, let arrival) where its == commit.number && isErased:
            return (.zero, arrival)
        case .whole(_, commit.number, _), .erased(commit.number, _):
            throw mismatch(
                commit.number,
                isErased
                    ? "evidence \(number) still exists, although its citation marks it as erased"
                    : "evidence \(number) is missing, although its citation does not mark it as "
                        + "erased",
                offset: offset
            )
        case .whole, .erased:
            throw mismatch(
                commit.number,
                "evidence \(number) is stored under another commit",
                offset: offset
            )
        case .damaged(let reason):
            throw mismatch(commit.number, "evidence \(number): \(reason)", offset: offset)
        case nil:
            throw mismatch(commit.number, "evidence \(number) is missing", offset: offset)
        }
    }
}

extension LogVerifier {
    /// Number of rows of `ledger.lane`, which writers lock.
    static func laneRowCount(in session: PostgresSession) async throws -> Int {
        Int(try await session.query("SELECT count(*) FROM ledger.lane")[0].int8(0))
    }

    /// A lane with rows outside the ledger's lanes; nil if there is none.
    ///
    /// Its number of lanes was changed, or rows were moved out of sight.
    static func otherLane(than lanes: LaneCount, in session: PostgresSession) async throws -> Int? {
        // Two conditions for each table, so an index serves both; Citus asks each shard once.
        let tables = ["event", "commit", "confirmation", "evidence", "catalog"].flatMap { table in
            ["lane < 0", "lane >= $1"].map { "SELECT lane FROM ledger.\(table) WHERE \($0)" }
        }
        let rows = try await session.probe(
            "SELECT min(l.lane) FROM (\(tables.joined(separator: " UNION ALL "))) l",
            [.int4(Int32(lanes.value))]
        )
        return try rows[0].isNull(0) ? nil : Int(try rows[0].int4(0))
    }
}
