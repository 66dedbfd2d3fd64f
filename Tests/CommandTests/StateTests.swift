import Foundation
import TestSupport
import Testing

/// `state`, `due` and `report drift` from the outside.
@Suite(.enabled { await TestServer.isAvailable })
struct StateTests {
    @Test func `documents have the documented members`() async throws {
        try await withSimulatedLedger { command in
            let streams = try await command.json([StreamLine].self, "streams")
            let id = try #require(
                streams.first { !$0.productIds.isEmpty && $0.events > 5 }
            ).originalTransactionId
            let states = try await command.expect(0, "state", id, "--json")
            #expect(
                try members(states) == [
                    "originalTransactionId", "environment", "states", "erasures",
                    "otherSubscriptions",
                ]
            )
            let required: Set = ["validFrom", "status", "charge", "positions"]
            #expect(try members(states, "states").isSuperset(of: required))
            #expect(try await command.expect(0, "state", id).contains(id))
            let then = try await command.expect(0, "state", id, "--json", "--at", "2001-01-01")
            #expect(then.contains("\"states\":[]"))
            _ = try await command.expect(4, "state", "nobody", "--json")
        }
    }

    @Test func `Apple's statements about simulated lives agree with the fold`() async throws {
        try await withSimulatedLedger { command in
            let report = try await command.json(DriftDocument.self, "report", "drift")
            #expect(report.checked > 0)
            #expect(report.checked == report.agreeing)
            #expect(report.drift.isEmpty)
        }
    }

    @Test func `due lists each subscription once, with the reason`() async throws {
        try await withSimulatedLedger { command in
            let all = try await command.json(
                [DueLine].self,
                "due",
                "--at",
                "2025-06-01",
                "--within",
                "7d"
            )
            #expect(!all.isEmpty)
            #expect(Set(all.map { $0.originalTransactionId + $0.environment }).count == all.count)
            #expect(Set(all.map(\.reason)).isSubset(of: ["ends_soon", "failed", "overdue"]))
            let lines = try await command.expect(0, "due", "--at", "2025-06-01", "--within", "7d")
            #expect(lines.split(separator: "\n").count == all.count + 1)
            #expect(lines.hasPrefix("subscription      environment   reason      access until"))
            let before = try await command.json([DueLine].self, "due", "--at", "2001-01-01")
            #expect(before.isEmpty)
            // Apple charges for sixty days at most (Apple's data: trap 18): nothing is due forever.
            let late = try await command.json([DueLine].self, "due", "--at", "2035-01-01")
            #expect(late.isEmpty)
            _ = try await command.expect(64, "due", "--within", "soon")
            _ = try await command.expect(64, "due", "--environment", "Foo")
        }
    }

    @Test(.enabled { RealData.isPresent })
    func `Apple's own statuses in real payloads agree with the fold`() async throws {
        try await withLedger { command, _ in
            _ = try await command.expect(65, "ingest", "--json", "--vouch", try RealData.path(""))
            let report = try await command.json(DriftDocument.self, "report", "drift")
            #expect(report.checked > 5)
            #expect(report.drift.isEmpty)
            #expect(report.checked == report.agreeing)
        }
    }
}

private struct DriftDocument: Decodable {
    let checked: Int
    let agreeing: Int
    let drift: [Line]

    struct Line: Decodable, Equatable {
        let originalTransactionId: String
        let environment: String
        let asOf: Int64
        let what: String
        let apple: String
        let ours: String
    }
}

private struct DueLine: Decodable {
    let originalTransactionId: String
    let environment: String
    let reason: String
    let accessEnd: Int64
}
