import AppStoreSimulator
import Events
import Projections
import TestSupport
import Testing

/// The folds return the same rows for the same version.
@Suite struct KeptFoldTests {
    private static let kept = KeptFolds("kept-folds.txt")

    @Test func `lives of every kind give the rows kept for them`() throws {
        let simulator = AppStoreSimulator(seed: 20_261_123, flaws: .unsigned)
        let context = FoldContext(catalogs: .simulated)
        var kinds: Set<LifeKind> = []
        for index in 0..<300 {
            let life = simulator.life(index)
            kinds.formUnion(life.kinds)
            let delivered =
                try DeliveredFacts(unverified: life.deliveries())
                + DeliveredFacts(unverified: life.polls())
            var ledger = MemoryLedger()
            for fact in delivered.facts { ledger.append(fact) }
            let streams = Set(delivered.facts.map(\.stream)).sorted()
            Self.kept.check(
                delivered.facts,
                named: "life-\(index)",
                streams.map(ledger.timeline),
                context
            )
        }
        #expect(kinds == Set(LifeKind.allCases))
    }
}
