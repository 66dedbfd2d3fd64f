import EventLog
import Events
import Postgres
import Synchronization

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
            results.record("single\(callers)", ledger: ours, plain: theirs)
        }
        let ours = try await appendBatches()
        let theirs = try await copyPlain()
        results.record("batch\(BenchMaterial.batchFacts)", ledger: ours, plain: theirs)
    }

    private func appendSingles(
        _ payloads: [Verified<[Fact]>],
        callers: Int
    ) async throws -> Double {
        let log = try await EventLog.open(settings)
        let work = WorkList(count: payloads.count)
        let rate = try await AppendBench.rate(of: payloads.count) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<callers {
                    group.addTask {
                        while let index = work.next() { _ = try await log.append(payloads[index]) }
                    }
                }
                try await group.waitForAll()
            }
        }
        await log.close()
        return rate
    }

    private func appendBatches() async throws -> Double {
        let log = try await EventLog.open(settings)
        let facts = material.batches.count * BenchMaterial.batchFacts
        let rate = try await AppendBench.rate(of: facts) {
            // As in an import: the next batch is prepared while the last is written.
            let work = WorkList(count: material.batches.count)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        while let index = work.next() {
                            _ = try await log.append(material.batches[index])
                        }
                    }
                }
                try await group.waitForAll()
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

        let rate = try await AppendBench.rate(of: facts) {
            for (number, batch) in material.batches.enumerated() {
                let first = first + Int64(number * BenchMaterial.batchFacts)
                let packed = packed[number]
                try await session.transaction { session throws(PostgresError) in
                    try session.copyRows(PlainEventRow.copy(into: "plain.event"), batch.count) {
                        PlainEventRow(batch[$0], 0, offset: first + Int64($0)).values
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

    static func rate(
        of count: Int,
        _ body: @Sendable () async throws -> Void
    ) async throws -> Double {
        let start = ContinuousClock.now
        try await body()
        return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
    }
}

/// Hands out the numbers of a list, each once.
final class WorkList: Sendable {
    private let count: Int
    private let taken = Atomic<Int>(0)

    init(count: Int) {
        self.count = count
    }

    func next() -> Int? {
        let index = taken.wrappingAdd(1, ordering: .relaxed).oldValue
        return index < count ? index : nil
    }
}

extension PostgresSession {
    fileprivate func copyRows(
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
