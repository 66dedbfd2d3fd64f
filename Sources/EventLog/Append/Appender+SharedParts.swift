internal import Events
internal import Postgres

// What a lane already has under the keys of the parts that payloads share.
extension Appender {
    /// Why the payloads of a batch cannot be stored with what the lane has under the keys of their
    /// segments and root certificates; nil if they can, and the append can be tried again.
    ///
    /// Another version may have packed the same text in other bytes. Any other text was not inserted
    /// by a program of ours, and no payload with this key could be put together again.
    func sharedPartFault(
        of batch: [Submission],
        in lane: Int,
        by deadline: Deadline
    ) async -> EventLogError? {
        let keys = Set(batch.flatMap { $0.packed?.segments.map(\.key) ?? [] })
        let roots = Set(batch.compactMap(\.evidence.verification.root))
        do {
            let session = try await connected(by: deadline)
            let segments = try await session.query(
                """
                SELECT segment_key, body FROM ledger.evidence_segment
                WHERE lane = $1 AND segment_key = ANY ($2)
                """,
                [.int4(Int32(lane)), .byteaArray(keys.map(\.bytes))]
            )
            for row in segments {
                guard let key = SegmentKey(bytes: try row.bytea(0)) else { continue }
                guard dictionaries.isSegment(key, packed: try row.bytea(1)) else {
                    return Appender.foreignPart("segment \(key)", "evidence_segment", lane)
                }
                stored[lane, default: SharedParts()].segments.insert(key)
            }

            let taken = try await session.query(
                """
                SELECT root_key, digest FROM ledger.root_certificate
                WHERE lane = $1 AND root_key = ANY ($2)
                """,
                [.int4(Int32(lane)), .int4Array(roots.map(StoredRow.rootKey))]
            )
            for row in taken {
                let digest = Digest(bytes: try row.bytea(1))
                guard let digest, roots.contains(digest) else {
                    return Appender.foreignPart(
                        "root certificate \(digest?.hex ?? "")",
                        "root_certificate",
                        lane
                    )
                }
            }
            return nil
        } catch {
            guard let error = error as? AppenderFailure else {
                return EventLog.error(error, doing: "append")
            }
            switch error {
            case .connectionLost(let cause, _), .refused(let cause): return cause
            case .lostRace, .catalogTaken, .sharedPartTaken: return nil
            }
        }
    }

    private static func foreignPart(_ part: String, _ table: String, _ lane: Int) -> EventLogError {
        EventLogError(
            .malformedLog,
            "append: lane \(lane) has the \(part) in ledger.\(table) under a key that belongs to "
                + "another one: something other than subledger inserted it, and payloads that need "
                + "the key could not be read again. Nothing was appended. As a member of "
                + "ledger_owner, run `subledger repair`, then append again"
        )
    }
}

extension EvidenceDictionaries {
    /// Whether a packed body is the segment that its key names.
    func isSegment(_ key: SegmentKey, packed body: [UInt8]) -> Bool {
        let text = EvidencePacking.unpack(
            body,
            byteCountMax: EvidenceDictionaries.segmentBytesMax,
            dictionaries: { self[$0] },
            segment: { _ in nil }
        )
        return text.map { SegmentKey.of($0) == key } ?? false
    }

    /// The longest text of a segment: the header of a JWS has some 4 kB.
    private static let segmentBytesMax = 1 << 20
}
