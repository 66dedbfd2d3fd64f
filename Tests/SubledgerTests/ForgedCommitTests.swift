import AppStore
import AppStoreSimulator
import EventLog
import Events
import Postgres
import Subledger
import TestSupport
import Testing

/// Commits that do not continue their lane, or are dated into the past: the database refuses them
/// from a writer, and those of an owner are found.
@Suite(.enabled { await TestServer.isAvailable })
struct ForgedCommitTests {
    @Test(arguments: [Int64(-3_600_000), -301_000, 301_000, 3_600_000])
    func `a writer cannot commit at another time than the server's`(shift: Int64) async throws {
        try await ErasureTests.withFilled(lanes: 1) { ledger, settings in
            var forger = Forger(log: ledger.log, settings: settings)
            let payload = try await Self.payload(of: ledger)
            forger.shift = shift
            let refused = await #expect(throws: PostgresError.self) {
                try await forger.commit([UnprovenFactTests.years()], citing: payload)
            }
            #expect(refused?.sqlState == "LG003")
            // Saying that it has a clock of its own needs the rights of an owner.
            try await Self.asWriter(settings) { writer in
                try await writer.execute("SET subledger.clock = 'given'")
                let rows = try await writer.query(
                    "SELECT ledger.is_other_clock(clock_timestamp() - interval '1 h', NULL)"
                )
                #expect(try rows[0].bool(0))
            }
            forger.shift = 0
            try await forger.commit([UnprovenFactTests.years()], citing: payload)
        }
    }

    @Test func `a writer cannot add a gap, another format or other numbers`() async throws {
        try await ErasureTests.withFilled(lanes: 1) { ledger, settings in
            for change in [
                "commit_no = commit_no + 1", "format = 3", "first_offset = first_offset + 1",
                "first_evidence_no = first_evidence_no + 1", "commit_no = 1",
                "committed_at = committed_at - interval '1 ms'",
            ] {
                try await Self.asWriter(settings) { writer in
                    let (column, value) = try #require(
                        change.split(separator: " = ").count == 2
                            ? (change.split(separator: " = ")[0], change.split(separator: " = ")[1])
                            : nil
                    )
                    let refused = await #expect(throws: PostgresError.self, "\(change)") {
                        try await writer.execute(
                            """
                            CREATE TEMP TABLE next AS
                            SELECT lane, count, commit_no + 1 AS commit_no,
                                first_offset + count AS first_offset,
                                first_evidence_no + evidence AS first_evidence_no, committed_at,
                                evidence, confirmations, format, digest
                            FROM ledger.commit ORDER BY commit_no DESC LIMIT 1;
                            UPDATE next SET \(column) = \(value);
                            INSERT INTO ledger.commit (lane, count, commit_no, first_offset,
                                first_evidence_no, committed_at, evidence, confirmations, format,
                                digest)
                            SELECT * FROM next
                            """
                        )
                    }
                    #expect(refused?.sqlState == "LG003", "\(change): \(refused as Any)")
                }
            }
            #expect(try await ledger.log.verify().isOK)
        }
    }

    @Test func `a writer cannot import a rate at another time than the server's`() async throws {
        try await ErasureTests.withFilled(lanes: 1) { _, settings in
            for (shift, state) in [("-1 h", "LG003"), ("1 h", "LG003"), ("0 s", nil)] {
                try await Self.asWriter(settings) { writer in
                    var found: String?
                    do throws(PostgresError) {
                        try await writer.execute(
                            """
                            INSERT INTO operation.currency_rate VALUES ('EUR', 'USD', '2025-01-01',
                                1, 0.5, clock_timestamp() + interval '\(shift)')
                            """
                        )
                    } catch { found = error.sqlState }
                    #expect(found == state, "\(shift)")
                }
            }
        }
    }

    @Test(arguments: [
        "operation.currency_rate VALUES ('EUR', 'USD', '2025-01-01', 1, 'NaN', clock_timestamp())",
        "operation.currency_rate VALUES ('EUR', 'USD', 'infinity', 1, 1, clock_timestamp())",
        "operation.currency_rate VALUES ('EUR', 'USD', '-infinity', 1, 1, clock_timestamp())",
        "operation.currency_rate VALUES ('EUR', 'USD', '10000-01-01', 1, 1, clock_timestamp())",
        "operation.proceeds_rate VALUES ('DEU', '2025-01-01', 1, 'NaN', 15, 0, clock_timestamp())",
        "operation.proceeds_rate VALUES ('DEU', '2025-01-01', 1, 30, 15, -1, clock_timestamp())",
        Self.run(payloads: "1000000000000"), Self.run(payloads: "9223372036854775807"),
        Self.run(payloads: "1", reasons: #"{"a": 9223372036854775807}"#),
        Self.run(payloads: "1", reasons: #"{"a": "x"}"#), Self.run(payloads: "1", reasons: "[]"),
        Self.run(payloads: "1", reasons: #"{"a": -1}"#),
    ])
    func `a value that holds up or ends a report is refused`(row: String) async throws {
        try await ErasureTests.withFilled(lanes: 1) { _, settings in
            try await Self.asWriter(settings) { writer in
                let refused = await #expect(throws: PostgresError.self) {
                    try await writer.execute("INSERT INTO \(row)")
                }
                #expect(refused?.sqlState == "23514", "\(refused as Any)")
            }
        }
    }

    private static func run(payloads: String, reasons: String = "{}") -> String {
        """
        ledger.ingestion (lane, run_id, started_at, finished_at, payloads, rejected, appended,
            duplicates, restored, streams, unchanged, was_stopped, source, rejected_by_reason)
        SELECT ledger.lane_of(g::text), g, now(), now(), \(payloads), 0, 0, 0, 0, 0, 0, false, 'x',
            '\(reasons)' FROM gen_random_uuid() g
        """
    }

    @Test func `fractional counts of refusals are added up`() async throws {
        try await ErasureTests.withFilled(lanes: 1) { ledger, settings in
            let session = try await PostgresSession.connect(settings)
            try await session.execute(
                "INSERT INTO \(Self.run(payloads: "1", reasons: #"{"a": 1.0, "b": 0.4}"#))"
            )
            await session.close()
            let quality = try await ledger.log.ingestQuality(source: "x")
            #expect(quality.sources.first?.counts.rejectedByReason == ["a": 1, "b": 0])
        }
    }

    @Test(arguments: [1, 4])
    func `a commit dated before a checkpoint that lacks it is found`(lanes: Int) async throws {
        try await ErasureTests.withFilled(lanes: lanes) { ledger, settings in
            let log = ledger.log
            let head = try #require(try await log.newestCommit(lane: 0))
            let checkpoint = try await log.checkpoint()
            // Taken an hour after the last commit.
            let later = try #require(
                Checkpoint(
                    identity: checkpoint.identity,
                    takenAt: Instant(
                        milliseconds: head.commit.committedAt.milliseconds + 3_600_000
                    ),
                    heads: checkpoint.heads
                )
            )
            var options = VerificationOptions()
            options.kept = [KeptHeads(later, source: "the checkpoint")]
            #expect(try await log.verify(options).isOK)
            // Only an owner can date it there.
            var forger = Forger(log: log, settings: settings, role: "ledger_owner")
            forger.shift = 1000
            let id = try #require(
                (1_000_000...).lazy.map { String($0) }.first {
                    log.identity.lanes.lane(of: $0) == 0
                }
            )
            try await forger.commit(
                [UnprovenFactTests.years(id: id)],
                citing: try await Self.payload(of: ledger)
            )
            #expect(try await log.verify().isOK, "the chain alone cannot show it")
            let mismatch = try #require(try await log.verify(options).firstMismatch)
            #expect(mismatch.commit == head.commit.number + 1)
            #expect(mismatch.reason.contains("the checkpoint"), "\(mismatch)")
        }
    }

    // Any payload that is kept.
    private static func payload(of ledger: Ledger) async throws -> Evidence {
        let stream = try await ErasureTests.longest(of: ledger)
        let event = try #require(try await ledger.log.history(of: stream).events.first)
        let stored = try #require(try await ledger.log.event(at: event.position))
        guard case .whole(let evidence) = stored.evidence else { throw NoPayload() }
        return evidence
    }

    private struct NoPayload: Error {}

    // As a role that can log in and is a member of the writer only.
    private static func asWriter(
        _ settings: ConnectionSettings,
        _ body: (PostgresSession) async throws -> Void
    ) async throws {
        let session = try await PostgresSession.connect(settings)
        try await session.execute(
            """
            BEGIN; CREATE ROLE v_only_writes; GRANT ledger_writer TO v_only_writes;
            SET LOCAL SESSION AUTHORIZATION v_only_writes; SET LOCAL ROLE ledger_writer
            """
        )
        try await body(session)
        await session.close()
    }
}
