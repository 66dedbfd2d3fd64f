internal import Events
internal import Postgres

/// Reads evidence back, bit by bit as it arrived, and says whether it still is what it was.
struct EvidenceVault {
    /// What became of a payload.
    enum Finding {
        /// The payload is there, byte for byte; with the digest of its record.
        case whole(record: Digest)
        /// It is not what its address says.
        case damaged(String)
    }

    /// A payload with its record, or why it is not what it was.
    enum Content {
        /// The payload is there, byte for byte.
        case whole(Stored)
        /// It is not what its address says.
        case damaged(String)
    }

    /// A payload and the columns of its record.
    struct Stored {
        let digest: Digest
        let payload: [UInt8]
        let receivedAt: Instant
        let kind: String
        let source: String
        let verification: String
        let root: Digest?

        var record: Digest {
            Evidence.recordDigest(
                payload: digest,
                receivedAt: receivedAt,
                kind: kind,
                source: source,
                verification: verification,
                root: root
            )
        }
    }

    /// Bytes of packed payloads after which no more are fetched at once.
    static let groupBytesMax = 8 << 20

    /// Segments remembered; a ledger of one app meets a handful a year.
    static let segmentsMax = 4096

    private let lane: Int
    private let session: PostgresSession
    private var segments: [Digest: [UInt8]] = [:]

    init(lane: Int, session: PostgresSession) {
        self.lane = lane
        self.session = session
    }

    /// What became of each of these payloads; one that is missing is left out.
    mutating func findings(for digests: Set<Digest>) async throws -> [Digest: Finding] {
        var findings: [Digest: Finding] = [:]
        try await visit(digests) { digest, content in
            findings[digest] =
                switch content {
                case .whole(let stored): .whole(record: stored.record)
                case .damaged(let reason): .damaged(reason)
                }
        }
        return findings
    }

    /// These payloads, whole; one that is missing is left out.
    ///
    /// For few or small ones: all of them are held at once.
    mutating func contents(of digests: Set<Digest>) async throws -> [Digest: Content] {
        var contents: [Digest: Content] = [:]
        try await visit(digests) { contents[$0] = $1 }
        return contents
    }

    private mutating func visit(
        _ digests: Set<Digest>,
        _ take: (Digest, Content) -> Void
    ) async throws {
        for group in try await groups(of: digests) {
            let rows = try await session.query(
                """
                SELECT digest, byte_count, body, received_at, kind, source, verification,
                    root_digest, header_digest
                FROM ledger.evidence WHERE lane = $1 AND digest = ANY ($2)
                """,
                [.int4(Int32(lane)), .byteaArray(group.map(\.bytes))]
            )
            for row in 0..<rows.count {
                guard let digest = Digest(bytes: try rows[row].bytea(0)) else { continue }
                take(digest, try await content(of: digest, in: rows, row))
            }
        }
    }

    /// The exact bytes of a payload; nil where they are not there or not what they were.
    mutating func payload(_ digest: Digest) async throws -> [UInt8]? {
        let rows = try await session.query(
            "SELECT body, byte_count FROM ledger.evidence WHERE lane = $1 AND digest = $2",
            [.int4(Int32(lane)), .bytea(digest.bytes)]
        )
        guard rows.count == 1 else { return nil }
        let unpacked = try await unpack(
            try rows[0].bytea(0),
            byteCount: Int(try rows[0].int4(1))
        )
        return unpacked.flatMap { Digest.of($0.payload) == digest ? $0.payload : nil }
    }

    // A page of evidence may hold payloads of a kilobyte or of megabytes: ask for sizes first.
    private func groups(of digests: Set<Digest>) async throws -> [[Digest]] {
        guard !digests.isEmpty else { return [] }
        let rows = try await session.query(
            """
            SELECT digest, octet_length(body) FROM ledger.evidence
            WHERE lane = $1 AND digest = ANY ($2)
            """,
            [.int4(Int32(lane)), .byteaArray(digests.map(\.bytes))]
        )
        var groups: [[Digest]] = []
        var bytes = EvidenceVault.groupBytesMax
        for row in 0..<rows.count {
            guard let digest = Digest(bytes: try rows[row].bytea(0)) else { continue }
            if bytes >= EvidenceVault.groupBytesMax {
                groups.append([])
                bytes = 0
            }
            groups[groups.count - 1].append(digest)
            bytes += Int(try rows[row].int4(1))
        }
        return groups
    }

    private mutating func content(
        of digest: Digest,
        in rows: PostgresRows,
        _ row: Int
    ) async throws -> Content {
        let byteCount = Int(try rows[row].int4(1))
        let unpacked = try await unpack(try rows[row].bytea(2), byteCount: byteCount)
        guard let (payload, header) = unpacked else {
            return .damaged("the payload cannot be put together")
        }
        guard Digest.of(payload) == digest else {
            return .damaged("the payload's SHA-256 is \(Digest.of(payload))")
        }
        guard payload.count == byteCount else {
            return .damaged("byte_count is \(byteCount), the payload has \(payload.count)")
        }
        guard try rows[row].isNull(8) ? header == nil : rows[row].bytea(8) == header?.bytes else {
            return .damaged("header_digest is not the first segment of the payload")
        }
        guard try rows[row].timestamptz(3) % 1000 == 0 else {
            return .damaged("received_at has a fraction of a millisecond")
        }
        let root = try rows[row].byteaIfPresent(7)
        guard root == nil || root?.count == Digest.byteCount else {
            return .damaged("root_digest is malformed")
        }
        return .whole(
            Stored(
                digest: digest,
                payload: payload,
                receivedAt: Instant(microseconds: try rows[row].timestamptz(3)),
                kind: try rows[row].text(4),
                source: try rows[row].text(5),
                verification: try rows[row].text(6),
                root: root.flatMap(Digest.init(bytes:))
            )
        )
    }

    /// The payload, with the first segment it refers to.
    private mutating func unpack(
        _ body: [UInt8],
        byteCount: Int
    ) async throws -> (payload: [UInt8], header: Digest?)? {
        // A second round fetches what the first found missing; a third only where the memory of
        // segments was emptied in between.
        for _ in 0..<3 {
            var missing: Set<Digest> = []
            var header: Digest?
            let payload = EvidencePacking.unpack(body, byteCountMax: byteCount) { digest in
                header = header ?? digest
                if let segment = segments[digest] { return segment }
                missing.insert(digest)
                return [EvidencePacking.version]
            }
            guard !missing.isEmpty else { return payload.map { ($0, header) } }
            guard try await fetch(missing) else { return nil }
        }
        return nil
    }

    private mutating func fetch(_ missing: Set<Digest>) async throws -> Bool {
        if segments.count > EvidenceVault.segmentsMax { segments = [:] }
        let rows = try await session.query(
            "SELECT digest, body FROM ledger.evidence_segment WHERE lane = $1 AND digest = ANY ($2)",
            [.int4(Int32(lane)), .byteaArray(missing.map(\.bytes))]
        )
        for row in 0..<rows.count {
            guard let digest = Digest(bytes: try rows[row].bytea(0)) else { continue }
            segments[digest] = try rows[row].bytea(1)
        }
        return rows.count == missing.count
    }
}
