import Foundation
import TestSupport
import Testing

/// `refunds`, `changes` and `report anomalies` from the outside.
@Suite(.enabled { await TestServer.isAvailable })
struct MoneyQuestionTests {
    @Test func `documents have the documented members`() async throws {
        try await withSimulatedLedger { command, ids in
            let refunds = try await documents(RefundsAnswer.self, "refunds", ids, command)
            let changes = try await documents(ChangesAnswer.self, "changes", ids, command)
            // The simulation is long enough to contain each of them.
            #expect(refunds.contains { $0.refunds.contains { $0.state == "refunded" } })
            #expect(changes.contains { $0.changes.contains { $0.state == "effective" } })
            for answer in refunds {
                #expect(!answer.purchases.isEmpty)
                let stands = Set(answer.purchases.map(\.state))
                #expect(stands.isSubset(of: ["kept", "refunded", "revoked", "reversed"]))
                let net = answer.refunds.filter(\.isNet).count
                #expect(net == answer.purchases.filter { $0.state != "kept" }.count)
            }
            let id = try #require(ids.first)
            #expect(try await command.expect(0, "refunds", id).contains("state"))
            #expect(try await command.expect(0, "changes", id).contains(id))
        }
    }

    @Test func `known at nothing, the answers are empty`() async throws {
        try await withSimulatedLedger { command, ids in
            let id = try #require(ids.first)
            let refunds = try await command.json(
                RefundsAnswer.self,
                "refunds",
                id,
                "--known-at",
                "0"
            )
            #expect(refunds.refunds.isEmpty && refunds.purchases.isEmpty)
            let changes = try await command.json(
                ChangesAnswer.self,
                "changes",
                id,
                "--known-at",
                "0"
            )
            #expect(changes.changes.isEmpty)
        }
    }

    @Test func `--at keeps the purchase that contains the instant`() async throws {
        try await withSimulatedLedger { command, ids in
            let id = try #require(ids.first)
            let all = try await command.json(RefundsAnswer.self, "refunds", id)
            let purchase = try #require(all.purchases.last)
            let text = Date(timeIntervalSince1970: Double(purchase.purchaseDate) / 1000)
                .formatted(.iso8601)
            let told = try await command.json(RefundsAnswer.self, "refunds", id, "--at", text)
            #expect(told.purchases.contains { $0.purchaseDate == purchase.purchaseDate })
            let never = try await command.json(
                RefundsAnswer.self,
                "refunds",
                id,
                "--at",
                "2009-01-01"
            )
            #expect(never.purchases.isEmpty && never.refunds.isEmpty)
        }
    }

    @Test func `anomalies are counted over all streams, and the rows are limited`() async throws {
        try await withSimulatedLedger { command, ids in
            let answer = try await command.json(AnomaliesAnswer.self, "report", "anomalies")
            #expect(answer.streams >= ids.count)
            #expect(
                Set(answer.counts.keys)
                    == [
                        "refund_loop", "refunded_again", "everything_refunded", "empty_period",
                        "extension_taken_back", "shared_token", "shared_transaction",
                    ]
            )
            #expect(answer.anomalies.count == answer.counts.values.reduce(0, +))
            let counts = answer.anomalies.map(\.count)
            #expect(counts == counts.sorted(by: >))
            let one = try await command.json(
                AnomaliesAnswer.self,
                "report",
                "anomalies",
                "--limit",
                "1"
            )
            #expect(one.counts == answer.counts)
            #expect(one.anomalies.count == min(1, answer.anomalies.count))
            #expect(try await command.expect(0, "report", "anomalies").contains("streams:"))
            _ = try await command.expect(64, "report", "anomalies", "--limit", "0")
        }
    }

    @Test func `an id without any event is not found`() async throws {
        try await withSimulatedLedger { command, _ in
            for name in ["refunds", "changes"] { _ = try await command.expect(4, name, "1") }
        }
    }

    private func documents<Answer: Decodable>(
        _ type: Answer.Type,
        _ name: String,
        _ ids: [String],
        _ command: Command
    ) async throws -> [Answer] {
        var answers: [Answer] = []
        for id in ids { answers.append(try await command.json(type, name, id)) }
        return answers
    }

    private func withSimulatedLedger(
        _ body: (Command, [String]) async throws -> Void
    ) async throws {
        let simulation = try await Simulation.shared
        try await withLedger { command, _ in
            try await command.expect(0, simulation.arguments + [simulation.payloads])
            let streams = try await command.json([Line].self, "streams")
            try await body(command, streams.map(\.originalTransactionId))
        }
    }
}

private struct Line: Decodable {
    let originalTransactionId: String
}

private struct RefundsAnswer: Decodable {
    let originalTransactionId: String
    let environment: String
    let refunds: [Case]
    let purchases: [Purchase]

    struct Case: Decodable {
        let productId: String
        let purchaseDate: Int64
        let expiresDate: Int64?
        let state: String
        let kind: String?
        let timing: String?
        let revocationDate: Int64?
        let refundedMilliunits: Int64?
        let isNet: Bool
        let positions: [Int64]
    }

    struct Purchase: Decodable {
        let productId: String
        let purchaseDate: Int64
        let state: String
        let grossMilliunits: Int64?
        let netMilliunits: Int64?
    }
}

private struct ChangesAnswer: Decodable {
    let originalTransactionId: String
    let environment: String
    let changes: [Row]

    struct Row: Decodable {
        let fromProductId: String
        let toProductId: String
        let state: String
        let timing: String
        let `class`: String
        let requested: Int64?
        let effective: Int64?
        let refundsPrevious: Bool
        let positions: [Int64]
    }
}

private struct AnomaliesAnswer: Decodable {
    let streams: Int
    let counts: [String: Int]
    let anomalies: [Row]

    struct Row: Decodable {
        let originalTransactionId: String
        let kind: String
        let count: Int
        let from: Int64
        let to: Int64
        let positions: [Int64]
    }
}
