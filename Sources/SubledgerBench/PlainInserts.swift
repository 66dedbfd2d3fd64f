import EventLog
import Events
import Postgres

/// Durable INSERTs over plain connections: the rate of a database without order or chain.
struct PlainInserts {
    let settings: ConnectionSettings

    /// Connections reserved for others: a server admits a hundred by default.
    private static let connectionsKept = 8

    /// Creates tables with the columns, constraints and indexes of the ledger's.
    func makeTables() async throws {
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

    /// Rows in the table of events.
    func count() async throws -> Int64 {
        let session = try await PostgresSession.connect(settings)
        let count = try await session.query("SELECT count(*) FROM plain.event")[0].int8(0)
        await session.close()
        return count
    }

    /// Transactions a second: each inserts the first event of a payload.
    func rate(of payloads: [Verified<[Fact]>], callers: Int) async throws -> Double {
        let probe = try await PostgresSession.connect(settings)
        let allowed = try await probe.query(
            "SELECT current_setting('max_connections')::int - \(PlainInserts.connectionsKept)"
        )
        await probe.close()
        let connections = min(callers, Int(try allowed[0].int4(0)))

        var sessions: [PostgresSession] = []
        for _ in 0..<connections { sessions.append(try await PostgresSession.connect(settings)) }
        let first = try await count()
        let open = sessions

        let rate = try await SubledgerBench.rate(of: payloads.count) {
            try await WorkList.run(payloads.count, workers: open.count) { worker, index in
                let row = PlainEventRow.values(payloads[index], offset: first + Int64(index) + 1)
                try await open[worker].query(PlainEventRow.insert(into: "plain.event"), row)
            }
        }
        for session in sessions { await session.close() }
        return rate
    }
}
