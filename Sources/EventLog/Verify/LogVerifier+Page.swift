internal import Events
internal import Postgres

// Reading the log page by page.
extension LogVerifier {
    /// A run of commits of a lane with all their rows, as stored.
    struct Page {
        var commits: [(mark: CommitMark, microseconds: Int64)] = []
        var events: [Int64: StoredEvent] = [:]
        var confirmations: [Int64: [StoredConfirmation]] = [:]
        var records: [Int64: StoredRecord] = [:]
        /// The streams of the events that confirmations repeat.
        var streams: [Int64: StreamID] = [:]

        var count: Int {
            commits.reduce(0) { $0 + max(0, min($1.mark.commit.count, LogVerifier.countMax)) }
        }
    }

    enum StoredEvent {
        case event(Event, CommitmentKeys, store: String, isLate: Bool)
        case malformed(String)
    }

    struct StoredConfirmation {
        let row: ConfirmationRow
        let keys: CommitmentKeys?
        let erased: ErasedParts
        let knownFrom: Int64
        let microseconds: Int64
    }

    enum StoredRecord {
        case whole(record: Digest, commit: Int64, arrival: Arrival)
        case erased(commit: Int64, arrival: Arrival)
        case damaged(String)
    }

    /// Reads the next commits, up to a full page.
    mutating func readPage(upTo last: Int64) async throws -> Page {
        var page = Page()
        let rows = try await session.query(
            """
            SELECT \(CommitMark.columns)
            FROM ledger.commit c WHERE lane = $1 AND commit_no >= $2 AND commit_no <= $3
            ORDER BY commit_no LIMIT \(LogVerifier.pageEventsMax)
            """,
            [.int4(Int32(lane)), .int8(nextCommit), .int8(last)]
        )
        guard rows.count > 0 else { throw mismatch(nextCommit, "the commit is missing") }
        var weight = 0
        for row in rows where weight < LogVerifier.pageEventsMax {
            let mark = try CommitMark(in: row)
            page.commits.append((mark, try row.timestamptz(7)))
            weight += max(0, min(mark.commit.count, LogVerifier.countMax))
            weight += max(0, min(mark.commit.confirmations, LogVerifier.countMax))
            weight += max(0, min(mark.commit.evidence, LogVerifier.countMax))
        }
        try await readEvents(into: &page)
        try await readEvidence(into: &page)
        try await readConfirmations(into: &page)
        return page
    }

    private mutating func readEvents(into page: inout Page) async throws {
        let end = nextOffset.addingWithinRange(Int64(page.count))
        let rows = try await session.query(
            """
            SELECT \(EventRows.columns), e.fact_key, e.store, e.is_late,
                \(StoredRow.typedColumns)
            FROM ledger.event e
            WHERE e.lane = $1 AND e.lane_offset >= $2 AND e.lane_offset < $3
            ORDER BY e.lane_offset
            """,
            [.int4(Int32(lane)), .int8(nextOffset), .int8(end)]
        )

        for row in rows {
            let offset = try row.int8(1)
            guard page.events[offset] == nil else {
                page.events[offset] = .malformed("more than one event has this offset")
                continue
            }
            do {
                let event = try EventRows.event(in: row, lane: lanes[lane])
                guard let keys = CommitmentKeys(stored: try row.bytea(13)) else {
                    page.events[offset] = .malformed("its salt does not have 16 bytes")
                    continue
                }
                guard try columns(in: row, agreeWith: event) else {
                    page.events[offset] = .malformed("its columns differ from its content")
                    continue
                }
                if event.fact.kind == .catalog, try await !catalogAgrees(with: event) {
                    page.events[offset] = .malformed(
                        "the version of the catalog in ledger.catalog differs from it"
                    )
                    continue
                }
                page.events[offset] = .event(
                    event,
                    keys,
                    store: try row.textIfPresent(15) ?? "",
                    isLate: try row.bool(16)
                )
            } catch let error as EventLogError {
                page.events[offset] = .malformed(error.message)
            }
        }
    }

    // The typed columns repeat parts of `content`, which the digest covers. Times and keys are
    // compared as stored, because an event has them rounded. The rule of a later version for what
    // is new is not known here, so the key of its contents is not compared.
    private func columns(in row: PostgresRow, agreeWith event: Event) throws -> Bool {
        for (index, field) in StoredRow.typedFields.enumerated() {
            let column = 17 + index
            let stored = try row.isNull(column) ? nil : try row.text(column)
            let expected = StoredRow.typed(field, of: event.fact)
            guard stored.map(FieldValue.text) == expected.map(FieldValue.text) else { return false }
        }
        guard lanes.lane(of: event.fact.stream.originalTransactionId) == lane else { return false }
        guard isBlank(event, store: try row.textIfPresent(15)) else { return false }
        let isKeyKnown = event.fact.content.unrecognised.isEmpty
        let offset = event.position.offset
        let key =
            switch event.erased {
            case .nothing, .payload: FactKey(event.fact)
            case .person: FactKey(erasedAt: offset, of: event.fact.subject)
            case .everything: FactKey(erasedAt: offset, of: nil)
            }
        return try (!isKeyKnown || row.uuid(14) == key.bytes)
            && row.timestamptz(2) == event.recordedAt.microseconds
            && row.int8(4) == event.fact.purchaseDate.milliseconds
            && row.int8(5) == event.fact.expiresDate.milliseconds
    }

