import EmbeddedPostgres
import EventLog
import Events
import Postgres
import TestSupport
import Testing

/// Connections and servers that disappear during an append.
@Suite(.enabled { await TestServer.isAvailable })
struct LostConnectionTests {
    /// Each kill hits at random: a look-up, an insert, a COMMIT or a connect.
    @Test(arguments: Variant.all)
    func `a writer whose sessions are killed repeatedly loses and duplicates nothing`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            let (outcomes, killed) = try await Inspector.inspect(settings) { inspector in
                var (outcomes, killed): ([AppendOutcome], Int64) = ([], 0)
                for round in 0..<40 {
                    async let appended = appendAll(Self.payloads(of: round), to: [log])
                    for _ in 0..<5 { killed += try await inspector.number(Self.killOthers) }
                    outcomes += try await appended
                }
                return (outcomes, killed)
            }
            #expect(killed > 20, "only \(killed) sessions were killed")
            #expect(Set(outcomes.map(\.position)).count == outcomes.count)
            let events = try await Inspector.count("event", settings)
            #expect(events == Int64(outcomes.count))
            try await expectSound(log, settings)
        }
    }

    private static func payloads(of round: Int) -> [Verified<[Fact]>] {
        (0..<8).map { number in
            verified(TestFacts.transaction("\(number % 3)", purchased: Int64(round * 8 + number)))
        }
    }

    private static let killOthers = """
        SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()
            AND backend_type = 'client backend'
        """

    @Test(arguments: Variant.localExtremes)
    func `an append waits for a server that restarts`(variant: Variant) async throws {
        var options = EmbeddedServer.Options(lifetime: .process)
        options.settings["fsync"] = "off"
        let server = EmbeddedServer(home: TestServer.temporaryHome(), options: options)
        let settings = try await server.start()
        _ = try await Migrator.migrate(settings, variant.layout)
        let log = try await EventLog.open(settings, .test())
        async let appended = streamIn(log, rounds: 20)
        for _ in 1...2 {
            try await server.stop()
            _ = try await server.start()
        }
        let outcomes = try await appended
        #expect(Set(outcomes.map(\.position)).count == 160)
        try await expectSound(log, settings)
        await log.close()
        try await server.stop()
    }

    private func streamIn(_ log: EventLog, rounds: Int) async throws -> [AppendOutcome] {
        var outcomes: [AppendOutcome] = []
        for round in 0..<rounds {
            outcomes += try await appendAll(Self.payloads(of: round), to: [log])
        }
        return outcomes
    }

    @Test(arguments: Variant.all)
    func `closing finishes the appends under way and refuses later ones`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            let calls = Int64(60)
            let acknowledged = try await withThrowingTaskGroup(of: Int64?.self) { group in
                for number in 0..<calls {
                    group.addTask {
                        do throws(EventLogError) {
                            let fact = TestFacts.transaction(purchased: number)
                            let outcomes = try await log.append(verified(fact))
                            #expect(outcomes.count == 1)
                            return outcomes.first?.position.offset
                        } catch {
                            #expect(error.code == .closed)
                            return nil
                        }
                    }
                    if number == calls / 2 {
                        group.addTask {
                            await log.close()
                            return nil
                        }
                    }
                }
                return try await group.compactMap { $0 }.reduce(into: [Int64]()) { $0.append($1) }
            }
            await log.close()
            let error = await #expect(throws: EventLogError.self) {
                try await log.append(verified(TestFacts.transaction()))
            }
            #expect(error?.code == .closed)
            let reopened = try await EventLog.open(settings, .test())
            let events = try await Inspector.count("event", settings)
            #expect(acknowledged.sorted() == (0..<events).map { $0 + 1 })
            try await expectSound(reopened, settings)
            await reopened.close()
        }
    }
}
