import Foundation
import TestSupport
import Testing

/// Reports over a log with an event that this program cannot read.
@Suite(.enabled { await TestServer.isAvailable })
struct UnreadableReportTests {
    @Test(arguments: [
        ["report", "drift"], ["report", "anomalies"], ["report", "wrong-answers"], ["due"],
    ])
    func `a subscription that cannot be read is left out, named and counted`(
        arguments: [String]
    ) async throws {
        try await withSimulatedLedger { command, settings in
            let whole = try await command.run(arguments)
            #expect(!whole.errors.contains("could not be read"), "\(whole.errors)")
            try await settings.meddle(
                """
                UPDATE ledger.event SET content = '\\x7f' WHERE lane_offset = 7 OR lane_offset IN (
                    SELECT max(lane_offset) FROM ledger.event WHERE original_transaction_id =
                        (SELECT original_transaction_id FROM ledger.event WHERE lane_offset = 7))
                """
            )
            let id = try await settings.text(
                "SELECT original_transaction_id FROM ledger.event WHERE lane_offset = 7"
            )
            let code: Int32 = arguments == ["due"] ? 0 : 3
            let ending = try await command.run(arguments)
            #expect(ending.code == code, "\(ending.errors)")
            for word in ["1 subscription could not be read", id, "#7", "subledger verify"] {
                #expect(ending.errors.contains(word), "\(word): \(ending.errors)")
            }
            let output = try await command.expect(code, arguments + ["--json"])
            let unreadable = try Self.unreadable(Data(output.utf8))
            #expect(unreadable.map(\.originalTransactionId) == [id])
            #expect(unreadable.first?.positions.first == 7)
            #expect(unreadable.first?.positions.count == 2)
        }
    }

    // Of `due` they are lines among others, of the reports a member of the document.
    private static func unreadable(_ json: Data) throws -> [Unreadable] {
        if json.first == UInt8(ascii: "[") {
            return try JSONDecoder().decode([DueLine].self, from: json).compactMap { line in
                line.unreadable.map {
                    #expect(line.reason == "unreadable")
                    return Unreadable(
                        originalTransactionId: line.originalTransactionId,
                        positions: $0
                    )
                }
            }
        }
        return try JSONDecoder().decode(Report.self, from: json).unreadable
    }

    private struct Report: Decodable { let unreadable: [Unreadable] }

    private struct Unreadable: Decodable {
        let originalTransactionId: String
        let positions: [Int64]
    }

    private struct DueLine: Decodable {
        let originalTransactionId: String
        let reason: String
        let unreadable: [Int64]?
    }
}