    // No digest covers the columns of erased content, so they must be empty.
    private func isBlank(_ event: Event, store: String?) -> Bool {
        let fact = event.fact
        guard (fact.kind == .erased) == (event.erased == .everything) else { return false }
        if event.erased == .everything {
            let zero = Instant(milliseconds: 0)
            return fact.content.canonicalBytes.count == 2 && fact.bundleId.isEmpty && store == nil
                && fact.purchaseDate == zero && fact.expiresDate == zero && fact.asOf == zero
        }
        return event.erased != .person || !fact.content.identifiesPerson
    }

    // The body of a version of the catalog is in a separate table, under the digest of its event.
    private func catalogAgrees(with event: Event) async throws -> Bool {
        let content = event.fact.content
        guard let version = content.integer(.catalogVersion) else { return false }
        let rows = try await session.query(
            """
            SELECT encode(sha256(convert_to(body, 'UTF8')), 'hex'), encode(digest, 'hex'),
                effective_from_ms, source, recorded_at
            FROM ledger.catalog WHERE lane = $1 AND version = $2
            """,
            [.int4(Int32(lane)), .int4(Int32(clamping: version))]
        )
        guard rows.count == 1, let digest = content.text(.bodyDigest) else { return false }
        return try rows[0].text(0) == digest && rows[0].text(1) == digest
            && rows[0].int8(2) == content.instant(.effectiveFrom)?.milliseconds
            && FieldValue.text(rows[0].text(3)) == content[.fileName] ?? .text("")
            && rows[0].timestamptz(4) == event.recordedAt.microseconds
    }

    private mutating func readEvidence(into page: inout Page) async throws {
        var records: [Int64: StoredRecord] = [:]
        var numbers: Set<Int64> = []
        for (mark, _) in page.commits {
            let commit = mark.commit
            guard commit.firstEvidence >= 1, (1...LogVerifier.countMax).contains(commit.evidence),
                commit.firstEvidence < .max - Int64(LogVerifier.countMax)
            else { continue }
            numbers.formUnion(commit.firstEvidence...commit.lastEvidence)
        }
        // The payloads of all commits at once: a round trip costs more than a payload.
        try await vault.visit(numbers) {
            switch $1 {
            case .whole(let stored):
                records[$0] = .whole(
                    record: stored.record,
                    commit: stored.commit,
                    arrival: stored.arrival
                )
            case .erased(let commit, let arrival):
                records[$0] = .erased(commit: commit, arrival: arrival)
            case .damaged(let reason): records[$0] = .damaged(reason)
            }
        }
        page.records = records
    }

    private func readConfirmations(into page: inout Page) async throws {
        // Read even if no commit accounts for any: then there must be none.
        guard let first = page.commits.first?.mark.commit,
            let last = page.commits.last?.mark.commit
        else { return }
        let rows = try await session.query(
            """
            SELECT \(ConfirmationJoin.columns), c.salt
            FROM ledger.confirmation c
            WHERE c.lane = $1 AND c.commit_no >= $2 AND c.commit_no <= $3
            """,
            [.int4(Int32(lane)), .int8(first.number), .int8(last.number)]
        )

        var repeated: Set<Int64> = []
        for row in rows {
            let salt = try row.bytea(9)
            let stored = StoredConfirmation(
                row: try EventRows.confirmationRow(in: row),
                keys: CommitmentKeys(stored: salt),
                erased: CommitmentKeys.erased(inStored: salt.count) ?? .nothing,
                knownFrom: try row.int8(8),
                microseconds: try row.timestamptz(7)
            )
            for confirmation in stored.row.confirmations(lane: lanes[lane]) ?? [] {
                repeated.insert(confirmation.position.offset)
            }
            page.confirmations[try row.int8(6), default: []].append(stored)
        }
        page.streams = try await streams(of: repeated)
    }

    private func streams(of offsets: Set<Int64>) async throws -> [Int64: StreamID] {
        var streams: [Int64: StreamID] = [:]
        let offsets = offsets.sorted()
        for start in stride(from: 0, to: offsets.count, by: LogVerifier.offsetsAskedMax) {
            let asked = offsets[start..<min(start + LogVerifier.offsetsAskedMax, offsets.count)]
            let rows = try await session.query(
                """
                SELECT lane_offset, environment, original_transaction_id FROM ledger.event
                WHERE lane = $1 AND lane_offset = ANY ($2)
                """,
                [.int4(Int32(lane)), .int8Array(Array(asked))]
            )
            for row in rows {
                streams[try row.int8(0)] = try row.stream(1)
            }
        }
        return streams
    }

    /// Offsets in one statement: the events that confirmations repeat may be anywhere in the lane.
    private static let offsetsAskedMax = 10_000
}
