import Events
import Projections
import TestSupport
import Testing

/// Laws of claims and customers, for any claims (promises 2 to 4 and 7).
@Suite struct ClaimLawTests {
    @Test(arguments: Acceptance.seeds(200))
    func `order, repetition and batches of arrival never change the owner`(seed: UInt64) {
        var random = RandomClaims(seed: seed)
        let facts = random.facts(Int.random(in: 1...16, using: &random.random))
        let ledger = MemoryLedger([facts])
        let expected = RandomClaims.answers(of: ledger)
        for _ in 0..<3 {
            let repeated = facts.filter { _ in Bool.random(using: &random.random) }
            let other = MemoryLedger([(facts + repeated).shuffled(using: &random.random)])
            let areSame = RandomClaims.answers(of: other) == expected
            #expect(areSame, "seed \(seed)")
        }
    }

    @Test(arguments: Acceptance.seeds(1000))
    func `a plain model of links predicts the owner at every time`(seed: UInt64) {
        var random = RandomClaims(seed: seed)
        let facts = random.facts(16)
        let ledger = MemoryLedger([facts])
        for stream in ledger.streams {
            let claims = StreamClaims(ledger.timeline(of: stream))
            let links = facts.filter { $0.kind == .link && $0.stream == stream }
            for day in 0...8 {
                let linked = RandomClaims.holder(links, at: RandomClaims.day(day))
                var found: String?
                if case .customer(let name)? = claims.owner(at: RandomClaims.day(day)) {
                    found = name
                }
                #expect(found == linked, "seed \(seed), day \(day)")
            }
            let edges = claims.owners
            #expect(edges.first?.from == nil && edges.last?.to == nil, "seed \(seed)")
            for (left, right) in zip(edges, edges.dropFirst()) {
                #expect(left.to == right.from && left.owner != right.owner, "seed \(seed)")
            }
        }
    }

    @Test(arguments: Acceptance.seeds(200))
    func `each subscription belongs to one party, and every id of the party finds the same party`(
        seed: UInt64
    ) {
        var random = RandomClaims(seed: seed)
        let ledger = MemoryLedger([random.facts(16)])
        for stream in ledger.streams {
            let asked = ledger.customer(stream.originalTransactionId, in: stream.environment)
            let members = asked.streams.map(\.stream)
            // An original id equal to a customer's name would be an exception; there is none here.
            #expect(members.contains(stream), "seed \(seed)")
            for member in members {
                let again = ledger.customer(
                    member.originalTransactionId,
                    in: member.environment
                )
                #expect(again.streams.map(\.stream) == members, "seed \(seed)")
            }
        }
    }

    @Test(arguments: Acceptance.seeds(200))
    func `a link takes nothing from a customer before it starts`(seed: UInt64) {
        var random = RandomClaims(seed: seed)
        let facts = random.facts(16)
        let all = MemoryLedger([facts])
        for day in 1...8 {
            let instant = RandomClaims.day(day - 1)
            let earlier = MemoryLedger([facts.filter { $0.kind != .link || $0.asOf <= instant }])
            for name in RandomClaims.customers {
                // A token that two customers share later belongs to neither of them.
                let had = earlier.customer(name).streams(ownedAt: instant)
                    .filter(\.tokens.isEmpty).map(\.stream)
                let has = all.customer(name).streams(ownedAt: instant).map(\.stream)
                #expect(Set(had).isSubset(of: has), "seed \(seed), day \(day), \(name)")
            }
        }
    }

    @Test(arguments: Acceptance.seeds(200))
    func `a subscription never belongs to two customers at once`(seed: UInt64) {
        var random = RandomClaims(seed: seed)
        let ledger = MemoryLedger([random.facts(16)])
        let customers = RandomClaims.customers.map { ledger.customer($0) }
        for day in 0...8 {
            let owned = customers.flatMap { customer in
                customer.streams(ownedAt: RandomClaims.day(day)).map(\.stream)
            }
            #expect(Set(owned).count == owned.count, "seed \(seed), day \(day)")
        }
    }
}

