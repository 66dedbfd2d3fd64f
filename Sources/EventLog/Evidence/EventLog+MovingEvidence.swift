package import Events
internal import Postgres

/// A file of payloads that were moved out of the database.
package struct MovedEvidenceFile: Hashable, Sendable {
    /// The lane of the payloads.
    package let lane: Int
    /// The number of its first payload.
    package let first: Int64
    /// The number of its last payload.
    package let last: Int64
    /// The packed bytes of all payloads in it.
    package let byteCount: Int
    /// Where it is.
    package let path: String
}

extension EventLog {
    /// The most bytes of payloads in a file, unless one alone has more: an append to the lane may
    /// wait for the file, and an erasure opens each that it changes.
    package static let evidenceFileBytesMax = 16 << 20

    /// The most payloads in a file, for the same reason.
    private static let evidenceFilePayloadsMax = 65_536

    /// Moves the bytes of old payloads from the database to files, which `verify`, `event` and
    /// erasures then read.
    ///
    /// One transaction for each file: it is durable and was read back before the bytes leave the
    /// database. If this is interrupted, the same call again continues. Numbers, digests and all
    /// that proves a payload stay in the database. Appends continue.
    ///
    /// - Parameters:
    ///   - instant: Payloads of commits before it are moved, on the server's clock.
    ///   - folder: An existing folder; an absolute path.
    ///   - bytesMax: The most bytes of payloads in a file; a test writes smaller ones.
    ///   - progress: Called with each file after its transaction.
    /// - Throws: `permissionDenied` unless the login is a member of `ledger_owner`;
    ///   `evidenceFile`, `malformedLog`, `databaseUnavailable`; `notDistributable` on a ledger on
    ///   several servers.
    package func moveEvidence(
        before instant: Instant,
        to folder: String,
        bytesMax: Int = evidenceFileBytesMax,
        progress: (MovedEvidenceFile) -> Void
    ) async throws(EventLogError) {
        precondition(folder.hasPrefix("/"), "a folder of payload files has an absolute path")
        for lane in 0..<identity.lanes.value {
            let end = KnownAt.time(Instant(milliseconds: instant.milliseconds - 1))
            let newest = try await newestCommit(lane: lane, knownAt: end)
            guard let last = newest?.commit.lastEvidence else { continue }
            let move = EvidenceMove(
                identity: identity,
                lane: lane,
                last: last,
                folder: folder,
                bytesMax: bytesMax
            )

            do {
                try await PostgresSession.using(settings, by: limits.deadline()) { session in
                    while let file = try await move.file(in: session) {
                        progress(file)
                        await session.setDeadline(limits.deadline())
                    }
                }
            } catch {
                throw EventLog.error(error, doing: "evidence move")
            }
        }
    }

    /// Overwrites, in the files of moved payloads, all that were erased: also those that an earlier
    /// erasure, interrupted after its transaction, left there.
    func blankMovedEvidence() async throws(EventLogError) {
        let sources = evidenceSources
        try await reading("erase moved payloads") { session in
            guard try await session.query(EventLog.hasFiles).single().bool(0) else { return }
            for lane in 0..<identity.lanes.value {
                let own = PostgresValue.int4(Int32(lane))
                let rows = try await session.query(EvidenceSources.filesSQL, [own])
                let places = try sources.files(rows, lane: lane)
                guard let end = places.last?.last else { continue }
                let erased = try await session.query(EventLog.erasedEvidence, [own, .int8(end)])
                var rest = try erased.map { try $0.int8(0) }[...]
                for place in places {
                    let here = rest.prefix { $0 <= place.last }
                    guard !here.isEmpty else { continue }
                    rest = rest.dropFirst(here.count)
                    try EvidenceFile(place, forErasing: true).blank(Array(here))
                }
            }
        }
    }

    private static let hasFiles = "SELECT EXISTS (SELECT FROM ledger.evidence_file)"

    // The index over the first bytes of digests finds them.
    private static let erasedEvidence = """
        SELECT evidence_no FROM ledger.evidence
        WHERE lane = $1 AND evidence_no <= $2 AND substr(digest, 1, 7) IS NULL AND digest IS NULL
        ORDER BY evidence_no
        """

