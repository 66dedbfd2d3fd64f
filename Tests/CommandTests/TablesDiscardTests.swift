import Foundation
import Postgres
import TestSupport
import Testing

/// `tables discard` after a rebuild that did not finish.
@Suite(.enabled { await TestServer.isAvailable })
struct TablesDiscardTests {
    @Test(arguments: [(["rebuild", "--into", "kept"], SIGKILL), (["tables", "diff"], SIGINT)])
    func `remains of a killed rebuild are dropped and reported`(
        arguments: [String],
        signal: Int32
    ) async throws {
        try await withSimulatedLedger(rebuilt: true) { command, settings in
            let session = try await PostgresSession.connect(settings)
            // It has created its tables and waits for the log.
            try await session.execute("BEGIN; LOCK TABLE ledger.event IN ACCESS EXCLUSIVE MODE")
            let program = try Program("subledger").start(
                arguments + ["--quiet"],
                environment: command.environment
            )
            while try await settings.number(TablesDiscardTests.filling) == 0, program.isRunning {}
            program.signal(signal)
            _ = await program.ending()
            try await session.execute("ROLLBACK")
            await session.close()
            let schema = try await settings.text(
                "SELECT min(build_schema) FROM projection.ledger_projection WHERE state = 'filling'"
            )
            let into = arguments.contains("--into") ? ["--schema", "kept"] : []
            let ending = try await command.run(["tables", "discard"] + into)
            #expect(ending.code == 0, "\(ending.errors)")
            #expect(ending.output.hasPrefix("dropped \(schema)"), "\(ending.output)")
            #expect(!ending.errors.contains("nothing was dropped"), "\(ending.errors)")
            #expect(try await settings.number(TablesDiscardTests.filling) == 0)
            // Now nothing is left.
            let again = try await command.run(["tables", "discard"] + into)
            #expect(again.code == (into.isEmpty ? 0 : 64) && again.output.isEmpty)
            try await command.expect(0, "tables", "check", "--quiet")
        }
    }

    private static let filling =
        "SELECT count(*) FROM projection.ledger_projection WHERE state = 'filling'"
}
