package import Events
import Postgres

extension EventLog {
    /// The origin of a stream's events and confirmations, by the number of their evidence in the
    /// stream's lane.
    ///
    /// Missing payloads are left out; `verify` finds them.
    package func evidenceSummaries(
        of history: StreamHistory
    ) async throws(EventLogError) -> [Int64: EvidenceSummary] {
        try await evidenceSummaries(of: [history])[0]
    }

    /// The evidence of each of several histories, in one round trip.
    func evidenceSummaries(
        of histories: [StreamHistory]
    ) async throws(EventLogError) -> [[Int64: EvidenceSummary]] {
        guard !histories.isEmpty else { return [] }
        let statements = histories.map { history in
            let lane = identity.lanes.lane(of: history.stream.originalTransactionId)
            let numbers = Set(history.events.map(\.evidence))
                .union(history.confirmations.map(\.evidence))
            return PostgresStatement(
                EvidenceSummary.sql,
                [.int4(Int32(lane)), .int8Array(Array(numbers))]
            )
        }
        return try await reading("read the evidence of a stream") { session in
            try await session.lookUp(statements).map { try EvidenceSummary.byNumber($0) }
        }
    }

    /// The origin of a stream's events.
    package func eventSummaries(
        of history: StreamHistory
    ) async throws(EventLogError) -> [Position: EvidenceSummary] {
        var events = history
        events.confirmations = []
        let summaries = try await evidenceSummaries(of: events)
        return history.events.reduce(into: [:]) { $0[$1.position] = summaries[$1.evidence] }
    }

    /// The digests among these that any lane contains, each with the strongest trust with which it
    /// was stored.
    ///
    /// Callers that arrive during a look-up share the next one, because it asks all servers of a
    /// distributed ledger.
    ///
    /// - Returns: Those found, and perhaps others that were looked up together with them.
    /// - Throws: `databaseUnavailable`, also if no answer came within the time of an append.
    package func knownEvidence(
        _ digests: [Digest]
    ) async throws(EventLogError) -> [Digest: Verification] {
        guard !digests.isEmpty else { return [:] }
        return try await knownPayloads.join(digests, size: digests.count) {
            digests throws(EventLogError) in
            try await self.lookUp(digests.flatMap { $0 })
        }
    }

    private func lookUp(
        _ digests: [Digest]
    ) async throws(EventLogError) -> [Digest: Verification] {
        let asked = digests.map { $0.bytes }
        return try await reading(
            "look evidence up",
            on: payloadPool,
            by: limits.deadline()
        ) { session in
            let rows = try await session.probe(EvidenceSummary.knownSQL, [.byteaArray(asked)])
            var known: [Digest: Verification] = [:]
            for row in rows {
                guard let digest = Digest(bytes: try row.bytea(0)),
                    let trust = Verification.Trust(rawValue: try row.text(1))
                else { continue }
                let root = try row.byteaIfPresent(2).flatMap(Digest.init(bytes:))
                guard (trust == .signed) == (root != nil) else { continue }
                if let other = known[digest], !trust.isStronger(than: other.trust) { continue }
                known[digest] = Verification(trust: trust, root: root)
            }
            return known
        }
    }
}
