import AppStoreSimulator
import Events
import Projections
import TestSupport
import Testing

/// A simulated customer's other purchases: one-time purchases and win-back offers.
@Suite struct SimulatedPurchaseTests {
    private static let seed: UInt64 = 20_261_203

    @Test func `one-time purchases of 600 lives match the truth, by every channel`()
        async throws
    {
        let simulator = AppStoreSimulator(seed: Self.seed, flaws: .unsigned)
        let differences = try await Histories.each(0..<600) { index in
            let life = simulator.life(index)
            let unasked = try DeliveredFacts(unverified: life.deliveries())
            let polls = try DeliveredFacts(unverified: life.polls())
            return [("unasked", unasked), ("polls", polls), ("everything", unasked + polls)]
                .compactMap { channel, delivered in
                    let ledger = delivered.ledger(of: life, seed: UInt64(index))
                    let found = life.oneTimePurchases.flatMap { purchase in
                        OneTimePurchase.all(of: ledger.timeline(of: life.stream(of: purchase)))
                    }.map(SimulatedOneTimePurchase.init)
                    guard found != life.oneTimePurchases else { return nil }
                    return "life \(index) by \(channel): \(life.oneTimePurchases) and \(found)"
                }
        }
        #expect(differences.isEmpty, "seed \(Self.seed): \(Histories.summary(differences))")
    }

    @Test func `ownership ends with a refund, and nothing else is owned`() async throws {
        let simulator = AppStoreSimulator(seed: Self.seed &+ 1, flaws: .unsigned)
        let differences = try await Histories.each(0..<300) { index in
            let life = simulator.life(index)
            let ledger = try DeliveredFacts(unverified: life.deliveries()).ledger(of: life, seed: 1)
            return life.oneTimePurchases.compactMap { purchase in
                let timeline = ledger.timeline(of: life.stream(of: purchase))
                let owned = OneTimePurchase.all(of: timeline).flatMap(\.owned)
                let refunds = Refunds(timeline).rows.compactMap(\.revoked)
                let isRight =
                    owned == [purchase.owned].compactMap { $0 }
                    && refunds == [purchase.revocationDate].compactMap { $0 }
                    && ActivePeriods(timeline).rows.isEmpty
                return isRight ? nil : "life \(index): \(purchase), owned \(owned), \(refunds)"
            }
        }
        #expect(differences.isEmpty, "seed \(Self.seed &+ 1): \(Histories.summary(differences))")
    }

    @Test func `the win-back offers of 600 customers are those that Apple lists last`()
        async throws
    {
        let simulator = AppStoreSimulator(seed: Self.seed &+ 2, flaws: .unsigned)
        let differences = try await Histories.each(0..<600) { index in
            let life = simulator.life(index)
            guard let group = life.group, let horizon = life.horizon else { return [] }
            let ledger = try DeliveredFacts(unverified: life.deliveries() + life.polls())
                .ledger(of: life, seed: UInt64(index))
            let standing = OfferEligibility([ledger.timeline(of: life.stream)]).eligibility(
                in: .identified(group),
                at: horizon
            ).winBack
            var found: [String]?
            if case .listedByApple(let list) = standing { found = list.eligibleWinBackOfferIds }
            guard found != life.winBackOfferIds else { return [] }
            return ["life \(index): \(life.winBackOfferIds as Any), found \(standing)"]
        }
        #expect(differences.isEmpty, "seed \(Self.seed &+ 2): \(Histories.summary(differences))")
    }
}

extension SubscriptionLife {
    /// The stream of a one-time purchase of the customer.
    fileprivate func stream(of purchase: SimulatedOneTimePurchase) -> StreamID {
        StreamID(
            environment: store.environment,
            originalTransactionId: purchase.originalTransactionId
        )
    }
}

extension SimulatedOneTimePurchase {
    /// A ledger's purchase in the simulator's terms.
    fileprivate init(_ purchase: OneTimePurchase) {
        let kind: Kind =
            switch purchase.kind {
            case .consumable: .consumable
            case .nonConsumable: .nonConsumable
            case .nonRenewing: .nonRenewing
            case .unknown: preconditionFailure("Apple signs the type of \(purchase)")
            }
        self.init(
            originalTransactionId: purchase.stream.originalTransactionId,
            productId: purchase.productId,
            kind: kind,
            purchaseDate: purchase.purchaseDate,
            revocationDate: purchase.revocationDate
        )
    }
}
