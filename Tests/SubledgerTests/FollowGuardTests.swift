import EventLog
import Events
import Postgres
import Projections
import Projector
import Subledger
import TestSupport
import Testing

/// Guards that keep several processes from undoing, repeating or overtaking each other's work.
@Suite(.enabled { await TestServer.isAvailable })
struct FollowGuardTests {
    @Test func `a step renews the lease of its lane`() async throws {
        try await FollowTests.withLedger(lanes: 1) { ledger, settings in
            let projector = Projector(log: ledger.log, settings: settings)
            _ = try await projector.rebuild()
            let session = try await PostgresSession.connect(settings)
            // As an earlier step has left it.
            try await session.execute(
                """
                INSERT INTO operation.lease VALUES (0, '\(projector.foldNames)', 'one',
                    clock_timestamp() + '1 minute');
                CREATE TABLE public.seen (holder text, remaining interval);
                GRANT INSERT ON public.seen TO PUBLIC;
                CREATE FUNCTION public.look() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    INSERT INTO public.seen VALUES (NEW.holder, NEW.expires_at - clock_timestamp());
                    RETURN NULL;
                END $$;
                CREATE TRIGGER look AFTER INSERT OR UPDATE ON operation.lease
                    FOR EACH ROW EXECUTE FUNCTION public.look()
                """
            )
            try await ledger.ingest(Array(FollowTests.deliveries(seed: 4).prefix(20)))
            var options = Projector.FollowOptions.onceUnlessHeld("one")
            options.leaseSeconds = 3600
            let followed = try await projector.follow(options)
            #expect(followed.steps == 1)
            let seen = try await session.query(
                "SELECT holder, remaining > '59 minutes' FROM public.seen"
            )
            #expect(try seen.map { try $0.text(0) } == ["one"])
            #expect(try seen.map { try $0.bool(1) } == [true])
            await session.close()
        }
    }

    @Test func `of two concurrent identical steps the later one does nothing`() async throws {
        try await FollowTests.withLedger(lanes: 1) { ledger, settings in
            let projector = Projector(log: ledger.log, settings: settings)
            let deliveries = FollowTests.deliveries(seed: 21)
            try await ledger.ingest(Array(deliveries.prefix(deliveries.count / 2)))
            _ = try await projector.rebuild()
            _ = try await projector.compare(then: .wait)
            try await ledger.ingest(Array(deliveries.suffix(from: deliveries.count / 2)))
            let waiting = try #require(
                try await projector.tables().first { $0.state == .ready }
            )
            // The follower's step has locked its places and stops at the first row it writes, but
            // not at a lock, for which it would not wait; the promotion has read the same places
            // and stops at its own.
            let session = try await PostgresSession.connect(settings)
            try await session.execute(
                """
                CREATE FUNCTION public.stop() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    WHILE NOT pg_try_advisory_xact_lock_shared(1) LOOP
                        PERFORM pg_sleep(0.001);
                    END LOOP;
                    RETURN NULL;
                END $$;
                CREATE TRIGGER stop AFTER INSERT ON \(waiting.schema).\(waiting.name)
                    FOR EACH STATEMENT EXECUTE FUNCTION public.stop()
                """
            )
            try await session.execute("BEGIN; SELECT pg_advisory_xact_lock(1)")
            async let following = projector.follow(.once("one"))
            try await Self.wait(
                for: "SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep' "
                    + "AND datname = current_database()",
                session
            )
            async let promoting = projector.promote()
            try await Self.wait(for: Self.waitingForLock, session)
            try await session.execute("COMMIT")
            await session.close()
            #expect(try await following.steps == 2)
            #expect(try await promoting.tables.count == allProjections.count)
            try await FollowTests.expectEqualsRebuild(projector, settings, "same step")
        }
    }

    @Test func `tables that fell behind the live ones catch up before they are promoted`()
        async throws
    {
        try await FollowTests.withLedger(lanes: 1) { ledger, settings in
            let projector = Projector(log: ledger.log, settings: settings)
            let deliveries = FollowTests.deliveries(seed: 22)
            try await ledger.ingest(Array(deliveries.prefix(deliveries.count / 2)))
            _ = try await projector.rebuild()
            let report = try await PostgresSession.connect(settings)
            try await report.execute("BEGIN; SELECT * FROM projection.active_periods LIMIT 1")
            async let rebuilding = projector.rebuild()
            // The new tables contain everything and wait for the report; then more is followed.
            try await Self.wait(for: Self.waitingForLock, report)
            try await ledger.ingest(Array(deliveries.suffix(from: deliveries.count / 2)))
            let followed = try await projector.follow(.once("one"))
            #expect(followed.events > 0 && followed.lag == 0)
            let heads = try await ledger.log.heads().mapValues(\.offset)
            #expect(try await projector.livePositions() == heads)
            try await report.execute("COMMIT")
            await report.close()
            #expect(try await rebuilding.map(\.positions) == allProjections.map { _ in heads })
            #expect(try await projector.livePositions() == heads)
            try await FollowTests.expectEqualsRebuild(projector, settings, "promotion")
        }
    }

    private static let waitingForLock = """
        SELECT FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE NOT granted AND datname = current_database()
        """

    // Until a row appears.
    private static func wait(for question: String, _ session: PostgresSession) async throws {
        while try await session.query(question).count == 0 {
            // In a transaction the server would always show the same moment.
            try await session.execute("SELECT pg_stat_clear_snapshot()")
        }
    }
}

extension Digest {
    /// The digest as a `bytea` in SQL.
    var sql: String { "\\x\(hex)" }
}

extension Projector.FollowOptions {
    /// Catches up once; stops if another process holds a lane.
    static func onceUnlessHeld(_ holder: String) -> Projector.FollowOptions {
        let refusals = Counter()
        var options = Projector.FollowOptions.once(holder)
        options.progress = { if $0.lanesHeldByOthers > 0 { refusals.increment() } }
        options.isStopped = { refusals.value > 0 }
        return options
    }
}
