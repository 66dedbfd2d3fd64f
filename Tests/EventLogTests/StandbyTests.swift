import EmbeddedPostgres
import Events
import Foundation
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import EventLog

/// A server that accepts no writes: a standby, until it is promoted.
@Suite(.enabled { await TestServer.isAvailable })
struct StandbyTests {
    @Test func `a standby answers questions, and an append waits for its promotion`() async throws {
        let server = EmbeddedServer(
            home: TestServer.temporaryHome(),
            options: .init(
                lifetime: .process,
                settings: ["fsync": "off", "wal_level": "replica"]
            )
        )
        let settings = try await server.start()
        _ = try await Migrator.migrate(settings)
        let primary = try await EventLog.open(settings, .test())
        _ = try await primary.append(verified(TestFacts.transaction(asOf: 1)))
        let data = try await primary.reading("find the folder of the server") { session in
            try await session.query("SHOW data_directory")[0].text(0)
        }
        await primary.close()
        try await server.stop()
        try Data().write(to: URL(fileURLWithPath: "\(data)/standby.signal"))
        #expect(try await server.start() == settings)

        let log = try await EventLog.open(settings, .test())
        #expect(try await log.verify().isOK)
        let checkpoint = try await log.checkpoint()
        #expect(checkpoint.heads.map(\.commit) == [1])
        var options = VerificationOptions()
        options.kept = [KeptHeads(checkpoint, source: "kept")]
        #expect(try await log.verify(options).isRewriteExcluded)
        await expect(.databaseUnavailable) {
            try await log.record(SignedCheckpoint(checkpoint, signedBy: nil))
        }
        #expect(try await Migrator.status(settings).allSatisfy(\.isApplied))
        let session = try await PostgresSession.connect(settings)
        await #expect(throws: EventLogError.self) { _ = try await Migrator.migrate(settings) }
        let before = try await Self.sessions(session)
        let hasEnded = Atomic<Bool>(false)
        async let outcomes = {
            defer { hasEnded.store(true, ordering: .relaxed) }
            return try await log.append(verified(TestFacts.transaction(price: 7, asOf: 2)))
        }()
        // Each refused attempt ends its session, and the next attempt opens one.
        while try await Self.sessions(session) < before + 2, !hasEnded.load(ordering: .relaxed) {
            await Task.yield()
        }
        _ = try await session.query("SELECT pg_promote()")
        #expect(try await outcomes.first?.position.offset == 2)
        #expect(try await log.verify().isOK)
        await session.close()
        await log.close()
        try await server.stop()
    }

    /// The address leads to the old primary, which was demoted, and then to the new one, while the
    /// connections to the old primary stay open.
    @Test(.enabled(if: Acceptance.isRunning, "make acceptance runs it"))
    func `after a failover a log that stayed open writes to the new primary`() async throws {
        let servers = (0..<2).map { _ in
            EmbeddedServer(
                home: TestServer.temporaryHome(),
                options: .init(
                    lifetime: .process,
                    settings: ["fsync": "off", "wal_level": "replica"]
                )
            )
        }
        var places: [(sockets: String, data: String)] = []
        for server in servers {
            let session = try await PostgresSession.connect(try await server.start())
            let row = try await session.query(
                "SELECT current_setting('unix_socket_directories'), current_setting('data_directory')"
            ).single()
            places.append((try row.text(0), try row.text(1)))
            await session.close()
        }
        let settings = try await servers[0].start()
        _ = try await Migrator.migrate(settings)
        let primary = try await EventLog.open(settings, .test())
        _ = try await primary.append(verified(TestFacts.transaction(asOf: 1)))
        await primary.close()
        for server in servers { try await server.stop() }
        let copy = try await Program(path: "/bin/cp").run(
            ["-a", "\(places[0].data)/.", places[1].data]
        )
        #expect(copy.code == 0, "\(copy.errors)")
        try Data().write(to: URL(fileURLWithPath: "\(places[0].data)/standby.signal"))
        for server in servers { _ = try await server.start() }

        let address = "/tmp/address-\(UUID().uuidString.prefix(8))"
        defer { unlink(address) }
        symlink(places[0].sockets, address)
        let moving = ConnectionSettings(settings.connectionString + " host=\(address)")
        let log = try await EventLog.open(moving, .test())
        #expect(try await log.verify().isOK)
        async let outcomes = log.append(verified(TestFacts.transaction(price: 7, asOf: 2)))
        async let keeping = log.record([Self.rejection])
        let old = try await PostgresSession.connect(settings)
        let before = try await Self.sessions(old)
        // Both writers have met the standby and returned to it.
        while try await Self.sessions(old) < before + 4 { await Task.yield() }
        symlink(places[1].sockets, address + ".new")
        rename(address + ".new", address)
        #expect(try await outcomes.first?.position.offset == 2)
        #expect(try await keeping == 0)
        #expect(try await log.verify().isOK)
        // A connection on which the log only reads may still lead to the old primary.
        let new = try await EventLog.open(moving, .test())
        #expect(try await new.rejections(limit: 1).count == 1)
        await new.close()
        await old.close()
        await log.close()
        for server in servers { try await server.stop() }
    }

    /// A commit waits for the standby, and what a commit that gave up has left in the log is not
    /// acknowledged as known before the standby has it.
    @Test(
        .enabled(if: Acceptance.isRunning, "make acceptance runs it"),
        arguments: ["off", "on"]
    )
    func `without its synchronous standby a server acknowledges nothing`(
        isReadOnlyByDefault: String
    ) async throws {
        let server = EmbeddedServer(
            home: TestServer.temporaryHome(),
            options: .init(lifetime: .process, settings: ["fsync": "off"])
        )
        let settings = try await server.start()
        _ = try await Migrator.migrate(settings)
        var admin = try await PostgresSession.connect(settings)
        try await admin.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        try await admin.execute(
            "ALTER SYSTEM SET default_transaction_read_only = \(isReadOnlyByDefault)"
        )
        await admin.close()
        try await server.stop()
        admin = try await PostgresSession.connect(try await server.start())
        var options = EventLog.Options.test()
        options.appendSecondsMax = 1
        let log = try await EventLog.open(settings, options)
        let fact = TestFacts.transaction(asOf: 1)
        // Until a commit that waited was cancelled: its rows are there, and only there. On a loaded
        // machine the time may be over before one begins.
        repeat {
            await expect(.databaseUnavailable) { _ = try await log.append(verified(fact)) }
        } while try await admin.query("SELECT count(*) = 0 FROM ledger.event")[0].bool(0)
        for _ in 1...2 {
            await expect(.databaseUnavailable) { _ = try await log.append(verified(fact)) }
        }
        try await admin.execute("ALTER SYSTEM RESET synchronous_standby_names")
        _ = try await admin.query("SELECT pg_reload_conf()")
        var outcome: AppendOutcome?
        while outcome == nil {
            do throws(EventLogError) {
                outcome = try await log.append(verified(fact)).first
            } catch {
                guard error.isRetryable else { throw error }
            }
        }
        #expect(outcome?.isNew == false && outcome?.position.offset == 1)
        #expect(try await log.verify().isOK)
        await log.close()
        await admin.close()
        try await server.stop()
    }

    private static let rejection = RejectedPayload(
        RejectedPayload.Original([1, 2, 3]),
        body: nil,
        reason: "test",
        message: "refused",
        source: "test",
        location: "",
        receivedAt: TestClock.noon
    )

    private static func sessions(_ session: PostgresSession) async throws -> Int64 {
        try await session.query(
            "SELECT sessions FROM pg_stat_database WHERE datname = current_database()"
        )[0].int8(0)
    }
}
