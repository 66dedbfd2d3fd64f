package import Events
internal import Postgres

/// A payload of the log with everything that cites it.
package struct CitedPayload: Sendable {
    /// Its number in its lane.
    package let number: Int64
    /// The payload, or why it is missing.
    package let evidence: Found
    /// The first offset of the commit that brought it.
    package let firstOffset: Int64
    /// When that commit was made.
    package let committedAt: Instant
    /// The events that cite it, by offset.
    package let events: [Event]
    /// The confirmations that cite it, each with the event that it repeats.
    package let confirmations: [Repeated]

    /// A confirmation with its event.
    package struct Repeated: Sendable {
        /// What was repeated.
        package let confirmation: Confirmation
        /// The event that it repeats; nil if it is missing or cannot be read.
        package let event: Event?
    }

    /// The state of a payload.
    package enum Found: Sendable {
        /// It is stored, byte for byte.
        case whole(Evidence)
        /// It arrived after its subscription was erased: it was verified then, and not stored.
        case verifiedAtEntry(PayloadKind, record: Digest)
        /// It was erased.
        case erased
        /// It does not match its address, or its record cannot be read.
        case damaged(String)
        /// It is missing.
        case missing
    }
}

extension EventLog {
    /// Reads a part of a lane with its evidence; memory does not grow with the log.
    ///
    /// A commit is never split over two pages: everything that cites a payload is in the commit
    /// that brought it.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - commit: `lastCommit` of the previous page; 0 for the first.
    ///   - head: The newest commit to take into account.
    /// - Returns: The page; nil after the last.
    /// - Throws: `databaseUnavailable`.
    package func citedPayloads(
        lane: Int,
        after commit: Int64,
        upTo head: Head
    ) async throws(EventLogError) -> CitedPayloadPage? {
        guard commit < head.commit else { return nil }
        let (sources, here) = (evidenceSources, identity.lanes[lane])
        return try await reading("read the evidence of lane \(lane)") { session in
            var reading = CitedReading(lane: here, sources, session)
            return try await reading.page(after: commit, upTo: head.commit)
        }
    }
}

/// Reads one page.
private struct CitedReading {
    private let lane: Lane
    private let session: PostgresSession
    private var vault: EvidenceVault
    private var malformed: (position: Position, reason: String)?
    private var events: [Int64: [Event]] = [:]
    private var confirmations: [Int64: [Confirmation]] = [:]

    init(lane: Lane, _ sources: EvidenceSources, _ session: PostgresSession) {
        self.lane = lane
        self.session = session
        vault = EvidenceVault(lane: lane.number, sources, session: session)
    }

    mutating func page(after commit: Int64, upTo last: Int64) async throws -> CitedPayloadPage? {
        let commits = try await commits(after: commit, upTo: last)
        // If commits were deleted, there is nothing to read; the chain of digests reveals that.
        guard let first = commits.first, let end = commits.last else { return nil }
        try await readEvents(from: first.commit.firstOffset, to: end.commit.lastOffset)
        try await readConfirmations(from: first.commit.number, to: end.commit.number)
        let numbers = Set(events.keys).union(confirmations.keys)
        let contents = try await vault.contents(of: numbers)
        let repeated = try await repeatedEvents()

        // Payloads are numbered in the order of commits.
        var bringing = commits[...]
        return CitedPayloadPage(
            payloads: numbers.sorted().map { number in
                while let next = bringing.first, next.commit.lastEvidence < number {
                    bringing = bringing.dropFirst()
                }
                let own = (bringing.first ?? end).commit
                return CitedPayload(
                    number: number,
                    evidence: contents[number].map(CitedPayload.Found.init) ?? .missing,
                    firstOffset: own.firstOffset,
                    committedAt: own.committedAt,
                    events: events[number, default: []],
                    confirmations: confirmations[number, default: []].map {
                        CitedPayload.Repeated(
                            confirmation: $0,
                            event: repeated[$0.position.offset]
                        )
                    }
                )
            },
            malformed: malformed,
            lastCommit: end.commit.number
        )
    }

