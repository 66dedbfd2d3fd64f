import Events
import TestSupport
import Testing

/// What is known about one subject, and which fact is news.
@Suite struct KnowledgeTests {
    @Test func `sorted assertions and sweeps agree with the plain model`() {
        for seed in UInt64(1)...1000 {
            var random = SeededGenerator(seed: seed)
            var (knowledge, assertions) = (Knowledge(), [Assertion]())
            for offset in Int64(1)...Int64.random(in: 1...12, using: &random) {
                let content = random.colliding()
                let asOf = Instant(milliseconds: .random(in: 1...4, using: &random))
                knowledge.learn(offset: offset, asOf: asOf, content: content)
                assertions.append(Assertion(offset: offset, asOf: asOf, content: content))
                guard Bool.random(using: &random) else { continue }
                let confirmation = Confirmation(
                    position: Position(lane: .only, offset: offset),
                    asOf: Instant(milliseconds: .random(in: 1...4, using: &random)),
                    fields: FieldSet(rawValue: random.next()).intersection(content.asserted),
                    transactionId: "",
                    evidence: 1
                )
                knowledge.learn(confirmation)
                assertions.append(Assertion(confirmation, content: content))
            }
            let known = Assertions(assertions.shuffled(using: &random))
            let isSame = Field.allCases.allSatisfy { field in
                known.state(of: field) == knowledge.state(of: field)
                    && known.decision(on: field)?.offset == knowledge.decider(of: field)
            }
            #expect(isSame, "seed \(seed)")
            #expect(sweepAgrees(Sweep(known), knowledge), "seed \(seed)")
            let asked = FieldSet(rawValue: random.next())
            let decisions = Decisions(known, of: asked)
            let agrees = Field.allCases.allSatisfy { field in
                let expected = asked.contains(field) ? known.decision(on: field) : nil
                let found = decisions.decision(on: field)
                return found?.state == expected?.state && found?.offset == expected?.offset
            }
            #expect(agrees, "seed \(seed)")
        }
    }

    private func sweepAgrees(_ start: Sweep, _ knowledge: Knowledge) -> Bool {
        var sweep = start
        while sweep.advance() {
            guard let asOf = sweep.asOf else { return false }
            for field in Field.allCases {
                guard sweep.state(of: field) == knowledge.state(of: field, upTo: asOf),
                    sweep.decider(of: field) == knowledge.decider(of: field, upTo: asOf)
                else { return false }
            }
        }
        return true
    }

    @Test func `a repetition after a late contrary statement is not forgotten`() {
        var knowledge = Knowledge()
        knowledge.learn(offset: 1, asOf: at(1), content: price(1))
        // A again at 3: known, and to be stored as a repetition.
        let judgement = knowledge.judge(fact(asOf: 3, price(1)))
        guard case .known(1, let repetitions) = judgement, let repetition = repetitions.first else {
            Issue.record("\(judgement)")
            return
        }
        knowledge.learn(
            Confirmation(
                position: Position(lane: .only, offset: 1),
                asOf: at(3),
                fields: repetition.fields,
                transactionId: "",
                evidence: 1
            )
        )
        #expect(knowledge.judge(fact(asOf: 2, price(2))) == .new)
        knowledge.learn(offset: 2, asOf: at(2), content: price(2))
        #expect(knowledge.state(of: .price) == .value(.integer(1)))
        #expect(knowledge.state(of: .price, upTo: at(2)) == .value(.integer(2)))
    }

    @Test func `a late fact is judged by what was known as of its own time`() {
        var knowledge = Knowledge()
        knowledge.learn(offset: 1, asOf: at(1), content: price(1))
        knowledge.learn(offset: 2, asOf: at(3), content: price(2))
        #expect(knowledge.judge(fact(asOf: 2, price(2))) == .new)
        guard case .known(1, _) = knowledge.judge(fact(asOf: 2, price(1))) else {
            Issue.record("what held at 2 is news, because another value holds at 3")
            return
        }
    }

    @Test func `refunded, reversed and refunded again are three facts`() {
        var knowledge = Knowledge()
        for (offset, date) in [(1, Int64(5)), (2, nil), (3, 5)] as [(Int64, Int64?)] {
            var content = price(1)
            content[.revocationDate] = date.map { .instant(at($0)) }
            #expect(knowledge.judge(fact(asOf: offset, content)) == .new)
            knowledge.learn(offset: offset, asOf: at(offset), content: content)
        }
    }

