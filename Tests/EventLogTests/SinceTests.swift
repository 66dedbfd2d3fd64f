import Events
import Postgres
import TestSupport
import Testing

@testable import EventLog

/// Verification that starts after a checkpoint.
@Suite(.enabled { await TestServer.isAvailable })
struct SinceTests {
    @Test(arguments: Variant.localExtremes)
    func `only rows after the checkpoint are read, however long the log is`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            try await fill(log, days: 0..<60)
            let checkpoint = try await log.checkpoint()
            try await fill(log, days: 60..<62)
            try await Inspector.inspect(settings) { inspector in
                try await inspector.session.execute("ANALYZE")
            }
            // As in a long log: a short one is cheaper to scan than to probe.
            try await log.reading("prefer indexes") { session in
                try await session.execute("SET enable_seqscan = off")
            }
            let (whole, wholeRows) = try await rowsRead(log, settings, VerificationOptions())
            var options = VerificationOptions()
            options.since = checkpoint
            let (since, sinceRows) = try await rowsRead(log, settings, options)
            #expect(whole.isOK && since.isOK, "\(String(describing: since.firstMismatch))")
            #expect(whole.events == 8 * 62 && since.events == 8 * 2)
            #expect(since.heads == whole.heads)
            // One commit for each payload: event, evidence and commit, and the index rows that find
            // them.
            #expect(wholeRows > 3 * 8 * 62, "\(wholeRows)")
            #expect(sinceRows < 8 * 8 * 2 + 200, "\(sinceRows) of \(wholeRows)")
        }
    }

    @Test func `verification cannot start at a checkpoint that the log lacks`() async throws {
        let tampered = TamperedLog(variant: Variant.extremes[1])
        try await tampered.withCopy { settings in
            let log = try await EventLog.open(settings, .test())
            let checkpoint = try await log.checkpoint()
            try await Inspector.inspect(settings) { inspector in
                try await inspector.session.execute(
                    """
                    \(Tampering.begin)
                    UPDATE ledger.commit SET digest = sha256('x')
                    WHERE lane = \(tampered.lane) AND commit_no = 6
                    """
                )
            }
            var options = VerificationOptions()
            options.since = checkpoint
            let found = try await log.verify(options).firstMismatch
            #expect(found?.lane == tampered.lane && found?.commit == 6)
            #expect(found?.reason.contains("another commit than the checkpoint") == true)
            let other = try #require(
                Checkpoint(
                    identity: LedgerIdentity(
                        ledgerId: [UInt8](repeating: 7, count: 16),
                        lanes: checkpoint.identity.lanes
                    ),
                    takenAt: checkpoint.takenAt,
                    heads: checkpoint.heads
                )
            )
            options.since = other
            options.kept = [KeptHeads(other, source: "other")]
            let report = try await log.verify(options)
            #expect(report.kept.first?.isOfOtherLedger == true)
            #expect(!report.isOK && report.events == 0)
            await log.close()
        }
    }

    @Test func `a forged row among the new ones is found`() async throws {
        let tampered = TamperedLog(variant: Variant.plain)
        try await tampered.withCopy { settings in
            let log = try await EventLog.open(settings, .test())
            let checkpoint = try await log.checkpoint()
            _ = try await log.append(verified(TestFacts.transaction(tampered.ids[2])))
            var options = VerificationOptions()
            options.since = checkpoint
            #expect(try await log.verify(options).isOK)
            try await Inspector.inspect(settings) { inspector in
                try await inspector.session.execute(
                    """
                    \(Tampering.begin)
                    CREATE TEMPORARY TABLE forged AS
                        SELECT * FROM ledger.event WHERE lane_offset = 9;
                    UPDATE forged SET lane_offset = 10, fact_key = gen_random_uuid();
                    INSERT INTO ledger.event SELECT * FROM forged
                    """
                )
            }
            let found = try await log.verify(options).firstMismatch
            #expect(found?.commit == 8 && found?.offset == 10)
            await log.close()
        }
    }

    // Eight streams, with one payload per day each.
    private func fill(_ log: EventLog, days: Range<Int64>) async throws {
        for day in days {
            for stream in 0..<8 {
                _ = try await log.append(
                    verified(TestFacts.transaction("\(stream)", purchased: day, asOf: day))
                )
            }
        }
    }

    /// The result of a verification, and how many rows of the log's tables the server read.
    private func rowsRead(
        _ log: EventLog,
        _ settings: ConnectionSettings,
        _ options: VerificationOptions
    ) async throws -> (VerificationReport, rows: Int64) {
        let before = try await rowsRead(log)
        let report = try await log.verify(options)
        return (report, try await rowsRead(log) - before)
    }

    // The log has one session, so this session reports its own reads.
    private func rowsRead(_ log: EventLog) async throws -> Int64 {
        try await log.reading("count what was read") { session in
            _ = try await session.query("SELECT pg_stat_force_next_flush()")
            _ = try await session.query("SELECT pg_stat_clear_snapshot()")
            return try await session.query(
                """
                SELECT (sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)))::bigint
                FROM pg_stat_user_tables WHERE schemaname = 'ledger'
                """
            )[0].int8(0)
        }
    }
}
