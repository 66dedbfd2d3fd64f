import AppStoreSimulator
import Crypto
import Events
import Testing

/// The same seed gives the same bytes, in any place and any order of requests.
@Suite struct DeterminismTests {
    private func digest(_ deliveries: some Sequence<Delivery>) -> String {
        var hash = SHA256()
        for delivery in deliveries { hash.update(data: delivery.payload) }
        return hash.finalize().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test func `equal seeds give equal bytes and different seeds different ones`() {
        let first = digest(AppStoreSimulator(seed: 1).sampleHistory(count: 10))
        let again = digest(AppStoreSimulator(seed: 1).sampleHistory(count: 10))
        let other = digest(AppStoreSimulator(seed: 2).sampleHistory(count: 10))
        #expect(first == again)
        #expect(first != other)
    }

    @Test func `the bytes of seed 1 are the same as in every earlier build`() {
        // A change to the simulation must change this on purpose.
        let golden = "2e8a7fc35f725888f46c8020069dc094f048cff220197a03ca19334e1116dd66"
        #expect(digest(AppStoreSimulator(seed: 1).sampleHistory(count: 5)) == golden)
    }

    @Test func `a life does not depend on the others`() {
        let simulator = AppStoreSimulator(seed: 8)
        let alone = simulator.life(7)
        let among = Array(simulator.lives(8))[7]
        #expect(alone.periods == among.periods)
        #expect(alone.deliveries() == among.deliveries())
    }

    @Test func `no two lives share an id`() {
        var seen: Set<String> = []
        for life in AppStoreSimulator(seed: 8).lives(500) {
            #expect(seen.insert(life.originalTransactionId).inserted)
            #expect(life.originalTransactionId.utf8.count == 15)
        }
    }

    @Test func `disorder loses nothing and is determined by its seed`() {
        let deliveries = AppStoreSimulator(seed: 8).life(1).deliveries()
        let disordered = deliveries.disordered(seed: 4)
        #expect(Set(disordered) == Set(deliveries))
        #expect(disordered == deliveries.disordered(seed: 4))
        #expect(disordered != deliveries.disordered(seed: 5))
        #expect(deliveries.disordered(seed: 4, repeatingPercent: 0).count == deliveries.count)
        #expect(deliveries.disordered(seed: 4, repeatingPercent: 90).count > deliveries.count)
    }

    @Test func `the generator is SplitMix64`() {
        // The first outputs for the seed 1234567, as published with the algorithm.
        var generator = SeededGenerator(seed: 1_234_567)
        #expect(generator.next() == 6_457_827_717_110_365_317)
        #expect(generator.next() == 3_203_168_211_198_807_973)
        #expect(generator.next() == 9_817_491_932_198_370_423)
    }

    @Test func `random numbers stay in their range and reach both ends`() {
        var generator = SeededGenerator(seed: 3)
        var seen: Set<Int64> = []
        for _ in 0..<200 { seen.insert(generator.integer(in: -2...2)) }
        #expect(seen == [-2, -1, 0, 1, 2])
        #expect(generator.element(of: [Int]()) == nil)
    }
}
