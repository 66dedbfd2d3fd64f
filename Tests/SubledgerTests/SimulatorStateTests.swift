import AppStore
import AppStoreSimulator
import Events
import Projections
import Testing

/// Where a subscription stands at any time, and what moved, against the simulator's truth and against what Apple
/// itself says in its payloads (app-store.md §C.2, §D.2).
@Suite struct SimulatorStateTests {
    private static let seed: UInt64 = 20_261_122
    private static let lives = 2000

    @Test func `the states of 2000 lives are the true ones, and Apple's`() async throws {
        let simulator = AppStoreSimulator(seed: Self.seed)
        let verifier = try simulator.verifier()
        let differences = try await everyLife(0..<Self.lives) { index in
            let life = simulator.life(index)
            let told = try Told(life.deliveries(), verifier)
            // Each life in an order of its own.
            return life.differences(
                told.ledger(of: life, seed: UInt64(index)).history(of: life.stream)
            )
        }
        #expect(differences.isEmpty, "\(Told.summary(differences))")
    }

    @Test func `polls tell the true states of 40 lives, and agree with Apple's`() async throws {
        let simulator = AppStoreSimulator(seed: Self.seed &+ 1)
        let verifier = try simulator.verifier()
        let differences = try await everyLife(0..<40) { index in
            let life = simulator.life(index)
            let all =
                try Told(life.polls(), verifier) + (try Told(life.deliveries(), verifier))
            // Not the movements: a poll of today tells of refunds what notifications of their time
            // could not (app-store.md §D.1 `revocationPercentage`).
            return life.standings(all.ledger(of: life, seed: 3).history(of: life.stream))
        }
        #expect(differences.isEmpty, "\(Told.summary(differences))")
    }
}

extension SubscriptionLife {
    private var title: String {
        "life \(identity.index) of seed \(identity.seed), \(originalTransactionId); "
            + kinds.map(\.rawValue).sorted().joined(separator: ", ")
    }

    fileprivate func differences(_ history: StreamHistory) -> [String] {
        let found = Movements(Timeline(history), .none).rows.map(\.line)
        return standings(history)
            + [difference(found, from: movements.map { "\($0)" })].compactMap { $0 }
    }

    fileprivate func standings(_ history: StreamHistory) -> [String] {
        let found = RenewalStates(Timeline(history)).rows.map(\.line)
        return [
            difference(found, from: states.map { "\($0)" }), driftDifference(history),
        ].compactMap { $0 }
    }

    private func difference(_ found: [String], from expected: [String]) -> String? {
        guard found != expected else { return nil }
        return """
            \(title)
            \(events.map { "    \($0.signedAt) \($0.step)" }.joined(separator: "\n"))
            expected:
            \(expected.map { "  \($0)" }.joined(separator: "\n"))
            found:
            \(found.map { "  \($0)" }.joined(separator: "\n"))
            """
    }

    private func driftDifference(_ history: StreamHistory) -> String? {
        let report = Drift.check(history)
        guard !report.disagreements.isEmpty || report.checked == 0 && !events.isEmpty else {
            return nil
        }
        let lines = report.disagreements.map {
            "  \($0.asOf) \($0.subject.rawValue): Apple \($0.apple), ours \($0.ours)"
        }
        return """
            \(title), \(report.checked) checked
            \(events.map { "    \($0.signedAt) \($0.step)" }.joined(separator: "\n"))
            \(lines.joined(separator: "\n"))
            """
    }
}

extension RenewalState {
    /// As the simulator prints its truth.
    fileprivate var line: String {
        let renewal = isAutoRenewOn.map { $0 ? "on" : "off" } ?? "unknown"
        return "\(validFrom) … \(validTo.map(\.description) ?? "") \(status)"
            + " \(charge.rawValue) \(renewal) \(autoRenewProductId ?? "-")"
            + " \(priceConsent?.rawValue ?? "-")"
    }
}

extension Movement {
    /// As the simulator prints its truth.
    fileprivate var line: String {
        "\(occurred) \(word.rawValue) \(productId) \(previousProductId ?? "-")"
            + " \(purchaseDate) \(amountMilliunits.map { String($0) } ?? "-")"
            + (isResubscribe ? " again" : "")
    }
}
