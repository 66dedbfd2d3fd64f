internal import Events
internal import Postgres

// Reading rows.
//
// Those that no commit accounts for are left to `repair`: an erasure proves what it removed.
extension ErasureReading {
    mutating func readStream(
        _ stream: StreamID,
        in session: isolated PostgresSession
    ) throws {
        let parameters: [PostgresValue] = [
            .int4(Int32(lane.number)), .text(stream.environment.word),
            .text(stream.originalTransactionId),
        ]

        let found = try session.pipeline([
            PostgresStatement(
                ErasureReading.events(
                    """
                    e.lane = $1 AND e.environment = $2 AND e.original_transaction_id = $3
                        AND e.lane_offset <= \(AppendSQL.lastOffset)
                    """
                ),
                parameters
            ),
            PostgresStatement(
                ErasureReading.confirmations(
                    """
                    c.lane = $1 AND c.environment = $2 AND c.original_transaction_id = $3
                        AND c.commit_no <= (SELECT max(commit_no) FROM ledger.commit
                            WHERE lane = $1)
                    """
                ),
                parameters
            ),
        ])
        try take(found[0], found[1])
    }

    mutating func readCommits(
        _ numbers: Set<Int64>,
        in session: isolated PostgresSession
    ) throws {
        guard !numbers.isEmpty else { return }
        commits.formUnion(numbers)
        let parameters: [PostgresValue] = [.int4(Int32(lane.number)), .int8Array(Array(numbers))]
        let found = try session.pipeline([
            PostgresStatement(
                ErasureReading.events(
                    "e.lane = $1 AND e.lane_offset >= k.first_offset "
                        + "AND e.lane_offset < k.first_offset + k.count",
                    join: "JOIN ledger.commit k ON k.lane = $1 AND k.commit_no = ANY ($2)"
                ),
                parameters
            ),
            PostgresStatement(
                ErasureReading.confirmations("c.lane = $1 AND c.commit_no = ANY ($2)"),
                parameters
            ),
        ])
        try take(found[0], found[1])
    }

    private mutating func take(_ eventRows: PostgresRows, _ confirmationRows: PostgresRows) throws {
        for row in eventRows {
            let event = try EventRows.event(in: row, lane: lane)
            guard let keys = CommitmentKeys(stored: try row.bytea(13)) else {
                throw EventRows.malformed(event.position)
            }
            events[event.position.offset] = FoundEvent(
                event: event,
                keys: keys,
                store: try row.textIfPresent(14) ?? "",
                isLate: try row.bool(15)
            )
        }

        var known = Set(confirmations.map { Place($0) })
        for row in confirmationRows {
            let salt = try row.bytea(9)
            let stored = try EventRows.confirmationRow(in: row)
            let repeated = try EventRows.confirmations(in: row, lane: lane)
            guard let keys = CommitmentKeys(stored: salt),
                let erased = CommitmentKeys.erased(inStored: salt.count)
            else { throw EventRows.malformed(Position(lane: lane, offset: try row.int8(8))) }
            let found = FoundConfirmation(
                row: stored,
                commit: try row.int8(6),
                keys: keys,
                erased: erased,
                numbers: erased == .everything ? [] : stored.evidenceNumbers,
                repeated: repeated.map(\.position.offset)
            )
            if known.insert(Place(found)).inserted { confirmations.append(found) }
        }
    }

    private struct Place: Hashable {
        let commit: Int64
        let stream: StreamID
        let asOf: Instant

        init(_ found: FoundConfirmation) {
            (commit, stream, asOf) = (found.commit, found.row.stream, found.row.asOf)
        }
    }

    // Payloads that were erased before are left out.
    mutating func readEvidence(
        _ numbers: Set<Int64>,
        in session: isolated PostgresSession
    ) throws {
        guard !numbers.isEmpty else { return }
        let rows = try session.query(
            """
            SELECT v.evidence_no, v.commit_no, v.digest, v.received_at, v.kind, v.source,
                v.is_imported, v.verification, r.digest, v.context, v.byte_count > 0
            FROM ledger.evidence v LEFT JOIN ledger.root_certificate r USING (lane, root_key)
            WHERE v.lane = $1 AND v.evidence_no = ANY ($2) AND v.digest IS NOT NULL
            """,
            [.int4(Int32(lane.number)), .int8Array(Array(numbers))]
        )

        for row in rows {
            guard let digest = Digest(bytes: try row.bytea(2)) else { continue }
            let arrival: Arrival = try row.bool(6) ? .imported : .live
            known[try row.int8(0)] = FoundEvidence(
                commit: try row.int8(1),
                digest: digest,
                record: Evidence.recordDigest(
                    payload: digest,
                    receivedAt: Instant(microseconds: try row.timestamptz(3)),
                    kind: try row.text(4),
                    source: try row.text(5),
                    arrival: arrival.rawValue,
                    verification: try row.text(7),
                    root: try row.byteaIfPresent(8).flatMap(Digest.init(bytes:)),
                    context: try row.textIfPresent(9)
                ),
                isKept: try row.bool(10)
            )
        }
    }

    private static func events(_ condition: String, join: String = "") -> String {
        """
        SELECT \(EventRows.columns), e.store, e.is_late
        FROM ledger.event e \(join) WHERE \(condition)
        """
    }

    private static func confirmations(_ condition: String) -> String {
        """
        SELECT \(ConfirmationJoin.columns), c.salt FROM ledger.confirmation c WHERE \(condition)
        """
    }
}
