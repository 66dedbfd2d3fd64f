import EventLog
import Events
import Postgres
import TestSupport
import Testing

/// An append compares what the server stored with what it sent.
@Suite(.enabled { await TestServer.isAvailable })
struct DroppedRowTests {
    /// How a superuser or an owner makes rows disappear on their way in.
    private static let losses = ["event", "evidence", "confirmation", "commit"].flatMap { table in
        [
            """
            CREATE FUNCTION public.drop_row() RETURNS trigger LANGUAGE plpgsql
            AS 'BEGIN RETURN NULL; END';
            CREATE TRIGGER dropped BEFORE INSERT ON ledger.\(table)
            FOR EACH ROW EXECUTE FUNCTION public.drop_row()
            """,
            "CREATE RULE dropped AS ON INSERT TO ledger.\(table) DO INSTEAD NOTHING",
        ]
    }

    @Test(arguments: losses, [1, 20, 300])
    func `an append whose rows are dropped is an error, and nothing of it is stored`(
        loss: String,
        count: Int64
    ) async throws {
        // A COPY follows no rule.
        guard !loss.contains("RULE dropped AS ON INSERT TO ledger.event") || count < 300 else {
            return
        }
        try await Variant.plain.withLog { log, settings in
            _ = try await log.append(verified(TestFacts.transaction("1000", purchased: 9000)))
            try await Inspector.inspect(settings) { inspector in
                try await inspector.session.execute(loss)
            }
            let repeated = verified(TestFacts.transaction("1000", purchased: 9000, asOf: 9001))
            let facts = (0..<count).map { verified(TestFacts.transaction("2000", purchased: $0)) }
            let isOfConfirmation = loss.contains("confirmation")
            let error = await #expect(throws: EventLogError.self) {
                _ = try await log.append(isOfConfirmation ? [repeated] : facts)
            }
            #expect(error?.code == .rowsDropped, "\(loss): \(String(describing: error))")
            #expect(try await Inspector.count("event", settings) == 1)
            #expect(try await Inspector.count("commit", settings) == 1)
            #expect(try await Inspector.count("evidence", settings) == 1)
            _ = try await Migrator.migrate(settings)
            _ = try await log.append(isOfConfirmation ? [repeated] : facts)
            try await expectSound(log, settings)
        }
    }
}
