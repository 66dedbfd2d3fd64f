public import Events
internal import Postgres

/// A payload of the log with the events that cite it.
public struct CitedPayload: Sendable {
    /// SHA-256 of the payload.
    public let digest: Digest
    /// The payload, or why it is not there.
    public let evidence: Found
    /// Events that stand one after the other and cite it, by offset; at least one.
    public let events: [Event]

    /// What became of the payload.
    public enum Found: Sendable {
        /// It is there, byte for byte.
        case whole(Evidence)
        /// It is not what its address says, or its record cannot be read.
        case damaged(String)
        /// It is not there.
        case missing
    }
}

/// A part of a lane, in the order of the log.
public struct CitedPayloadPage: Sendable {
    /// The payloads, by the first event that cites them.
    ///
    /// A payload that is cited again later comes again then: when a newer version of this program
    /// read more out of it than the one that stored it.
    public let payloads: [CitedPayload]
    /// The event after them that cannot be read, and why; nil where all can.
    public let malformed: (position: Position, reason: String)?
    /// The offset after which the next page begins.
    public let lastOffset: Int64

    /// Events of a page: some hundred payloads, enough to keep a core busy for tens of milliseconds.
    static let eventsMax = 256
    /// Bytes of payloads after which a page is full; one payload may be larger.
    static let bytesMax = 16 << 20
}

extension EventLog {
    /// Reads a part of a lane with its evidence; memory does not grow with the log.
    ///
    /// Facts of one payload are never split over two pages.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - offset: `lastOffset` of the page before; 0 for the first.
    ///   - head: The newest commit to take into account.
    /// - Returns: The page; nil after the last.
    /// - Throws: `databaseUnavailable`.
    public func citedPayloads(
        lane: Int,
        after offset: Int64,
        upTo head: Head
    ) async throws(EventLogError) -> CitedPayloadPage? {
        guard offset < head.offset else { return nil }
        return try await reading("read the evidence of lane \(lane)") { session in
            var limit = CitedPayloadPage.eventsMax
            while true {
                var page = try await CitedEvents(session, lane, offset, head.offset, limit)
                if page.isCutInsideFirst, limit <= EventLog.factsPerPayloadMax {
                    limit *= 8
                    continue
                }
                try await page.keepWhatFits(in: session)
                return try await page.withEvidence(from: session)
            }
        }
    }
}

/// Events of a lane, gathered by the payload they cite.
private struct CitedEvents {
    private let lane: Int
    private let isCut: Bool
    private var groups: [(digest: Digest, events: [Event])] = []
    private var malformed: (position: Position, reason: String)?
    private var lastOffset: Int64

    /// Whether more facts of the first payload may follow.
    var isCutInsideFirst: Bool { isCut && groups.count == 1 && malformed == nil }

    init(
        _ session: PostgresSession,
        _ lane: Int,
        _ offset: Int64,
        _ last: Int64,
        _ limit: Int
    ) async throws {
        let rows = try await session.query(
            """
            SELECT \(EventRows.columns) FROM ledger.event e
            WHERE e.lane = $1 AND e.lane_offset > $2 AND e.lane_offset <= $3
            ORDER BY e.lane_offset LIMIT $4
            """,
            [.int4(Int32(lane)), .int8(offset), .int8(last), .int8(Int64(limit))]
        )
        self.lane = lane
        isCut = rows.count == limit
        // Where rows were deleted there is nothing to read; the chain of digests tells of it.
        lastOffset = isCut ? offset : last
        for row in rows {
            do {
                let event = try EventRows.event(in: row)
                if groups.last?.digest == event.evidence {
                    groups[groups.count - 1].events.append(event)
                } else {
                    groups.append((event.evidence, [event]))
                }
                if isCut { lastOffset = event.position.offset }
            } catch let error as EventLogError {
                malformed = (Position(lane: lane, offset: try row.int8(1)), error.message)
                break
            }
        }
    }

    /// Leaves the last payload to the next page where more of its facts may follow, and what is too
    /// much for one page.
    mutating func keepWhatFits(in session: PostgresSession) async throws {
        if isCut, groups.count > 1, malformed == nil { leaveOut(from: groups.count - 1) }
        let rows = try await session.query(
            "SELECT digest, byte_count FROM ledger.evidence WHERE lane = $1 AND digest = ANY ($2)",
            [.int4(Int32(lane)), .byteaArray(groups.map(\.digest.bytes))]
        )
        var sizes: [Digest: Int] = [:]
        for row in rows {
            guard let digest = Digest(bytes: try row.bytea(0)) else { continue }
            sizes[digest] = Int(max(0, try row.int4(1)))
        }
        var bytes = 0
        for (index, group) in groups.enumerated() {
            bytes += sizes[group.digest] ?? 0
            if index > 0, bytes > CitedPayloadPage.bytesMax {
                leaveOut(from: index)
                return
            }
        }
    }

    private mutating func leaveOut(from index: Int) {
        groups.removeSubrange(index...)
        malformed = nil
        lastOffset = groups.last?.events.last?.position.offset ?? lastOffset
    }

    func withEvidence(from session: PostgresSession) async throws -> CitedPayloadPage {
        var vault = EvidenceVault(lane: lane, session: session)
        let contents = try await vault.contents(of: Set(groups.map(\.digest)))
        return CitedPayloadPage(
            payloads: groups.map { group in
                CitedPayload(
                    digest: group.digest,
                    evidence: contents[group.digest].map(CitedPayload.Found.init) ?? .missing,
                    events: group.events
                )
            },
            malformed: malformed,
            lastOffset: lastOffset
        )
    }
}

extension CitedPayload.Found {
    init(_ content: EvidenceVault.Content) {
        switch content {
        case .damaged(let reason): self = .damaged(reason)
        case .whole(let stored):
            guard let kind = PayloadKind(rawValue: stored.kind),
                let trust = Verification.Trust(rawValue: stored.verification),
                (trust == .signed) == (stored.root != nil)
            else {
                self = .damaged(
                    "its record says kind \(stored.kind), verification \(stored.verification)"
                        + (stored.root == nil ? " without" : " with") + " a root"
                )
                return
            }
            self = .whole(
                Evidence(
                    payload: stored.payload,
                    kind: kind,
                    source: stored.source,
                    verification: Verification(trust: trust, root: stored.root),
                    receivedAt: stored.receivedAt
                )
            )
        }
    }
}
