import AppStoreSimulator
import Events
import Testing

/// The payloads of a life, read by the written rules, give the truth in its script.
@Suite struct TruthTests {
    private let seed: UInt64 = 4711
    private var simulator: AppStoreSimulator { AppStoreSimulator(seed: seed) }

    private func expectTruth(
        _ life: SubscriptionLife,
        from deliveries: [Delivery],
        _ channel: String
    ) throws {
        var oracle = SemanticsOracle(stream: life.originalTransactionId)
        for delivery in deliveries { try oracle.read(delivery) }
        #expect(
            oracle.periods() == life.periods,
            "\(channel) of life \(life.identity.index) of seed \(seed), \(life.kinds)"
        )
    }

    @Test func `notifications and polls of unannounced changes give the whole truth`() throws {
        for life in simulator.lives(250) {
            let told = life.notifications() + life.silentPolls()
            try expectTruth(life, from: told, "notifications")
        }
    }

    @Test func `polls after every change give the whole truth`() throws {
        for life in simulator.lives(40) { try expectTruth(life, from: life.polls(), "polls") }
    }

    @Test func `restores and repetitions in any order change nothing`() throws {
        for life in simulator.lives(60) {
            let deliveries = life.deliveries().disordered(seed: seed)
            try expectTruth(life, from: deliveries, "disordered deliveries")
        }
    }

    @Test func `the truth as of any notification is what was reported until then`() throws {
        for life in simulator.lives(50) {
            var oracle = SemanticsOracle(stream: life.originalTransactionId)
            var previous: Delivery?
            let told = (life.notifications() + life.silentPolls()).sorted {
                $0.signedAt < $1.signedAt
            }
            for delivery in told {
                try oracle.read(delivery)
                guard delivery.channel == .notification else { continue }
                if let previous {
                    #expect(previous.signedAt < delivery.signedAt)
                }
                previous = delivery
                let about = try ReadNotification(delivery).transaction.originalTransactionId
                guard about == life.originalTransactionId else { continue }
                #expect(
                    oracle.periods() == life.periods(asOf: delivery.signedAt),
                    "life \(life.identity.index) of seed \(seed) at \(delivery.signedAt)"
                )
            }
        }
    }
}
