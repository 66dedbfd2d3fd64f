import Events
import Postgres
import TestSupport
import Testing

@testable import EventLog

/// Many callers and many writers at once.
@Suite(.enabled { await TestServer.isAvailable })
struct WriterTests {
    @Test(arguments: Variant.all)
    func `concurrent callers of one log share commits`(variant: Variant) async throws {
        try await variant.withLog { log, settings in
            let calls = 300
            let outcomes = try await appendAll(
                (0..<calls).map { verified(TestFacts.transaction(purchased: Int64($0))) },
                to: [log]
            )
            #expect(Set(outcomes.map(\.position)).count == calls)
            let commits = try await Inspector.count("commit", settings)
            #expect(commits < Int64(calls) / 2, "\(commits) commits for \(calls) calls")
            try await expectSound(log, settings)
        }
    }

    /// The first writer's head is stale after each turn of the second.
    @Test(arguments: Variant.all)
    func `two logs that append to one lane in turns lose no fact`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            let other = try await EventLog.open(settings, .test())
            for turn in Int64(0)..<8 {
                let writer = turn % 2 == 0 ? log : other
                let outcomes = try await writer.append(
                    verified(TestFacts.transaction(purchased: turn))
                )
                let lane = variant.lanes.lane(of: "1000")
                #expect(outcomes == [.appended(Position(lane: Lane(lane), offset: turn + 1))])
            }
            await other.close()
            try await expectSound(log, settings)
        }
    }

    /// Both find the payload, the event and the confirmation missing, and only one can add them.
    @Test(arguments: Variant.all)
    func `two logs that append the same payloads at once append each fact once`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            let other = try await EventLog.open(settings, .test())
            for round in Int64(0)..<25 {
                let first = TestFacts.transaction(price: round, purchased: round, asOf: 1)
                let again = TestFacts.transaction(price: round, purchased: round, asOf: 2)
                for payload in [verified(first), verified(again)] {
                    let outcomes = try await appendAll([payload, payload], to: [log, other])
                    #expect(outcomes.map(\.position.offset) == [round + 1, round + 1])
                }
            }
            await other.close()
            let events = try await Inspector.count("event", settings)
            let confirmations = try await Inspector.count("confirmation", settings)
            let evidence = try await Inspector.count("evidence", settings)
            #expect([events, confirmations, evidence] == [25, 25, 50])
            try await expectSound(log, settings)
        }
    }

    /// More sessions than a test should hold: writers only, without a reader each.
    @Test(arguments: Variant.local)
    func `eight writers fill one lane without gaps, every fact once`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            try await Inspector.inspect(settings) { inspector in
                try await inspector.session.execute(WriterTests.countedAttempts)
            }
            let lane = variant.lanes.lane(of: "1000")
            let writers = (0..<8).map { _ in
                Appender(
                    settings: settings,
                    identity: log.identity,
                    dictionaries: log.dictionaries,
                    making: .test,
                    limits: log.limits
                )
            }
            let facts = (0..<40).map { TestFacts.transaction(purchased: Int64($0)) }
            let appended = try await withThrowingTaskGroup(of: [AppendOutcome].self) { group in
                for (number, writer) in writers.enumerated() {
                    group.addTask {
                        // Each starts at a different payload, so that all compete everywhere.
                        var outcomes: [AppendOutcome] = []
                        for step in facts.indices {
                            let fact = facts[(step + number * 5) % facts.count]
                            outcomes += try await writer.append(
                                [submission(fact)],
                                to: lane,
                                by: log.limits.deadline()
                            ).get()[0]
                        }
                        return outcomes
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            for writer in writers { await writer.close() }
            let news = appended.filter(\.isNew)
            #expect(news.count == facts.count)
            #expect(Set(appended.map(\.position.offset)) == Set(1...40))
            let attempts = try await Inspector.inspect(settings) { inspector in
                try await inspector.number("SELECT last_value FROM public.attempt")
            }
            let commits = try await Inspector.count("commit", settings)
            #expect(attempts > commits, "no race was lost, so this test showed nothing")
            try await expectSound(log, settings)
        }
    }

    /// Counts the commits that were attempted: a sequence keeps the number of a lost race, too.
    private static let countedAttempts = """
        CREATE SEQUENCE public.attempt;
        GRANT USAGE ON public.attempt TO PUBLIC;
        CREATE FUNCTION public.count_attempt() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM nextval('public.attempt');
            RETURN NEW;
        END
        $$;
        CREATE TRIGGER counted_attempt BEFORE INSERT ON ledger.commit
            FOR EACH ROW EXECUTE FUNCTION public.count_attempt()
        """

    /// The trigger simulates a faster writer: no commit passes until the lane's row is locked.
    @Test(arguments: Variant.local)
    func `a writer that keeps losing races locks the lane's row`(variant: Variant) async throws {
        try await variant.withLog { log, settings in
            try await Inspector.inspect(settings) { inspector in
                try await inspector.session.execute(WriterTests.fasterWriter)
            }
            let outcomes = try await log.append(verified(TestFacts.transaction()))
            #expect(outcomes.map(\.position.offset) == [1])
            let (attempts, confirmed) = try await Inspector.inspect(settings) { inspector in
                let again = TestFacts.transaction(asOf: 2)
                let outcomes = try await log.append(verified(again))
                return (try await inspector.number("SELECT nextval('public.attempt')"), outcomes)
            }
            #expect(confirmed.map(\.position.offset) == [1])
            // Twice: three lost races and the attempt that locks; then this count itself.
            #expect(attempts == Int64(2 * (Appender.lostRacesMax + 2) + 1))
            try await expectSound(log, settings)
        }
    }

    private static let fasterWriter = """
        CREATE SEQUENCE public.attempt;
        GRANT USAGE ON public.attempt TO PUBLIC;
        CREATE FUNCTION public.win_the_race() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM nextval('public.attempt');
            IF NOT EXISTS (
                SELECT FROM pg_locks WHERE pid = pg_backend_pid() AND mode = 'RowShareLock'
                    AND relation = 'ledger.lane'::regclass)
            THEN
                RAISE unique_violation USING CONSTRAINT = 'commit_pkey', TABLE = 'commit';
            END IF;
            RETURN NEW;
        END
        $$;
        CREATE TRIGGER faster_writer BEFORE INSERT ON ledger.commit
            FOR EACH ROW EXECUTE FUNCTION public.win_the_race()
        """

    /// The loser waits before its third lost race until the other writer has appended the same
    /// fact.
    @Test(arguments: Variant.local)
    func `a writer that locked the lane's row in vain continues from the right head`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            var losing = settings
            losing.applicationName = "loser"
            let loser = Appender(
                settings: losing,
                identity: log.identity,
                dictionaries: log.dictionaries,
                making: .test,
                limits: log.limits
            )
            let lane = variant.lanes.lane(of: "1000")
            let fact = TestFacts.transaction()
            try await Inspector.inspect(settings) { inspector in
                try await inspector.session.execute(WriterTests.slowLoser)
                async let lost = loser.append(
                    [submission(fact)],
                    to: lane,
                    by: log.limits.deadline()
                )
                while try await inspector.number(
                    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
                ) == 0 {}
                let won = try await log.append(verified(fact))
                #expect(won == [.appended(Position(lane: Lane(lane), offset: 1))])
                try await inspector.session.execute("SELECT pg_advisory_unlock(7)")
                let duplicate = try await lost.get()
                #expect(duplicate == [[.duplicate(Position(lane: Lane(lane), offset: 1))]])
            }
            let next = await loser.append(
                [submission(TestFacts.transaction(purchased: 1))],
                to: lane,
                by: log.limits.deadline()
            )
            #expect(try next.get() == [[.appended(Position(lane: Lane(lane), offset: 2))]])
            await loser.close()
            try await expectSound(log, settings)
        }
    }

    private static let slowLoser = """
        CREATE SEQUENCE public.attempt;
        GRANT USAGE ON public.attempt TO PUBLIC;
        CREATE FUNCTION public.lose_slowly() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE
            attempt bigint;
        BEGIN
            IF current_setting('application_name') = 'loser' THEN
                attempt := nextval('public.attempt');
                IF attempt = 3 THEN PERFORM pg_advisory_xact_lock(7); END IF;
                IF attempt <= 3 THEN
                    RAISE unique_violation USING CONSTRAINT = 'commit_pkey', TABLE = 'commit';
                END IF;
            END IF;
            RETURN NEW;
        END
        $$;
        CREATE TRIGGER slow_loser BEFORE INSERT ON ledger.commit
            FOR EACH ROW EXECUTE FUNCTION public.lose_slowly();
        SELECT pg_advisory_lock(7)
        """

    @Test(arguments: Variant.all)
    func `a violation that is not a lost race is an error, not a retry`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            _ = try await log.append(verified(TestFacts.transaction()))
            try await Inspector.inspect(settings) { inspector in
                try await inspector.session.execute(
                    "CREATE UNIQUE INDEX one_bundle ON ledger.event (lane, bundle_id)"
                )
            }
            let error = await #expect(throws: EventLogError.self) {
                try await log.append(verified(TestFacts.transaction(purchased: 1)))
            }
            #expect(error?.code == .database)
            try await expectSound(log, settings)
        }
    }
}

extension PlanMaking {
    /// On a clock that stands still.
    static let test = PlanMaking(
        clock: { TestClock.noon },
        clockSkewMillisecondsMax: .max,
        salt: { .random() }
    )
}

/// Appends payloads concurrently, distributed over the logs; returns outcomes in the order of the
/// payloads.
func appendAll(
    _ payloads: [Verified<[Fact]>],
    to logs: [EventLog]
) async throws -> [AppendOutcome] {
    try await withThrowingTaskGroup(of: (Int, [AppendOutcome]).self) { group in
        for (number, payload) in payloads.enumerated() {
            group.addTask { (number, try await logs[number % logs.count].append(payload)) }
        }
        var outcomes = [[AppendOutcome]](repeating: [], count: payloads.count)
        for try await (number, outcome) in group { outcomes[number] = outcome }
        return outcomes.flatMap { $0 }
    }
}

/// One fact with its payload, as the log passes it to a writer.
func submission(_ fact: Fact) -> Submission {
    let evidence = verified(fact).evidence
    return Submission(
        evidence: evidence,
        recordDigest: evidence.recordDigest,
        packing: .packed(EvidencePacking.pack(evidence.payload, dictionary: nil)),
        facts: [PreparedFact(fact)]
    )
}
