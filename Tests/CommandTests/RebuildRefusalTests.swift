import Foundation
import TestSupport
import Testing

/// A subscription with rows in the live tables that a rebuild can no longer read.
@Suite(.enabled { await TestServer.isAvailable })
struct RebuildRefusalTests {
    @Test(arguments: ["check", "diff"])
    func `a newly refused subscription is a named difference and does not end the comparison`(
        verb: String
    ) async throws {
        try await withSimulatedLedger(rebuilt: true) { command, settings in
            let id = try await settings.text(
                "SELECT original_transaction_id FROM projection.active_periods LIMIT 1"
            )
            let stream = "original_transaction_id = '\(id)'"
            let offset = try await settings.number(
                "SELECT min(lane_offset) FROM ledger.event WHERE \(stream)"
            )
            try await settings.meddle(
                "UPDATE ledger.event SET content = '\\x7f' WHERE lane_offset = \(offset)"
            )
            let ending = try await command.run("tables", verb, "--quiet")
            #expect(ending.code == 3, "\(ending.errors)")
            #expect(ending.output.contains("1 changed"), "\(ending.errors)")
            for word in [id, "refused at #\(offset)"] {
                #expect(ending.errors.contains(word), "\(word): \(ending.errors)")
            }
            let document = try await command.json(
                CheckDocument.self,
                exit: 3,
                "tables",
                verb,
                "--quiet"
            )
            #expect(!document.equal && document.refusals.changed.count == 7)
        }
    }
}
