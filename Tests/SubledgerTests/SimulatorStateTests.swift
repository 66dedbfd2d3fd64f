import AppStoreSimulator
import Events
import Projections
import TestSupport
import Testing

/// The states of subscriptions, compared with Apple's own statements in the payloads (Apple's data:
/// status values, renewal info).
@Suite struct SimulatorStateTests {
    private static let seed: UInt64 = 20_261_122

    @Test func `the states of 1000 lives agree with Apple's`() async throws {
        let simulator = AppStoreSimulator(seed: Self.seed, flaws: .unsigned)
        let differences = try await Histories.each(0..<1000) { index in
            let life = simulator.life(index)
            let delivered = try DeliveredFacts(unverified: life.deliveries())
            // Each life in a different order.
            return life.drift(
                delivered.ledger(of: life, seed: UInt64(index)).history(of: life.stream)
            )
        }
        #expect(differences.isEmpty, "\(Histories.summary(differences))")
    }

    @Test func `the states from polls of 100 lives agree with Apple's`() async throws {
        let simulator = AppStoreSimulator(seed: Self.seed &+ 1, flaws: .unsigned)
        let differences = try await Histories.each(0..<100) { index in
            let life = simulator.life(index)
            let delivered = try DeliveredFacts(unverified: life.polls() + life.deliveries())
            return life.drift(delivered.ledger(of: life, seed: 3).history(of: life.stream))
        }
        #expect(differences.isEmpty, "\(Histories.summary(differences))")
    }
}

extension SubscriptionLife {
    fileprivate func drift(_ history: StreamHistory) -> [String] {
        let report = Drift.check(history)
        guard !report.disagreements.isEmpty || report.checked == 0 && !events.isEmpty else {
            return []
        }
        let lines = report.disagreements.map {
            "  \($0.asOf) \($0.subject.rawValue): Apple \($0.apple), ours \($0.ours)"
        }
        let kinds = kinds.map(\.rawValue).sorted().joined(separator: ", ")
        return [
            """
            life \(identity.index) of seed \(identity.seed), \(report.checked) checked; \(kinds)
            \(events.map { "    \($0.signedAt) \($0.step)" }.joined(separator: "\n"))
            \(lines.joined(separator: "\n"))
            """
        ]
    }
}
