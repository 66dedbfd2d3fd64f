import EventLog
import Events
import Postgres

/// One round: every cell once, alternating between the ledger and plain PostgreSQL.
struct AppendBench {
    let settings: ConnectionSettings
    let material: BenchMaterial

    func measure(into results: inout BenchResults) async throws {
        let plain = PlainInserts(settings: settings)
        try await plain.makeTables()
        for callers in BenchMaterial.callers {
            let payloads = material.singles[callers, default: []]
            let ours = try await appendSingles(payloads, callers: callers)
            let theirs = try await plain.rate(of: payloads, callers: callers)
            results.ledger.add(ours, to: "single\(callers)")
            results.plain.add(theirs, to: "single\(callers)")
        }
        let ours = try await appendBatches()
        let theirs = try await copyPlain()
        results.ledger.add(ours, to: "batch\(BenchMaterial.batchFacts)")
        results.plain.add(theirs, to: "batch\(BenchMaterial.batchFacts)")
    }

    private func appendSingles(
        _ payloads: [Verified<[Fact]>],
        callers: Int
    ) async throws -> Double {
        let log = try await EventLog.open(settings)
        let rate = try await rate(of: payloads.count) {
            try await WorkList.run(payloads.count, workers: callers) { _, index in
                _ = try await log.append(payloads[index])
            }
        }
        await log.close()
        return rate
    }

    private func appendBatches() async throws -> Double {
        let log = try await EventLog.open(settings)
        let facts = material.batches.count * BenchMaterial.batchFacts
        let rate = try await rate(of: facts) {
            // As in an import: the next batch is prepared while the last is written.
            try await WorkList.run(material.batches.count, workers: 2) { [material] _, index in
                _ = try await log.append(material.batches[index])
            }
        }
        await log.close()
        return rate
    }

    /// The same rows, one transaction for each batch: one event row and one evidence row for each
    /// fact.
    private func copyPlain() async throws -> Double {
        let log = try await EventLog.open(settings)
        let dictionary = log.evidenceDictionary
        await log.close()
        let session = try await PostgresSession.connect(settings)
        let first = try await PlainInserts(settings: settings).count() + 1
        let packed = material.batches.map { batch in
            batch.map { EvidencePacking.pack($0.evidence.payload, dictionary: dictionary) }
        }
        let facts = material.batches.count * BenchMaterial.batchFacts

        let rate = try await rate(of: facts) {
            for (number, batch) in material.batches.enumerated() {
                let first = first + Int64(number * BenchMaterial.batchFacts)
                let packed = packed[number]
                try await session.transaction { session throws(PostgresError) in
                    try session.copyRows(PlainEventRow.copy(into: "plain.event"), batch.count) {
                        PlainEventRow.values(batch[$0], offset: first + Int64($0))
                    }
                    try session.copyRows(
                        PlainEventRow.copyEvidence(into: "plain.evidence"),
                        batch.count
                    ) { index in
                        PlainEventRow.evidence(
                            batch[index].evidence,
                            packed[index],
                            number: first + Int64(index)
                        )
                    }
                }
            }
        }
        await session.close()
        return rate
    }
}

extension PostgresSession {
    /// Copies that many rows into a table.
    func copyRows(
        _ sql: String,
        _ count: Int,
        row: @Sendable (Int) -> [PostgresValue]
    ) throws(PostgresError) {
        _ = try copyIn(sql, from: 0) { index, writer throws(PostgresError) in
            guard index < count else { return false }
            writer.row(row(index))
            index += 1
            return true
        }
    }
}
