import AppStoreSimulator
import Events
import Foundation
import Projections
import Subledger
import TestSupport
import Testing

private typealias Generator = TestSupport.SeededGenerator

/// Questions that an agent asks through the protocol, compared with the simulator's truth.
@Suite(.enabled { await TestServer.isAvailable })
struct AgentTruthTests {
    /// The seed of instants and days; `Simulation` has one of its own.
    private static let seed: UInt64 = 20_261_129
    private static let lives = Array(AppStoreSimulator(seed: 9).lives(25))

    @Test func `500 questions about simulated subscriptions get the true answers`() async throws {
        var generator = Generator(seed: Self.seed)
        var questions = Self.lives.flatMap { Self.questions(about: $0, &generator) }
        questions += Self.reports(&generator)
        #expect(questions.count == 500)
        let lines = try questions.map { question in
            let line = try JSONSerialization.data(withJSONObject: question.object)
            return [UInt8](line) + [UInt8(ascii: "\n")]
        }
        let folder = try TestFolder()
        let file = try folder.write("questions", lines.joined())
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("ask_agent.py").path
        try await withSimulatedLedger(rebuilt: true) { command in
            let ending = try await Program(path: "/usr/bin/env").run(
                ["python3", "-B", script, try Program("subledger").path, file],
                environment: command.environment
            )
            #expect(ending.code == 0, "seed \(Self.seed): \(ending.output)\(ending.errors)")
            print("seed \(Self.seed): \(ending.output.split(separator: "\n").last ?? "")")
        }
    }

    /// A question, and what its answer has.
    private struct Asked {
        let tool: String
        let arguments: [String: Any]
        let expected: [String: Any]

        var object: [String: Any] {
            ["tool": tool, "arguments": arguments, "expected": expected]
        }
    }

    private static func questions(
        about life: SubscriptionLife,
        _ generator: inout Generator
    ) -> [Asked] {
        let id = life.originalTransactionId
        let truth = life.tables(from: .everything)
        func asked(_ tool: String, _ more: [String: Any], _ expected: [String: Any]) -> Asked {
            Asked(tool: tool, arguments: more.merging(["id": id]) { $1 }, expected: expected)
        }
        func charges(_ purchases: [SimulatedTransaction]) -> [[String: Any]] {
            purchases.compactMap { purchase in
                purchase.purchasePriceMilliunits.map {
                    [
                        "productId": purchase.productId, "priceMilliunits": $0,
                        "purchaseDate": purchase.startTime.milliseconds,
                    ]
                }
            }
        }

        var questions = [
            asked("periods", [:], ["periods": life.periods.map(\.object), "active": life.spans]),
            asked("refunds", [:], ["refunds": truth.refundCases.map(\.object)]),
            asked("charges", ["alone": true], ["charges": charges(truth.transactions)]),
            asked("changes", [:], ["changes": truth.planChanges.map(\.object)]),
            asked("search", [:], ["id": id, "environment": "Production"]),
            asked("history", ["limit": 1000], ["events": ["∋"] + truth.transactions.map(\.event)]),
        ]
        for instant in life.instants(8, &generator) {
            let hasAccess = life.active.contains { $0.from <= instant && instant < $0.to }
            let at: [String: Any] = ["at": instant.milliseconds, "alone": true]
            questions.append(asked("access", at, ["access": hasAccess]))
        }
        for instant in life.instants(4, &generator) {
            let states = truth.states.filter { state in
                state.validFrom <= instant && state.validTo.map { instant < $0 } ?? true
            }
            questions.append(
                asked("state", ["at": "\(instant)"], ["states": states.map(\.object)])
            )
        }
        return questions
    }

