import Events
import Postgres
import TestSupport
import Testing

@testable import EventLog

/// Checkpoints as the log takes and stores them.
@Suite(.enabled { await TestServer.isAvailable })
struct CheckpointTests {
    @Test(arguments: Variant.all)
    func `a checkpoint holds the head of every lane that has commits`(
        variant: Variant
    ) async throws {
        let tampered = TamperedLog(variant: variant)
        try await tampered.withCopy { settings in
            // The server's clock dates it, like commits.
            var options = EventLog.Options.test()
            options.clock = nil
            let log = try await EventLog.open(settings, options)
            let checkpoint = try await log.checkpoint()
            let heads = try await log.verify().heads
            #expect(checkpoint.heads.map(\.lane) == heads.map(\.lane))
            #expect(checkpoint.heads.map(\.commit) == heads.map(\.commit))
            #expect(checkpoint.heads.map(\.offset) == heads.map(\.offset))
            #expect(checkpoint.heads.map(\.digest) == heads.map(\.digest))
            let evidence = checkpoint.heads.first { $0.lane == tampered.lane }?.evidence
            #expect(evidence == 6)
            #expect(checkpoint.identity == log.identity)
            let now = try await Inspector.inspect(settings) { inspector in
                try await inspector.number("SELECT extract(epoch FROM clock_timestamp()) * 1000")
            }
            #expect((now - 60_000...now).contains(checkpoint.takenAt.milliseconds))
            await log.close()
        }
    }

    @Test func `a ledger without commits has a checkpoint without heads`() async throws {
        try await Variant.fourLanes.withLog { log, _ in
            let checkpoint = try await log.checkpoint()
            #expect(checkpoint.heads.isEmpty)
        }
    }

    @Test(arguments: Variant.localExtremes)
    func `the heads are found by one index probe per lane, never by a scan`(
        variant: Variant
    ) async throws {
        try await variant.withDatabase { settings in
            try await Inspector.inspect(settings) { inspector in
                let plan = try await inspector.session.transaction {
                    session throws(PostgresError) in
                    try session.execute(EventLog.prepareProbes)
                    return try session.query("EXPLAIN \(EventLog.readHeads)")
                }
                let lines = try plan.map { try $0.text(0) }
                #expect(lines.contains { $0.contains("Index Scan Backward") }, "\(lines)")
                let scans = lines.filter { line in
                    line.contains("Seq Scan") || line.contains("Bitmap")
                }
                #expect(scans.isEmpty, "\(lines)")
            }
        }
    }

    @Test(arguments: Variant.extremes)
    func `a checkpoint is stored once and does not block an append`(variant: Variant) async throws {
        let tampered = TamperedLog(variant: variant)
        try await tampered.withCopy { settings in
            let log = try await EventLog.open(settings, .test())
            let signed = SignedCheckpoint(try await log.checkpoint(), signedBy: nil)
            try await log.record(signed)
            try await log.record(signed)
            #expect(try await Inspector.count("checkpoint", settings) == 1)
            try await Inspector.inspect(settings) { inspector in
                // Another session is storing a checkpoint and leaves its transaction open.
                try await inspector.session.execute(
                    """
                    CREATE TEMPORARY TABLE next AS
                        SELECT *, body || '\\x00' AS other FROM ledger.checkpoint;
                    BEGIN;
                    INSERT INTO ledger.checkpoint (lane, taken_at, digest, body)
                        SELECT ledger.lane_of(encode(sha256(other), 'hex')), taken_at,
                            sha256(other), other FROM next
                    """
                )
                _ = try await log.append(verified(TestFacts.transaction(tampered.ids[2])))
                try await inspector.session.execute("ROLLBACK")
            }
            await log.close()
        }
    }

    @Test func `a checkpoint that is dated later than the server's clock is named, not the newest`()
        async throws
    {
        let (past, future) = try (#require(Instant("2020-01-01")), #require(Instant("2099-01-01")))
        try await Variant.plain.withDatabase { settings in
            for time in [past, future] {
                let log = try await EventLog.open(settings, .test(clock: { time }))
                try await log.record(SignedCheckpoint(try await log.checkpoint(), signedBy: nil))
                await log.close()
            }
            let log = try await EventLog.open(settings, .test())
            #expect(try await log.watchedDatabase().checkpointTakenAt == past)
            let inspector = LedgerInspector(settings)
            #expect(try await inspector.newestCheckpoint()?.takenAt == past)
            #expect(try await inspector.checkpointsDatedLater() == 1)
            let report = try await log.verify()
            #expect(report.isOK && report.storedCheckpoints == 2)
            #expect(
                report.passedOver == [
                    "the row of \(future) in ledger.checkpoint (dated later than the server's clock)"
                ]
            )
            await log.close()
        }
    }
}
