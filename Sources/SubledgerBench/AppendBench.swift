import EventLog
import Events
import Postgres
import Synchronization

/// One round: every cell once, the ledger and plain PostgreSQL one after the other.
struct AppendBench {
    let settings: ConnectionSettings
    let material: BenchMaterial

    /// Connections that are left to others: a server admits a hundred by default.
    private static let connectionsKept = 8

    func measure(into results: inout BenchResults) async throws {
        try await makePlainTables()
        for callers in BenchMaterial.callers {
            let payloads = material.singles[callers, default: []]
            let ours = try await appendSingles(payloads, callers: callers)
            let theirs = try await insertPlain(payloads, callers: callers)
            results.record("single\(callers)", ledger: ours, plain: theirs)
        }
        let ours = try await appendBatches()
        let theirs = try await copyPlain()
        results.record("batch\(BenchMaterial.batchFacts)", ledger: ours, plain: theirs)
    }

    private func makePlainTables() async throws {
        let session = try await PostgresSession.connect(settings)
        try await session.execute(
            """
            CREATE SCHEMA plain;
            CREATE TABLE plain.event (LIKE ledger.event INCLUDING ALL);
            CREATE TABLE plain.evidence (LIKE ledger.evidence INCLUDING ALL)
            """
        )
        await session.close()
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

    private func insertPlain(
        _ payloads: [Verified<[Fact]>],
        callers: Int
    ) async throws -> Double {
        let probe = try await PostgresSession.connect(settings)
        let allowed = try await probe.query(
            "SELECT current_setting('max_connections')::int - \(AppendBench.connectionsKept)"
        )
        await probe.close()
        let connections = min(callers, Int(try allowed[0].int4(0)))
        var sessions: [PostgresSession] = []
        for _ in 0..<connections { sessions.append(try await PostgresSession.connect(settings)) }
        let work = WorkList(count: payloads.count)
        let first = try await plainCount()
        let open = sessions
        let rate = try await AppendBench.rate(of: payloads.count) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for session in open {
                    group.addTask {
                        while let index = work.next() {
                            let row = PlainEventRow(
                                payloads[index],
                                0,
                                offset: first + Int64(index) + 1
                            )
                            try await session.query(
                                PlainEventRow.insert(into: "plain.event"),
                                row.values
                            )
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        for session in sessions { await session.close() }
        return rate
    }

    private func plainCount() async throws -> Int64 {
        let session = try await PostgresSession.connect(settings)
        let count = try await session.query("SELECT count(*) FROM plain.event")[0].int8(0)
        await session.close()
        return count
    }

    private func appendBatches() async throws -> Double {
        let log = try await EventLog.open(settings)
        let facts = material.batches.count * BenchMaterial.batchFacts
        let rate = try await AppendBench.rate(of: facts) {
            // As an import does: the next batch is made ready while the last is written.
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

    /// The same rows, one transaction a batch: an event row and an evidence row a fact.
    private func copyPlain() async throws -> Double {
        let log = try await EventLog.open(settings)
        let dictionary = log.evidenceDictionary
        await log.close()
        let session = try await PostgresSession.connect(settings)
        let first = try await plainCount() + 1
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

    private static func rate(
        of count: Int,
        _ body: @Sendable () async throws -> Void
    ) async throws -> Double {
        let start = ContinuousClock.now
        try await body()
        return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
    }
}

/// Hands out the numbers of a list to whoever asks, each once.
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
