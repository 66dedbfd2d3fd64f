import AppStoreSimulator
import Events
import Projections
import TestSupport
import Testing

/// App receipts that prove several subscriptions: those of one Apple Account in one app.
@Suite struct SharedReceiptTests {
    private static let seed: UInt64 = 20_261_203

    /// Receipts have no token, so that only the receipts themselves join the subscriptions.
    @Test func `a receipt with several originals makes one customer in any order`()
        async throws
    {
        let simulator = AppStoreSimulator(seed: Self.seed)
        let verifier = try simulator.verifier()
        let differences = try await Histories.each(0..<100) { number in
            let customer = simulator.customer(number)
            guard customer.lives.count > 1 else { return [] }
            let receipts = customer.appReceipts()
            let joint = try DeliveredFacts(receipts, verifier)
            let alone = try customer.lives.map { life in
                let own = receipts.map {
                    Delivery(
                        channel: .appReceipt,
                        payload: life.appReceipt(asOf: $0.signedAt, form: .restoredIds),
                        signedAt: $0.signedAt
                    )
                }
                return (life, try DeliveredFacts(own, verifier).ledger(seed: 1))
            }
            return (0..<2).flatMap { order -> [String] in
                let ledger = joint.ledger(seed: UInt64(number * 2 + order))
                let streams = ledger.customerStreams
                return alone.compactMap { life, own in
                    let found = Customer(
                        life.originalTransactionId,
                        in: simulator.store.environment,
                        among: streams
                    )
                    let isWhole = found.streams.map(\.stream) == streams.map(\.stream)
                    let periods = ledger.periods(of: life.stream)
                    let isSame = periods.active == own.periods(of: life.stream).active
                    let name = "customer \(number), order \(order), \(life.stream)"
                    return isWhole && isSame ? nil : name
                }
            }
        }
        #expect(differences.isEmpty, "seed \(Self.seed): \(Histories.summary(differences))")
    }
}