    // How many subscriptions are paid at the end of a day, and how many payments a month has.
    private static func reports(_ generator: inout Generator) -> [Asked] {
        let purchases = lives.filter { !$0.identity.isFamilyShared }.map {
            $0.tables(from: .everything).transactions
        }
        let starts = purchases.joined().map { $0.startTime }.sorted()
        let dayLength: Int64 = 86_400_000
        let newest = lives.compactMap { $0.horizon?.milliseconds }.max() ?? 0
        let signed = newest / dayLength * dayLength
        return (0..<50).map { number in
            let instant = starts[Int.random(in: starts.indices, using: &generator)]
            let first = instant.milliseconds / dayLength * dayLength
            let days = Int64.random(in: 0..<40, using: &generator)
            // Nothing counts after Apple's newest signature.
            let last = max(first, min(first + days * dayLength, signed - dayLength))
            let end = Instant(milliseconds: last + dayLength)
            var arguments = ["to": "\(Instant(milliseconds: last))"]
            guard number.isMultiple(of: 2) else {
                let paid = purchases.count { of in
                    let running = of.last { $0.startTime < end && $0.effectiveEndTime >= end }
                    return (running?.purchasePriceMilliunits ?? 0) > 0
                }
                arguments["name"] = "active"
                return Asked(
                    tool: "report",
                    arguments: arguments,
                    expected: ["rows": ["…", ["activePaid": paid]] as [Any]]
                )
            }
            let count = purchases.joined().count { purchase in
                first <= purchase.startTime.milliseconds && purchase.startTime < end
                    && (purchase.purchasePriceMilliunits ?? 0) > 0
            }
            arguments["name"] = "renewals"
            arguments["by"] = "none"
            arguments["from"] = "\(Instant(milliseconds: first))"
            return Asked(
                tool: "report",
                arguments: arguments,
                expected: ["rows": [["paymentsCount": count]]]
            )
        }
    }
}

extension SubscriptionLife {
    fileprivate var spans: [[Int64]] { active.map { [$0.from.milliseconds, $0.to.milliseconds] } }

    /// Instants around the ends of access, and between them.
    fileprivate func instants(_ count: Int, _ generator: inout Generator) -> [Instant] {
        let ends = spans.flatMap { $0 } + states.map(\.validFrom.milliseconds)
        guard let first = ends.min(), let last = ends.max() else { return [] }
        return (0..<count).map { number in
            let end = ends[Int.random(in: ends.indices, using: &generator)]
            let near = end + Int64.random(in: -1...1, using: &generator)
            let any = Int64.random(in: first...last, using: &generator)
            return Instant(milliseconds: number.isMultiple(of: 2) ? near : any)
        }
    }
}

extension SimulatedPeriod {
    fileprivate var object: [String: Any] {
        [
            "productId": productId, "purchaseDate": purchaseDate.milliseconds,
            "validFrom": validFrom.milliseconds, "validTo": validTo.milliseconds,
            "kind": kind.rawValue, "endReason": endReason.rawValue,
        ]
    }
}

extension SimulatedTransaction {
    /// The event of the log that states it.
    fileprivate var event: Any {
        [
            "kind": "transaction", "purchaseDate": startTime.milliseconds,
            "fields": ["productId": productId],
        ] as [String: Any]
    }
}

extension SimulatedRefund {
    fileprivate var object: [String: Any] {
        var object: [String: Any] = [
            "productId": productId, "purchaseDate": purchaseDate.milliseconds,
            "state": state.rawValue,
        ]
        object["revocationDate"] = revoked?.milliseconds
        object["reversed"] = reversed?.milliseconds
        object["refundedMilliunits"] = refundedMilliunits
        return object
    }
}

extension SimulatedPlanChange {
    fileprivate var object: [String: Any] {
        var object: [String: Any] = ["fromProductId": fromProductId, "toProductId": toProductId]
        object["effective"] = effective?.milliseconds
        object["requested"] = requested?.milliseconds
        return object
    }
}

extension SimulatedRenewalState {
    fileprivate var object: [String: Any] {
        var object: [String: Any] = [
            "validFrom": validFrom.milliseconds, "charge": charge.rawValue,
        ]
        object["isAutoRenewOn"] = isAutoRenewOn
        object["autoRenewProductId"] = autoRenewProductId
        return object
    }
}
