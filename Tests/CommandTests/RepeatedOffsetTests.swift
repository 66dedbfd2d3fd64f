import EventLog
import Events
import Postgres
import Subledger
import TestSupport
import Testing

/// Without its keys, a table of the log accepts a second row at the same place.
@Suite(.enabled { await TestServer.isAvailable })
struct RepeatedOffsetTests {
    /// How an owner or a superuser makes room for a second event at the offset of the third.
    private static let ways = [
        """
        ALTER TABLE ledger.event DROP CONSTRAINT event_pkey, DROP CONSTRAINT event_fact_unique;
        INSERT INTO ledger.event SELECT * FROM ledger.event WHERE lane_offset = 3
        """,
        """
        ALTER TABLE ledger.event DROP CONSTRAINT event_pkey, DROP CONSTRAINT event_fact_unique;
        CREATE INDEX event_pkey ON ledger.event (lane, lane_offset);
        INSERT INTO ledger.event SELECT * FROM ledger.event WHERE lane_offset = 3
        """,
        """
        CREATE TABLE public.further () INHERITS (ledger.event);
        GRANT SELECT ON public.further TO ledger_reader, ledger_writer;
        INSERT INTO public.further SELECT * FROM ledger.event WHERE lane_offset = 3
        """,
    ]

    @Test(arguments: ways)
    func `a second event at an offset is found, and every question gives an error`(
        way: String
    ) async throws {
        try await withSimulatedLedger(rebuilt: true) { command, settings in
            let id = try await settings.text(
                "SELECT original_transaction_id FROM ledger.event WHERE lane_offset = 3"
            )
            try await settings.meddle(way)
            let report = try await command.json(VerifyDocument.self, exit: 3, "verify")
            #expect(report.firstMismatch?.offset == 3)
            #expect(report.firstMismatch?.reason.contains("more than one event") == true)
            for question in [
                ["explain", id, "--at", "2026-03-03"], ["history", id], ["periods", id],
                ["history", id, "--json"], ["blame", id, "--at", "2026-03-03"],
            ] {
                let ending = try await command.run(question)
                #expect(ending.code == 3, "\(question): \(ending.errors)")
                #expect(ending.errors.contains("0:3 has more than one event"), "\(ending.errors)")
            }
            let check = try await command.run("tables", "check")
            #expect(check.code == 3 && !check.wasKilled, "\(check.errors)")
            let rebuilt = try await command.run("rebuild", "--quiet")
            #expect(rebuilt.errors.contains("1 refused subscription"), "\(rebuilt.errors)")
        }
    }

    @Test func `a second commit of a number is found`() async throws {
        try await withSimulatedLedger { command, settings in
            try await settings.meddle(
                """
                ALTER TABLE ledger.commit DROP CONSTRAINT commit_pkey;
                INSERT INTO ledger.commit SELECT * FROM ledger.commit WHERE commit_no = 2
                """
            )
            let report = try await command.json(VerifyDocument.self, exit: 3, "verify")
            #expect(report.firstMismatch?.commit == 2)
            #expect(report.firstMismatch?.reason.contains("more than one commit") == true)
        }
    }
}
