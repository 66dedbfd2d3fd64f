import AppStoreSimulator
import Events
import Testing

/// Customers with several subscriptions, and what arrives when.
@Suite struct CustomerTests {
    private let seed: UInt64 = 31
    private var simulator: AppStoreSimulator { AppStoreSimulator(seed: seed) }

    private func customer(
        _ situation: SimulatedCustomer.Situation
    ) throws -> SimulatedCustomer {
        let number = try #require(SimulatedCustomer.Situation.allCases.firstIndex(of: situation))
        let customer = simulator.customer(number)
        #expect(customer.situation == situation)
        return customer
    }

    @Test func `two groups run in parallel and share only the token`() throws {
        let customer = try customer(.twoGroups)
        #expect(customer.groups.count == 2 && customer.lives.count == 2)
        for (group, life) in zip(customer.groups, customer.lives) {
            #expect(life.group == group)
            #expect(customer.active(inGroup: group) == life.active)
        }
        #expect(Set(customer.lives.map(\.originalTransactionId)).count == 2)
        let tokens = Set(customer.lives.map(\.identity.appAccountToken))
        #expect(tokens == [customer.appAccountToken])
    }

    @Test func `the end of the first stream leaves the second one running`() throws {
        let customer = try customer(.secondStream)
        let (first, second) = try (
            #require(customer.lives.first), #require(customer.lives.last)
        )
        let group = try #require(customer.groups.first)
        #expect(customer.groups.count == 1)
        #expect(first.originalTransactionId != second.originalTransactionId)
        // EXPIRED of the first comes while the second one runs (Apple's data: scenario 15).
        let expired = try #require(first.events.last)
        #expect(expired.status == 2)
        let bought = try #require(second.active.first)
        #expect(first.active.last.map { $0.to < bought.from } == true)
        #expect(bought.from < expired.signedAt)
        #expect(customer.hasAccess(toGroup: group, at: bought.from))
        #expect(customer.active(inGroup: group).count == 2)
        #expect(
            customer.active(inGroup: group, asOf: bought.from).last
                == second.periods(
                    asOf: bought.from
                ).last.map { AccessInterval(from: $0.validFrom, to: $0.validTo) }
        )
    }

    @Test func `a family member has a separate stream`() throws {
        let customer = try customer(.familyMember)
        #expect(customer.lives.map(\.identity.isFamilyShared) == [false, true])
    }

    @Test func `a token set later is in every payload signed after it`() throws {
        let customer = try customer(.changedToken)
        let life = try #require(customer.lives.first)
        let told = try life.notifications().map { try ReadNotification($0).transaction }
        #expect(told.first?.appAccountToken == customer.appAccountToken)
        let changed = try #require(told.last?.appAccountToken)
        #expect(changed != customer.appAccountToken)
        let poll = try #require(life.silentPolls().first)
        let page = try decode(HistoryJSON.self, json: poll.payload)
        let polled = try decode(
            TransactionJSON.self,
            jws: #require(page.signedTransactions.first)
        )
        #expect(polled.appAccountToken == changed)
    }

    @Test func `a restore on another account claims the same purchase`() throws {
        let customer = try customer(.claimedTwice)
        let (life, claim) = try (#require(customer.lives.first), #require(customer.claims.first))
        #expect(claim.originalTransactionId == life.originalTransactionId)
        #expect(claim.appAccountToken != customer.appAccountToken)
        #expect(life.kinds.contains(.restored))
    }

    @Test func `access of 100 customers is the union of their streams`() {
        for (number, customer) in simulator.customers(100).enumerated() {
            for group in customer.groups {
                let lives = customer.lives.filter { $0.group == group }
                let ends = lives.flatMap { $0.active.flatMap { [$0.from, $0.to] } }
                for instant in ends {
                    #expect(
                        customer.hasAccess(toGroup: group, at: instant)
                            == lives.contains { life in
                                life.active.contains { $0.from <= instant && instant < $0.to }
                            },
                        "customer \(number) of seed \(seed) at \(instant)"
                    )
                }
            }
        }
    }

    @Test func `ids of customers and lives are distinct`() {
        var seen: Set<String> = []
        for customer in simulator.customers(50) {
            for life in customer.lives { #expect(seen.insert(life.originalTransactionId).inserted) }
        }
        for life in simulator.lives(50) {
            #expect(seen.insert(life.originalTransactionId).inserted)
        }
    }
}
