internal import Events
internal import Postgres

/// Every dictionary of the ledger, read once; payloads are deflated with them.
struct EvidenceDictionaries: Sendable {
    private let bodies: [UInt8: [UInt8]]
    /// The dictionary that new payloads are packed with; nil if there is none.
    let newest: EvidenceDictionary?

    static func read(from session: PostgresSession) async throws -> EvidenceDictionaries {
        let rows = try await session.query("SELECT version, body FROM ledger.evidence_dictionary")
        var bodies: [UInt8: [UInt8]] = [:]
        for row in rows {
            guard let number = UInt8(exactly: try row.int4(0)) else { continue }
            bodies[number] = try row.bytea(1)
        }
        return EvidenceDictionaries(bodies: bodies)
    }

    private init(bodies: [UInt8: [UInt8]]) {
        self.bodies = bodies
        newest = bodies.max { $0.key < $1.key }.flatMap {
            EvidenceDictionary(number: $0.key, bytes: $0.value)
        }
    }

    subscript(number: UInt8) -> [UInt8]? { bodies[number] }
}

/// Restores evidence bit by bit, and checks that it is unchanged.
struct EvidenceVault {
    /// A payload with its record, or why it cannot be restored.
    enum Content {
        /// The payload is stored, byte for byte; or it arrived after an erasure, was verified at
        /// entry, and only its record was stored.
        case whole(Stored)
        /// It was erased; what remains of its record is no longer covered by any digest.
        case erased(commit: Int64, arrival: Arrival)
        /// It does not match its address.
        case damaged(String)
    }

    /// A payload and the columns of its record.
    struct Stored {
        let digest: Digest
        /// Nil if it was verified at entry and not stored.
        let payload: [UInt8]?
        let commit: Int64
        let receivedAt: Instant
        let kind: String
        let source: String
        let arrival: Arrival
        let verification: String
        let root: Digest?
        let context: String?

        var record: Digest {
            Evidence.recordDigest(
                payload: digest,
                receivedAt: receivedAt,
                kind: kind,
                source: source,
                arrival: arrival.rawValue,
                verification: verification,
                root: root,
                context: context
            )
        }
    }

    /// Bytes of packed payloads at which no more are fetched at once.
    static let groupBytesMax = 8 << 20

    /// The most segments remembered; a ledger of one app sees a handful a year.
    static let segmentsMax = 4096

    private let lane: Int
    private let dictionaries: EvidenceDictionaries
    private let session: PostgresSession
    private var moved: MovedEvidence
    private var segments: [SegmentKey: [UInt8]] = [:]

    init(lane: Int, _ sources: EvidenceSources, session: PostgresSession) {
        self.lane = lane
        dictionaries = sources.dictionaries
        self.session = session
        moved = MovedEvidence(lane: lane, sources, session: session)
    }

    /// The payloads with these numbers; missing ones are left out.
    ///
    /// For few or small ones: all of them are held at once.
    mutating func contents(of numbers: Set<Int64>) async throws -> [Int64: Content] {
        var contents: [Int64: Content] = [:]
        try await visit(numbers) { contents[$0] = $1 }
        return contents
    }

    /// Calls `take` with each of these payloads, in no particular order; missing ones are left out.
    mutating func visit(
        _ numbers: Set<Int64>,
        _ take: (Int64, Content) -> Void
    ) async throws {
        var rest = numbers.sorted()[...]
        while !rest.isEmpty {
            let rows = try await session.query(
                EvidenceVault.groupSQL,
                [.int4(Int32(lane)), .int8Array(Array(rest))]
            )
            guard rows.count > 0 else { return }
            for row in rows { take(try row.int8(0), try await content(in: row)) }
            // The last row tells how much was read.
            guard try rows[rows.count - 1].int8(13) >= EvidenceVault.groupBytesMax else { return }
            let last = try rows[rows.count - 1].int8(0)
            rest = rest.drop { $0 <= last }
        }
    }

    // The first payloads, up to the one that reaches the limit: some have a kilobyte, others
    // megabytes. The sum takes lengths from the rows, without reading any body. Both tables name
    // the lane, or Citus asks every shard.
    private static let groupSQL = """
        SELECT e.evidence_no, e.byte_count, e.body, e.received_at, e.kind, e.source,
            e.verification, r.digest, e.digest, e.is_imported, e.context, e.commit_no,
            e.root_key, e.total
        FROM (
            SELECT v.*, sum(greatest(octet_length(v.body), v.byte_count)) OVER (
                ORDER BY v.evidence_no) AS total
            FROM ledger.evidence v WHERE v.lane = $1 AND v.evidence_no = ANY ($2)) e
        LEFT JOIN ledger.root_certificate r ON r.lane = $1 AND r.root_key = e.root_key
        WHERE e.total - greatest(octet_length(e.body), e.byte_count) < \(groupBytesMax)
        ORDER BY e.evidence_no
        """