    /// The transactions that move the payloads of a lane.
    private struct EvidenceMove: Sendable {
        let identity: LedgerIdentity
        let lane: Int
        /// The last payload to move.
        let last: Int64
        let folder: String
        let bytesMax: Int

        /// Moves the next ones in a transaction; nil if there are none.
        func file(in session: PostgresSession) async throws -> MovedEvidenceFile? {
            try await session.atomically { session in try next(in: session) }
        }

        private func next(in session: isolated PostgresSession) throws -> MovedEvidenceFile? {
            try session.execute(
                "SET LOCAL ROLE ledger_owner; SET LOCAL search_path = pg_catalog, pg_temp"
            )
            guard try !Distribution.isInUse(in: session) else {
                throw EventLogError(
                    .notDistributable,
                    "evidence move: this ledger is distributed over several servers, on which payloads "
                        + "cannot be moved to files; nothing was changed"
                )
            }

            let own = PostgresValue.int4(Int32(lane))
            // Erasures and other moves of the lane wait.
            try session.query(AppendSQL.lockLane, [own])
            let first = try session.query(EvidenceMove.first, [own]).single().int8(0)
            guard first <= last else { return nil }
            let rows = try session.query(
                EvidenceMove.bodies,
                [own, .int8(first), .int8(last), .int8(Int64(bytesMax))]
            )
            let bodies = try rows.map { try $0.byteaIfPresent(1) }
            for (row, number) in zip(rows, first...) where try row.int8(0) != number {
                throw EvidenceMove.missing(number, lane)
            }
            guard !bodies.isEmpty else { throw EvidenceMove.missing(first, lane) }

            let end = first + Int64(bodies.count) - 1
            let name = "\(hexadecimal(identity.ledgerId))-\(lane)-\(first).evidence"
            let place = EvidenceFile.Place(
                ledgerId: identity.ledgerId,
                lane: lane,
                first: first,
                last: end,
                path: "\(folder)/\(name)"
            )
            try EvidenceFile.make(bodies, at: place)
            try session.query(
                EvidenceMove.record,
                [own, .int8(first), .int8(end), .text(place.path)]
            )
            let removed = try session.query(
                EvidenceMove.remove,
                [own, .int8(first), .int8(end)]
            ).single().int8(0)
            guard removed == bodies.count(where: { $0 != nil }) else {
                throw EvidenceMove.missing(first, lane)
            }

            return MovedEvidenceFile(
                lane: lane,
                first: first,
                last: end,
                byteCount: bodies.reduce(0) { $0 + ($1?.count ?? 0) },
                path: place.path
            )
        }

        private static func missing(_ number: Int64, _ lane: Int) -> EventLogError {
            EventLogError(
                .malformedLog,
                "evidence move: payload \(number) of lane \(lane) is missing or changed meanwhile; "
                    + "nothing more was moved. Run `subledger verify`"
            )
        }

        private static let first = """
            SELECT coalesce(max(last_evidence_no), 0) + 1 FROM ledger.evidence_file WHERE lane = $1
            """

        private static let bodies = """
            SELECT v.evidence_no, v.body FROM (
                SELECT evidence_no, body,
                    sum(octet_length(body)) OVER (ORDER BY evidence_no) AS total
                FROM ledger.evidence
                WHERE lane = $1 AND evidence_no BETWEEN $2 AND $3
                    AND evidence_no < $2 + \(EventLog.evidenceFilePayloadsMax)) v
            WHERE coalesce(v.total, 0) <= $4 OR v.evidence_no = $2
            ORDER BY v.evidence_no
            """

        private static let record = """
            INSERT INTO ledger.evidence_file (lane, first_evidence_no, last_evidence_no, moved_at, path)
            VALUES ($1, $2, $3, date_trunc('milliseconds', statement_timestamp()), $4)
            """

        private static let remove = """
            WITH moved AS (
                UPDATE ledger.evidence SET body = NULL
                WHERE lane = $1 AND evidence_no BETWEEN $2 AND $3 AND body IS NOT NULL RETURNING 1)
            SELECT count(*) FROM moved
            """
    }
}
