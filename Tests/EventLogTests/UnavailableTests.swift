import EmbeddedPostgres
import EventLog
import Events
import Postgres
import TestSupport
import Testing

/// A database that does not answer: an append ends at its deadline and reports what it may have
/// written.
@Suite(.enabled { await TestServer.isAvailable })
struct UnavailableTests {
    /// Lanes are committed one after the other: facts for the second wait behind the first.
    @Test func `a stopped backend fails the append under way and those that wait behind it`()
        async throws
    {
        let variant = Variant.fourLanes
        try await variant.withDatabase { settings in
            let log = try await EventLog.open(settings, Self.options(seconds: 1))
            let ids = (0..<2).map { variant.ids(inLane: $0, count: 1)[0] }
            for id in ids { _ = try await Self.stored(TestFacts.transaction(id), in: log) }
            let errors = try await Backends.stopped(of: settings) {
                await withTaskGroup(of: EventLogError?.self) { group in
                    for id in ids {
                        group.addTask { await Self.failure(of: id, in: log) }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
            }
            #expect(errors.map { $0?.code } == [.databaseUnavailable, .databaseUnavailable])
            let messages = errors.compactMap { $0?.message }
            #expect(messages.filter { $0.contains("may have taken effect") }.count == 1)
            #expect(messages.filter { $0.contains("nothing of this one was written") }.count == 1)
            #expect(messages.contains { $0.contains("SUBLEDGER_APPEND_SECONDS_MAX") })
            for id in ids {
                let again = TestFacts.transaction(id, purchased: 1)
                #expect(try await Self.stored(again, in: log).map(\.position.offset) == [2])
            }
            try await expectSound(log, settings)
            await log.close()
        }
    }

    @Test func `append and close end while the server is gone, and appends work once it is back`()
        async throws
    {
        let options = EmbeddedServer.Options(lifetime: .process, settings: ["fsync": "off"])
        let server = EmbeddedServer(home: TestServer.temporaryHome(), options: options)
        let settings = try await server.start()
        _ = try await Migrator.migrate(settings)
        let log = try await EventLog.open(settings, Self.options(seconds: 1))
        _ = try await Self.stored(TestFacts.transaction(), in: log)
        try await server.stop()
        let first = await Self.failure(of: "1000", in: log)
        #expect(first?.code == .databaseUnavailable && first?.isRetryable == true)
        // The first append lost its connection; the second could not open one.
        let second = await Self.failure(of: "1000", in: log)
        #expect(second?.message.contains("Nothing was written") == true, "\(second as Any)")
        _ = try await server.start()
        let again = TestFacts.transaction(purchased: 1)
        #expect(try await Self.stored(again, in: log).map(\.position.offset) == [2])
        try await server.stop()
        async let last = Self.failure(of: "1000", in: log)
        await log.close()
        let code = await last?.code
        #expect(code == .databaseUnavailable || code == .closed)
    }

    @Test func `appends are abandoned when their program is asked to stop`() async throws {
        try await Variant.plain.withDatabase { settings in
            let log = try await EventLog.open(settings, Self.options(seconds: 3600))
            _ = try await log.append(verified(TestFacts.transaction()))
            let error = try await Backends.stopped(of: settings) {
                async let failure = Self.failure(of: "1000", in: log)
                log.giveUpAppends(after: .milliseconds(100))
                return await failure
            }
            #expect(error?.code == .databaseUnavailable)
            await log.close()
        }
    }

    @Test func `the queue has a limit, and an append refused above it writes nothing`()
        async throws
    {
        try await Variant.plain.withDatabase { settings in
            var options = Self.options(seconds: 3600)
            options.waitingAppendsMax = 2
            let log = try await EventLog.open(settings, options)
            _ = try await log.append(verified(TestFacts.transaction()))
            let (codes, ends) = AsyncStream.makeStream(of: EventLogError.Code?.self)
            let callers = 12
            var refused = 0
            try await Backends.stopped(of: settings) {
                for number in 1...callers {
                    Task {
                        let fact = TestFacts.transaction(purchased: Int64(number))
                        do throws(EventLogError) {
                            _ = try await log.append(verified(fact))
                            ends.yield(nil)
                        } catch {
                            #expect(error.code != .queueFull || error.message.contains("at most 2"))
                            ends.yield(error.code)
                        }
                    }
                }
                // Two wait, and at most two are in the batch under way.
                for await code in codes.prefix(callers - 4) where code == .queueFull {
                    refused += 1
                }
            }
            #expect(refused == callers - 4)
            for await code in codes.prefix(4) where code == .queueFull { refused += 1 }
            let events = try await Inspector.count("event", settings)
            #expect(events == Int64(1 + callers - refused))
            try await expectSound(log, settings)
            await log.close()
        }
    }

    private static func options(seconds: Double) -> EventLog.Options {
        var options = EventLog.Options.test()
        options.appendSecondsMax = seconds
        return options
    }

    /// Repeats an append that a busy machine did not finish within its one second.
    private static func stored(
        _ fact: Fact,
        in log: EventLog
    ) async throws -> [AppendOutcome] {
        for _ in 0..<59 {
            do throws(EventLogError) {
                return try await log.append(verified(fact))
            } catch {
                guard error.isRetryable else { throw error }
            }
        }
        return try await log.append(verified(fact))
    }

    private static func failure(of id: String, in log: EventLog) async -> EventLogError? {
        do throws(EventLogError) {
            _ = try await log.append(verified(TestFacts.transaction(id, price: 1, asOf: 5)))
            return nil
        } catch {
            return error
        }
    }
}
