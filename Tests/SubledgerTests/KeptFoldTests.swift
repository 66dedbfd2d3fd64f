import AppStoreSimulator
import Events
import Projections
import TestSupport
import Testing

/// The folds return the same rows for the same version.
@Suite struct KeptFoldTests {
    private static let kept = KeptFolds("kept-folds.txt")

    @Test func `lives of every kind give the rows kept for them`() throws {
        let apps: [(name: String, simulator: AppStoreSimulator, count: Int)] = [
            ("life", AppStoreSimulator(seed: 20_261_123, flaws: .unsigned), 300),
            ("extra", AppStoreSimulator(seed: 20_261_123, flaws: .unsigned, extras: .all), 600),
        ]
        let context = FoldContext(catalogs: .simulated)
        var kinds: Set<LifeKind> = []
        for (app, index) in apps.flatMap({ app in (0..<app.count).map { (app, $0) } }) {
            let life = app.simulator.life(index)
            kinds.formUnion(life.kinds)
            let delivered =
                try DeliveredFacts(unverified: life.deliveries())
                + DeliveredFacts(unverified: life.polls())
            var ledger = MemoryLedger()
            for fact in delivered.facts { ledger.append(fact) }
            let streams = Set(delivered.facts.map(\.stream)).sorted()
            Self.kept.check(
                delivered.facts,
                named: "\(app.name)-\(index)",
                streams.map(ledger.timeline),
                context
            )
        }
        #expect(kinds == Set(LifeKind.allCases))
    }
}