    @Test func `a missing field is a denial only if the format can carry it`() {
        var knowledge = Knowledge()
        knowledge.learn(offset: 1, asOf: at(1), content: price(1))
        #expect(knowledge.state(of: .revocationDate) == .none)
        #expect(knowledge.state(of: .offerDiscountType) == .unknown)
    }

    @Test func `the same fact under another transaction id is one alias, recorded once`() {
        var knowledge = Knowledge()
        knowledge.learn(offset: 1, asOf: at(1), content: price(1, id: "T1"))
        let restored = fact(asOf: 1, price(1, id: "T2"))
        guard case .known(1, let repetitions) = knowledge.judge(restored) else {
            Issue.record("a restore was judged as news")
            return
        }
        #expect(repetitions.map(\.transactionId) == ["T2"])
        #expect(repetitions.map(\.fields) == [[]])
        knowledge.learn(
            Confirmation(
                position: Position(lane: .only, offset: 1),
                asOf: at(1),
                fields: [],
                transactionId: "T2",
                evidence: 1
            )
        )
        #expect(knowledge.judge(restored) == .known(offset: 1, repetitions: []))
    }

    @Test func `an empty transaction id is not an alias`() {
        var knowledge = Knowledge()
        knowledge.learn(offset: 1, asOf: at(1), content: price(1, id: "T1"))
        let judgement = knowledge.judge(fact(asOf: 1, price(1, id: "")))
        #expect(judgement == .known(offset: 1, repetitions: []))
    }

    @Test
    func `two payments for seats of one second are news once, however often stated`() {
        var knowledge = Knowledge()
        let payments = [seats(8, "T1", item: "11"), seats(4, "T2", item: "12")]
        for (offset, content) in zip([Int64(1), 2], payments) {
            #expect(knowledge.judge(fact(asOf: 1, content)) == .new)
            knowledge.learn(offset: offset, asOf: at(1), content: content)
        }
        for asOf in Int64(2)...4 {
            for (offset, content) in zip([Int64(1), 2], payments) {
                guard
                    case .known(offset, let repetitions) = knowledge.judge(
                        fact(asOf: asOf, content)
                    ),
                    let repetition = repetitions.first
                else {
                    Issue.record("payment \(offset) is news as of \(asOf)")
                    return
                }
                #expect(repetitions.count == 1)
                knowledge.learn(
                    Confirmation(
                        position: Position(lane: .only, offset: offset),
                        asOf: at(asOf),
                        fields: repetition.fields,
                        transactionId: repetition.transactionId,
                        evidence: 1
                    )
                )
            }
        }
        // What changes one of them is still news, and so is its way back.
        var refunded = payments[1]
        refunded[.revocationDate] = .instant(at(5))
        #expect(knowledge.judge(fact(asOf: 5, refunded)) == .new)
        knowledge.learn(offset: 3, asOf: at(5), content: refunded)
        #expect(knowledge.judge(fact(asOf: 6, payments[1])) == .new)
        #expect(knowledge.judge(fact(asOf: 6, payments[0])) != .new)
    }

    private func seats(_ quantity: Int64, _ id: String, item: String) -> Content {
        var content = price(1, id: id)
        content[.quantity] = .integer(quantity)
        content[.webOrderLineItemId] = .text(item)
        content[.extra] = .text(#"{"additionalTransactionReason":"SEAT_ADDITION"}"#)
        return content
    }

    private func at(_ milliseconds: Int64) -> Instant {
        Instant(milliseconds: milliseconds)
    }

    private func price(_ price: Int64, id: String? = nil) -> Content {
        var content = Content(format: .signedTransaction)
        content[.productId] = .text("p")
        content[.price] = .integer(price)
        content[.transactionId] = id.map { .text($0) }
        return content
    }

    private func fact(asOf: Int64, _ content: Content) -> Fact {
        Fact(
            stream: StreamID(environment: .production, originalTransactionId: "1"),
            bundleId: "app",
            kind: .transaction,
            purchaseDate: at(0),
            expiresDate: at(1000),
            asOf: at(asOf),
            content: content
        )
    }
}

extension SeededGenerator {
    /// A content with few fields and values, so that assertions collide.
    fileprivate mutating func colliding() -> Content {
        var content = Content(format: .signedTransaction)
        if Bool.random(using: &self) {
            content[.price] = .integer(.random(in: 1...2, using: &self))
        }
        if Bool.random(using: &self) { content[.isUpgraded] = .boolean(.random(using: &self)) }
        if Bool.random(using: &self) {
            content[.productId] = .text(Bool.random(using: &self) ? "\u{E9}" : "e\u{301}")
        }
        return content
    }
}