/// Generates claims over alphabets so small that every collision occurs.
struct RandomClaims {
    var random: SeededGenerator

    static let customers = ["anna", "ben", "caro"]
    static let uuid = "0b5e7c1a-3f6d-4e0b-9a51-7f3d2c1b0a99"

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    /// Day 0 is the epoch: a link with that time holds from the first purchase on.
    static func day(_ number: Int) -> Instant {
        guard number > 0 else { return .epoch }
        return Instant(milliseconds: 1_700_000_000_000 + Int64(number) * 86_400_000)
    }

    mutating func facts(_ count: Int) -> [Fact] {
        (0..<count).map { _ in fact() }
    }

    private mutating func fact() -> Fact {
        let isLink = Int.random(in: 0..<2, using: &random) == 0
        let isOfReceipt = !isLink && Int.random(in: 0..<3, using: &random) == 0
        var content = Content(
            format: isLink
                ? .customerLink : isOfReceipt ? .receiptTransaction : .signedTransaction
        )
        var (start, end): (Instant?, Instant?)
        if isLink {
            content[.customerId] = pick([nil] + RandomClaims.customers.map { .text($0) })
            content[.linkedBy] = pick([.text("x"), .text("y")])
        } else {
            content[.productId] = pick([.text("a"), .text("b")])
            content[.appAccountToken] = pick([
                nil, .text("t1"), .text("t2"), .text("t3"), .text(RandomClaims.uuid),
                .text(RandomClaims.uuid.uppercased()),
            ])
            content[.transactionId] = pick([.text("9"), .text("10"), .text("11"), nil])
            content[.webOrderLineItemId] = pick([nil, nil, nil, .text("w1"), .text("w2")])
            content[.previousOriginalTransactionId] = pick([nil, nil, nil, nil, .text("2000")])
            content[.appTransactionId] = pick([nil, nil, nil, .text("app1"), .text("app2")])
            let first = RandomClaims.day(pick([1, 3, 5]))
            start = first
            end = pick([Instant(milliseconds: first.milliseconds + 172_800_000), nil])
        }
        let id = pick(["1000", "1000", "2000", "3000"])
        let asOf = RandomClaims.day(Int.random(in: (isLink ? 0 : 1)...7, using: &random))
        return Fact(
            stream: StreamID(
                environment: pick([.production, .production, .production, .sandbox]),
                originalTransactionId: id
            ),
            bundleId: "",
            kind: isLink ? .link : .transaction,
            purchaseDate: start,
            expiresDate: end,
            // Apple creates a receipt at another instant than it signs a transaction.
            asOf: isOfReceipt ? Instant(milliseconds: asOf.milliseconds + 1000) : asOf,
            content: content
        )
    }

    /// Every possible question, about all streams and names.
    static func answers(of ledger: MemoryLedger) -> [[String]] {
        let names =
            customers + ["t1", "t2", "t3", uuid, "app1", "9", "1000", "2000", "3000"]
        // Folded once, because each name asks about the same subscriptions.
        let all = ledger.customerStreams
        var answers = all.map { describe($0.claims) }
        for name in names {
            for environment in [StoreEnvironment.production, .sandbox] {
                let customer = Customer(name, in: environment, among: all)
                answers.append(describe(customer))
                for number in 0...8 {
                    answers.append(
                        customer.streams(ownedAt: day(number)).map(\.stream.originalTransactionId)
                    )
                }
            }
        }
        return answers
    }

    /// The owner by links up to an instant: only the rule, applied to the facts themselves.
    static func holder(_ links: [Fact], at instant: Instant) -> String? {
        var holder: String?
        for number in 0...8 where day(number) <= instant {
            let stated = links.filter { $0.asOf == day(number) }.map {
                $0.content.text(.customerId)
            }
            if stated.contains(nil) { holder = nil }
            holder = holder ?? stated.compactMap { $0 }.max()
        }
        return holder
    }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: values.indices, using: &random)]
    }
}
