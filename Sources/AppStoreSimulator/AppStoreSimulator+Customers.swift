internal import Events

/// Customers with several subscriptions, each made from a seed.
extension AppStoreSimulator {
    /// The customer with that number, from 0, below 10^7; independent of all others, and shares no
    /// id with a life below 5 · 10^8.
    ///
    /// The situations take turns. Whatever the situation leaves open is drawn.
    package func customer(_ index: Int) -> SimulatedCustomer {
        precondition((0..<10_000_000).contains(index), "a customer is numbered below 10^7")
        let situations = SimulatedCustomer.Situation.allCases
        var draft = CustomerDraft(simulator: self, index: index)
        return draft.customer(situations[index % situations.count])
    }

    /// The first customers, created one at a time on demand.
    package func customers(_ count: Int) -> some Sequence<SimulatedCustomer> {
        (0..<count).lazy.map { customer($0) }
    }
}

/// Creates the subscriptions of one customer.
private struct CustomerDraft {
    let simulator: AppStoreSimulator
    let index: Int
    let token: String
    let otherToken: String
    var generator: SeededGenerator

    // Lives are numbered from 0; those of customers start here, a few for each.
    private static let firstLife: Int64 = 500_000_000
    private static let livesPerCustomer: Int64 = 4
    private static let branch: UInt64 = 0x4355_5354_4f4d_4552

    init(simulator: AppStoreSimulator, index: Int) {
        self.simulator = simulator
        self.index = index
        generator = SeededGenerator(seed: simulator.seed ^ Self.branch, branch: UInt64(index))
        token = generator.uuid()
        otherToken = generator.uuid()
    }

    mutating func customer(_ situation: SimulatedCustomer.Situation) -> SimulatedCustomer {
        var claims: [SimulatedCustomer.Claim] = []
        let lives: [SubscriptionLife]
        switch situation {
        case .twoGroups:
            lives = [drawn(0, SimulatedCatalog.lumen), drawn(1, SimulatedCatalog.atlas)]
        case .familyMember:
            lives = [
                drawn(0, SimulatedCatalog.atlas),
                drawn(1, SimulatedCatalog.lumen, ownership: .familyShared),
            ]
        case .secondStream: lives = secondStream()
        case .changedToken: lives = [changedToken()]
        case .claimedTwice:
            let (life, restoredAt) = claimedTwice()
            lives = [life]
            claims.append(
                SimulatedCustomer.Claim(
                    appAccountToken: otherToken,
                    originalTransactionId: life.originalTransactionId,
                    claimedAt: restoredAt
                )
            )
        }

        return SimulatedCustomer(
            situation: situation,
            appAccountToken: token,
            lives: lives,
            claims: claims
        )
    }

    private mutating func drawn(
        _ number: Int64,
        _ products: [SimulatedProduct],
        ownership: LifeIdentity.Ownership = .purchased
    ) -> SubscriptionLife {
        let identity = identity(number, ownership: ownership)
        let seed = generator.next()
        let story = RandomStory(
            identity: identity,
            generator: SeededGenerator(seed: seed),
            products: products
        )
        return simulator.life(identity, story.script)
    }

    // Another plan, bought while the old one is in billing retry, which ends on day 60 (Apple's
    // data: trap 3).
    private mutating func secondStream() -> [SubscriptionLife] {
        let (monthly, pro) = (SimulatedCatalog.lumen[2], SimulatedCatalog.lumen[0])
        let start = start()
        let end = SimulatedCalendar.end(of: .months(1), from: start)
        let late = generator.integer(in: 3600...864_000) * SimulatedCalendar.second
        let bought = end.advanced(by: late)
        return [
            simulator.life(
                identity(0),
                [
                    .subscribe(monthly, offer: nil, at: start),
                    .failToRenew(graceUntil: nil, at: end.advanced(by: SimulatedCalendar.minute)),
                    .giveUp(at: end.advanced(by: LifeMachine.retryDuration)),
                ]
            ),
            simulator.life(
                identity(1),
                [
                    .subscribe(pro, offer: nil, at: bought),
                    .renew(at: SimulatedCalendar.end(of: .months(1), from: bought)),
                ]
            ),
        ]
    }

    private mutating func changedToken() -> SubscriptionLife {
        let start = start()
        let end = SimulatedCalendar.end(of: .months(1), from: start)
        return simulator.life(
            identity(0),
            [
                .subscribe(SimulatedCatalog.lumen[2], offer: nil, at: start),
                .setAppAccountToken(otherToken, at: start.advanced(days: 10)),
                .renew(at: end.advanced(by: -SimulatedCalendar.hour)),
            ]
        )
    }

    private mutating func claimedTwice() -> (SubscriptionLife, restoredAt: Instant) {
        let start = start()
        let end = SimulatedCalendar.end(of: .months(1), from: start)
        let restoredAt = start.advanced(days: 5)
        let life = simulator.life(
            identity(0),
            [
                .subscribe(SimulatedCatalog.lumen[2], offer: nil, at: start),
                .restore(at: restoredAt), .renew(at: end),
            ]
        )
        return (life, restoredAt)
    }

    // The 15th of a month from January 2024 on.
    private mutating func start() -> Instant {
        SimulatedCalendar.end(
            of: .months(generator.integer(in: 0...23)),
            from: Instant(milliseconds: 1_705_276_800_000)
        )
    }

    private func identity(
        _ number: Int64,
        ownership: LifeIdentity.Ownership = .purchased
    ) -> LifeIdentity {
        LifeIdentity(
            seed: simulator.seed,
            index: Self.firstLife + Int64(index) * Self.livesPerCustomer + number,
            ownership: ownership,
            appAccountToken: token
        )
    }

}
