import Events
import Foundation
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import EventLog

/// A server that takes no writes: a standby, until it is promoted.
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
            try await log.keep(SignedCheckpoint(checkpoint, signedBy: nil))
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
        // Each attempt that is refused ends its session, and the next begins one.
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

    private static func sessions(_ session: PostgresSession) async throws -> Int64 {
        try await session.query(
            "SELECT sessions FROM pg_stat_database WHERE datname = current_database()"
        )[0].int8(0)
    }
}
