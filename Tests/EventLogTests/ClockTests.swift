import EventLog
import Events
import Postgres
import TestSupport
import Testing

/// Commits are stamped by the server's clock, within a named distance of ours and of the newest
/// commit.
@Suite(.enabled { await TestServer.isAvailable })
struct ClockTests {
    private static let in2099 = Instant(milliseconds: 4_070_908_800_000)

    @Test(arguments: Variant.extremes)
    func `the server's clock stamps commits`(variant: Variant) async throws {
        try await variant.withDatabase { settings in
            let log = try await Self.open(settings)
            let before = Instant.systemClock()
            _ = try await log.append(verified(TestFacts.transaction()))
            let lane = variant.lanes.lane(of: "1000")
            let mark = try #require(try await log.newestCommit(lane: lane))
            let distance = mark.commit.committedAt.milliseconds - before.milliseconds
            #expect((-60_000...60_000).contains(distance), "\(mark.commit.committedAt)")
            await log.close()
        }
    }

    @Test(arguments: Variant.extremes)
    func `a history as known at an instant ends by our clock, not by Apple's`(
        variant: Variant
    ) async throws {
        try await variant.withDatabase { settings in
            let facts = [TestFacts.transaction(), TestFacts.transaction(purchased: 1)]
            let commits = [100, 200].map(TestFacts.instant(day:))
            for (fact, commit) in zip(facts, commits) {
                #expect(fact.asOf < commits[0], "Apple states both before the first commit")
                let log = try await EventLog.open(settings, .test(clock: { commit }))
                _ = try await log.append(verified(fact))
                await log.close()
            }
            let log = try await Self.open(settings)
            for (day, count) in [(Int64(99), 0), (100, 1), (199, 1), (200, 2)] {
                let knownAt = KnownAt.time(TestFacts.instant(day: day))
                let history = try await log.history(of: facts[0].stream, knownAt: knownAt)
                #expect(history.events.count == count, "day \(day)")
            }
            await log.close()
        }
    }

    @Test func `the first commit stays the first, and there is none before it`() async throws {
        let variant = Variant.extremes[1]
        try await variant.withDatabase { settings in
            let log = try await Self.open(settings)
            #expect(try await log.firstCommittedAt() == nil)
            var first: Instant?
            for lane in 0..<3 {
                let id = try #require(variant.ids(inLane: lane, count: 1).first)
                _ = try await log.append(verified(TestFacts.transaction(id)))
                let mark = try await log.newestCommit(lane: lane)
                first = first ?? mark?.commit.committedAt
                #expect(try await log.firstCommittedAt() == first)
            }
            #expect(first != nil)
            await log.close()
        }
    }

    @Test(arguments: Variant.extremes)
    func `a commit far ahead of the server's clock stops appends and the error names the way out`(
        variant: Variant
    ) async throws {
        try await variant.withDatabase { settings in
            var options = EventLog.Options.test(clock: { Self.in2099 })
            let wrong = try await EventLog.open(settings, options)
            _ = try await wrong.append(verified(TestFacts.transaction()))
            await wrong.close()
            let log = try await Self.open(settings)
            let next = verified(TestFacts.transaction(purchased: 1))
            let error = await #expect(throws: EventLogError.self) { try await log.append(next) }
            #expect(error?.code == .clockSkew)
            #expect(error?.message.contains("2099-01-01T00:00:00Z") == true)
            #expect(error?.message.contains("SUBLEDGER_CLOCK_SKEW_SECONDS_MAX") == true)
            await log.close()
            options = EventLog.Options()
            options.clockSkewSecondsMax = .max
            let allowed = try await EventLog.open(settings, options)
            #expect(try await allowed.append(next).map(\.position.offset) == [2])
            #expect(try await allowed.verify().isOK)
            await allowed.close()
        }
    }

    // The stamp is that of the look-up; the row waits for a lock, until the stamp counts as another
    // clock's.
    @Test(arguments: Variant.extremes)
    func `an append that waited for a lock longer than clocks may differ gets a new time`(
        variant: Variant
    ) async throws {
        try await variant.withDatabase { settings in
            let admin = try await PostgresSession.connect(settings)
            let rows = try await admin.query(
                "SELECT pg_get_functiondef('ledger.is_other_clock(timestamptz,timestamptz)'::regprocedure)"
            )
            let shorter = try rows.single().text(0).replacing("'300 s'", with: "'1 s'")
            #expect(shorter.contains("'1 s'"))
            try await admin.execute(shorter)
            let log = try await Self.open(settings)
            try await admin.execute("BEGIN; LOCK TABLE ledger.commit IN SHARE MODE")
            async let appended = log.append(verified(TestFacts.transaction()))
            let watcher = try await PostgresSession.connect(settings)
            try await eventually("the stamp is too old") {
                try await watcher.query(
                    """
                    SELECT EXISTS (SELECT FROM pg_locks
                        WHERE relation = 'ledger.commit'::regclass AND NOT granted
                            AND database = (SELECT oid FROM pg_database
                                WHERE datname = current_database())
                            AND clock_timestamp() - waitstart > interval '1.1 s')
                    """
                ).single().bool(0)
            }
            try await admin.execute("COMMIT")
            #expect(try await appended.map(\.position.offset) == [1])
            #expect(try await log.verify().isOK)
            await log.close()
            await watcher.close()
            await admin.close()
        }
    }

    private static func open(
        _ settings: ConnectionSettings
    ) async throws -> EventLog {
        var options = EventLog.Options()
        options.readersMax = 1
        return try await EventLog.open(settings, options)
    }
}
