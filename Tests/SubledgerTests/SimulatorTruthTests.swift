import AppStore
import AppStoreSimulator
import Events
import Projections
import TestSupport
import Testing

/// The simulator knows the truth, and the ledger must find it.
///
/// The ledger gets only signed payloads: out of order, some twice, by one channel or several.
@Suite struct SimulatorTruthTests {
    private static let seed: UInt64 = 20_261_121

    /// Lives in the signed test; every notification of each is signed and verified once.
    private static let livesByNotification = 300

    /// Lives in the signed test by polls: these repeat everything at each change, so that their
    /// signatures cost ten times as much.
    private static let livesByPolling = 30

    @Test func `signed notifications and silent polls give the whole truth of 300 lives`()
        async throws
    {
        let simulator = AppStoreSimulator(seed: Self.seed)
        let verifier = try simulator.verifier()
        let differences = try await Histories.each(0..<Self.livesByNotification) { index in
            let life = simulator.life(index)
            let delivered = try DeliveredFacts(life.deliveries(), verifier)
            var differences = delivered.differences(life, from: .unasked, seed: 1)
            // Changes that Apple does not announce have to be polled.
            let notified =
                delivered.only(.notification) + (try DeliveredFacts(life.silentPolls(), verifier))
            differences += [notified.difference(life, by: "notifications", seed: 3)]
                .compactMap { $0 }
            #expect(life.active == AccessInterval.covered(by: life.periods))
            return differences
        }
        #expect(differences.isEmpty, "\(Histories.summary(differences))")
    }

    @Test func `signed answers give the whole truth of 30 lives, alone and among all`()
        async throws
    {
        let simulator = AppStoreSimulator(seed: Self.seed &+ 1)
        let verifier = try simulator.verifier()
        let differences = try await Histories.each(0..<Self.livesByPolling) { index in
            let life = simulator.life(index)
            let polls = try DeliveredFacts(life.polls(), verifier)
            let all = polls + (try DeliveredFacts(life.deliveries(), verifier))
            return polls.differences(life, from: .polls, seed: 4)
                + all.differences(life, from: .everything, seed: 5)
        }
        #expect(differences.isEmpty, "\(Histories.summary(differences))")
    }

    @Test func `unverified reading gives the same facts`() async throws {
        let simulator = AppStoreSimulator(seed: Self.seed &+ 2)
        let unsigned = AppStoreSimulator(seed: Self.seed &+ 2, flaws: .unsigned)
        let verifier = try simulator.verifier()
        let differences = try await Histories.each(0..<30) { index in
            let life = simulator.life(index)
            let instant = try #require(life.horizon)
            let verified = try DeliveredFacts(
                life.deliveries() + life.history(asOf: instant) + [life.statuses(asOf: instant)],
                verifier
            )
            let bare = unsigned.life(index)
            let read = try DeliveredFacts(
                unverified: bare.deliveries() + bare.history(asOf: instant)
                    + [bare.statuses(asOf: instant)]
            )
            return verified.facts == read.facts ? [] : ["life \(index)"]
        }
        #expect(differences.isEmpty, "\(Histories.summary(differences))")
    }
}

/// Payloads with their facts: each signature is checked once, for any number of orders.
struct DeliveredFacts {
    private let parts: [(delivery: Delivery, facts: [Fact])]

    private init(_ parts: [(Delivery, [Fact])]) {
        self.parts = parts
    }

    init(_ deliveries: [Delivery], _ verifier: AppStoreVerifier) throws {
        parts = try deliveries.map { delivery in
            do throws(Rejection) {
                let verified = try verifier.verify(
                    payload: delivery.payload,
                    source: "test",
                    receivedAt: delivery.signedAt,
                    voucher: .operator
                )
                return (delivery, verified.facts)
            } catch {
                // A poll before the first purchase: an answer without any statement.
                guard error.code == .nothingSigned, delivery.channel != .notification else {
                    throw error
                }
                return (delivery, [])
            }
        }
    }

    /// From unsigned payloads; see `UnverifiedReading`.
    init(unverified deliveries: [Delivery]) throws {
        parts = try deliveries.map { ($0, try UnverifiedReading($0).facts) }
    }

    /// All facts, in the order of the deliveries.
    var facts: [Fact] { parts.flatMap(\.facts) }

    static func + (left: DeliveredFacts, right: DeliveredFacts) -> DeliveredFacts {
        DeliveredFacts(left.parts + right.parts)
    }

    func only(_ channel: Delivery.Channel) -> DeliveredFacts {
        DeliveredFacts(parts.filter { $0.delivery.channel == channel })
    }

    /// A random third of them.
    func sample(using generator: inout TestSupport.SeededGenerator) -> DeliveredFacts {
        DeliveredFacts(parts.filter { _ in Int.random(in: 0..<3, using: &generator) == 0 })
    }

    /// Appends all in order; returns the facts that were news.
    @discardableResult
    func append(to ledger: inout MemoryLedger) -> [Fact] {
        parts.flatMap(\.facts).filter { ledger.append($0) }
    }

    /// The ledger after all of them, in a random order from a seed, a quarter of them twice.
    func ledger(of life: SubscriptionLife, seed: UInt64) -> MemoryLedger {
        ledger(seed: seed ^ UInt64(life.identity.index))
    }

    /// The same in a random order from only that seed.
    func ledger(seed: UInt64) -> MemoryLedger {
        var generator = TestSupport.SeededGenerator(seed: seed)
        let again = parts.filter { _ in Int.random(in: 0..<4, using: &generator) == 0 }
        var ledger = MemoryLedger()
        for part in (parts + again).shuffled(using: &generator) {
            let evidence = Int64(bitPattern: Digest.of(part.delivery.payload).bigEndianWords.0)
            for fact in part.facts { ledger.append(fact, evidence: evidence) }
        }
        return ledger
    }

    /// Appends all as `ledger(of:seed:)` does, and compares the periods.
    func difference(_ life: SubscriptionLife, by channel: String, seed: UInt64) -> String? {
        life.difference(
            ledger(of: life, seed: seed).periods(of: life.stream),
            by: "\(channel), order \(seed)"
        )
    }

    /// Appends all as `ledger(of:seed:)` does, and compares every table.
    func differences(
        _ life: SubscriptionLife,
        from source: DeliverySource,
        seed: UInt64
    ) -> [String] {
        let ledger = ledger(of: life, seed: seed)
        return [
            life.difference(
                ledger.periods(of: life.stream),
                by: "\(source), order \(seed)"
            )
        ].compactMap { $0 }
            + TableTruth.differences(life, from: source, ledger.timeline(of: life.stream))
    }
}
