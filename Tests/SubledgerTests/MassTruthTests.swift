import AppStoreSimulator
import Events
import Projections
import TestSupport
import Testing

/// Every table of thousands of random lives against the truth, from facts that nobody verified:
/// signatures are what the other suites are for.
///
/// `SUBLEDGER_HISTORIES` asks for more lives (`make laws`).
@Suite struct MassTruthTests {
    private static let seed: UInt64 = 20_261_201

    @Test func `every table tells the truth of 2000 lives, whatever they are heard by`()
        async throws
    {
        let simulator = AppStoreSimulator(seed: Self.seed, flaws: .unsigned)
        let differences = try await Histories.each(Histories.numbers(unlessTold: 2000)) { index in
            let life = simulator.life(index)
            let unasked = try Told(unverified: life.deliveries())
            let polls = try Told(unverified: life.polls())
            let seed = UInt64(index)
            return unasked.differences(life, by: .unasked, seed: seed)
                + polls.differences(life, by: .polls, seed: seed)
                + (unasked + polls).differences(life, by: .everything, seed: seed)
        }
        #expect(differences.isEmpty, "\(Histories.summary(differences))")
    }

    /// The history of transactions knows no renewal info: no grace, no retry, no setting and no
    /// wish, so that it cannot tell `renewal_states`, `billing_issues_detected_at` and the like.
    @Test func `the history alone tells the refunds and the changes of 1000 lives`() async throws {
        let simulator = AppStoreSimulator(seed: Self.seed &+ 1, flaws: .unsigned)
        let differences = try await Histories.each(0..<1000) { index in
            let life = simulator.life(index)
            guard !life.hasGrace else { return [] }
            let polls = try Told(unverified: life.polls()).only(.history)
            let ledger = polls.ledger(of: life, seed: UInt64(index))
            return [
                life.difference(ledger.periods(of: life.stream), by: "history, order \(index)"),
                TableTruth.difference(ofTransactionsAlone: life, ledger.timeline(of: life.stream)),
            ].compactMap { $0 }
        }
        #expect(differences.isEmpty, "\(Histories.summary(differences))")
    }
}

extension SubscriptionLife {
    /// Whether a renewal ever failed with grace.
    fileprivate var hasGrace: Bool {
        events.contains { event in
            if case .failToRenew(.some, _) = event.step { true } else { false }
        }
    }
}