    // As many commits as fill a page, but at least one.
    private func commits(after commit: Int64, upTo last: Int64) async throws -> [CommitMark] {
        let rows = try await session.query(
            """
            SELECT \(CommitMark.columns), (
                SELECT sum(v.byte_count) FROM ledger.evidence v
                WHERE v.lane = c.lane AND v.evidence_no >= c.first_evidence_no
                    AND v.evidence_no < c.first_evidence_no + c.evidence)::bigint
            FROM ledger.commit c
            WHERE c.lane = $1 AND c.commit_no > $2 AND c.commit_no <= $3
            ORDER BY c.commit_no LIMIT \(CitedPayloadPage.payloadsMax)
            """,
            [.int4(Int32(lane.number)), .int8(commit), .int8(last)]
        )

        var commits: [CommitMark] = []
        var (payloads, bytes) = (0, Int64(0))
        for row in rows {
            let mark = try CommitMark(in: row)
            payloads += mark.commit.evidence
            bytes += try row.int8IfPresent(10) ?? 0
            if !commits.isEmpty,
                payloads > CitedPayloadPage.payloadsMax || bytes > CitedPayloadPage.bytesMax
            {
                break
            }
            commits.append(mark)
        }
        return commits
    }

    private mutating func readEvents(from first: Int64, to last: Int64) async throws {
        let rows = try await session.query(
            """
            SELECT \(EventRows.columns) FROM ledger.event e
            WHERE e.lane = $1 AND e.lane_offset >= $2 AND e.lane_offset <= $3
            ORDER BY e.lane_offset
            """,
            [.int4(Int32(lane.number)), .int8(first), .int8(last)]
        )
        for row in rows {
            do {
                let event = try EventRows.event(in: row, lane: lane)
                events[event.evidence, default: []].append(event)
            } catch let error as EventLogError {
                let position = Position(lane: lane, offset: try row.int8(1))
                malformed = malformed ?? (position, error.message)
            }
        }
    }

    private mutating func readConfirmations(from first: Int64, to last: Int64) async throws {
        let rows = try await session.query(
            """
            SELECT \(EventRows.confirmationColumns), c.known_from_offset
            FROM ledger.confirmation c
            WHERE c.lane = $1 AND c.commit_no >= $2 AND c.commit_no <= $3
            ORDER BY c.commit_no, c.environment, c.original_transaction_id, c.as_of_ms
            """,
            [.int4(Int32(lane.number)), .int8(first), .int8(last)]
        )
        for row in rows {
            do {
                for confirmation in try EventRows.confirmations(in: row, lane: lane) {
                    confirmations[confirmation.evidence, default: []].append(confirmation)
                }
            } catch let error as EventLogError {
                let position = Position(lane: lane, offset: try row.int8(6))
                malformed = malformed ?? (position, error.message)
            }
        }
    }

    private func repeatedEvents() async throws -> [Int64: Event] {
        let offsets = Set(confirmations.values.joined().map(\.position.offset))
        guard !offsets.isEmpty else { return [:] }
        let rows = try await session.query(
            """
            SELECT \(EventRows.columns) FROM ledger.event e
            WHERE e.lane = $1 AND e.lane_offset = ANY ($2)
            """,
            [.int4(Int32(lane.number)), .int8Array(Array(offsets))]
        )
        var events: [Int64: Event] = [:]
        for row in rows {
            do {
                events[try row.int8(1)] = try EventRows.event(in: row, lane: lane)
            } catch let error as EventLogError where error.code == .malformedLog {
                continue
            }
        }
        return events
    }
}

extension CitedPayload.Found {
    init(_ content: EvidenceVault.Content) {
        switch content {
        case .damaged(let reason): self = .damaged(reason)
        case .erased: self = .erased
        case .whole(let stored):
            guard let kind = PayloadKind(rawValue: stored.kind),
                let trust = Verification.Trust(rawValue: stored.verification),
                (trust == .signed) == (stored.root != nil)
            else {
                self = .damaged(
                    "its record says kind \(stored.kind), verification \(stored.verification)"
                        + (stored.root == nil ? " without" : " with")
                        + " a root"
                )
                return
            }
            guard let payload = stored.payload else {
                self = .verifiedAtEntry(kind, record: stored.record)
                return
            }
            let context = stored.context.flatMap(EvidenceContext.init(canonicalText:))
            guard (context == nil) == (stored.context == nil) else {
                self = .damaged("its context does not have the form that this program writes")
                return
            }
            self = .whole(
                Evidence(
                    payload: payload,
                    kind: kind,
                    source: stored.source,
                    arrival: stored.arrival,
                    verification: Verification(trust: trust, root: stored.root),
                    context: context,
                    receivedAt: stored.receivedAt
                )
            )
        }
    }
}