    private mutating func content(in row: PostgresRow) async throws -> Content {
        let byteCount = Int(try row.int4(1))
        guard byteCount >= 0, byteCount <= EvidenceVault.payloadBytesMax else {
            return .damaged("byte_count is \(byteCount)")
        }
        let digest = try row.byteaIfPresent(8).flatMap(Digest.init(bytes:))
        let body: [UInt8]?
        do {
            body = try await self.body(in: row, digest: digest)
        } catch let error as EventLogError where error.code == .evidenceFile {
            return .damaged(error.message)
        }
        guard let digest else { return try EvidenceVault.erased(row, body: body) }

        var payload: [UInt8]?
        if let body {
            guard let unpacked = try await unpack(body, byteCount: byteCount) else {
                return .damaged("the payload cannot be put together")
            }
            let computed = Digest.of(unpacked)
            guard computed == digest else {
                return .damaged("the payload's SHA-256 is \(computed)")
            }
            payload = unpacked
        } else if !digest.isPlaceholder {
            return .damaged("the payload is missing, although its digest shows that it was stored")
        }
        guard payload?.count ?? 0 == byteCount else {
            return .damaged("byte_count is \(byteCount), the payload has \(payload?.count ?? 0)")
        }
        guard try row.timestamptz(3) % 1000 == 0 else {
            return .damaged("received_at has a fraction of a millisecond")
        }
        let root = try row.byteaIfPresent(7).flatMap(Digest.init(bytes:))
        guard try root != nil || row.isNull(12) else {
            return .damaged("its root certificate is not in root_certificate")
        }

        return .whole(
            Stored(
                digest: digest,
                payload: payload,
                commit: try row.int8(11),
                receivedAt: Instant(microseconds: try row.timestamptz(3)),
                kind: try row.text(4),
                source: try row.text(5),
                arrival: try row.bool(9) ? .imported : .live,
                verification: try row.text(6),
                root: root,
                context: try row.textIfPresent(10)
            )
        )
    }

    // The packed payload, from the row or from the file that it was moved to.
    private mutating func body(in row: PostgresRow, digest: Digest?) async throws -> [UInt8]? {
        if let body = try row.byteaIfPresent(2) { return body }
        guard digest?.isPlaceholder != true,
            case .body(let body) = try await moved.find(try row.int8(0), isMoved: digest != nil)
        else { return nil }
        return body
    }

    private static func erased(_ row: PostgresRow, body: [UInt8]?) throws -> Content {
        guard body == nil else {
            return .damaged(
                "it was erased, but a payload file still contains it: run the same `subledger "
                    + "erase` again, with that folder writable"
            )
        }
        return .erased(
            commit: try row.int8(11),
            arrival: try row.bool(9) ? .imported : .live
        )
    }

    /// The longest payload that a row may claim, in bytes: far above what verifiers accept, and
    /// small enough to hold in memory.
    private static let payloadBytesMax = 256 << 20

    private mutating func unpack(_ body: [UInt8], byteCount: Int) async throws -> [UInt8]? {
        // A second round fetches what the first found missing; a third is needed only if the
        // segment cache was cleared in between.
        for _ in 0..<3 {
            var missing: Set<SegmentKey> = []
            let payload = EvidencePacking.unpack(
                body,
                byteCountMax: byteCount,
                dictionaries: { dictionaries[$0] },
                segment: { key in
                    if let segment = segments[key] { return segment }
                    missing.insert(key)
                    return nil
                }
            )
            guard !missing.isEmpty else { return payload }
            guard try await fetch(missing) else { return nil }
        }
        return nil
    }

    private mutating func fetch(_ missing: Set<SegmentKey>) async throws -> Bool {
        if segments.count > EvidenceVault.segmentsMax { segments = [:] }
        let rows = try await session.query(
            """
            SELECT segment_key, body FROM ledger.evidence_segment
            WHERE lane = $1 AND segment_key = ANY ($2)
            """,
            [.int4(Int32(lane)), .byteaArray(missing.map(\.bytes))]
        )
        for row in 0..<rows.count {
            guard let key = SegmentKey(bytes: try rows[row].bytea(0)) else {
                continue
            }
            segments[key] = try rows[row].bytea(1)
        }
        return rows.count == missing.count
    }
}
