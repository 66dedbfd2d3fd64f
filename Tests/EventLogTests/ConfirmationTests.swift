import EventLog
import Events
import TestSupport
import Testing

/// Repetitions: not events, but never forgotten.
@Suite(.enabled { await TestServer.isAvailable })
struct ConfirmationTests {
    @Test(arguments: Variant.all)
    func `a later repetition is a duplicate and is stored as a confirmation`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            let fact = TestFacts.transaction(asOf: 1)
            let position = try #require(try await log.append(verified(fact)).first?.position)
            let again = TestFacts.transaction(asOf: 3)
            #expect(
                try await log.append(verified(again))
                    == [.duplicate(position, isConfirmation: true)]
            )
            #expect(try await log.append(verified(again)) == [.duplicate(position)])
            let history = try await log.history(of: fact.stream)
            #expect(history.events.map(\.fact) == [fact])
            #expect(
                history.confirmations == [
                    Confirmation(
                        position: position,
                        asOf: again.asOf,
                        fields: fact.content.asserted,
                        transactionId: "",
                        evidence: 2
                    )
                ]
            )
            try await expectSound(log, settings)
        }
    }

    @Test(arguments: Variant.extremes)
    func `polling two payments for seats of one second again appends nothing`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            let polls = (Int64(1)...4).map { day in
                [(8, "T1", "11"), (4, "T2", "12")].map { quantity, id, item in
                    TestFacts.seats(quantity, id, item: item, asOf: day)
                }
            }
            for poll in polls { _ = try await log.append(verified(poll)) }
            // The response of an earlier poll comes late.
            _ = try await log.append(verified(polls[1], payload: [1]))
            let history = try await log.history(of: polls[0][0].stream)
            #expect(history.events.map(\.fact) == polls[0])
            try await expectSound(log, settings)
        }
    }

    @Test(arguments: Variant.extremes)
    func `a fold gets the first and last of many repetitions, a question gets all of them`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, _ in
            _ = try await log.append(verified(TestFacts.transaction(asOf: 1)))
            let lane = variant.lanes.lane(of: "1000")
            var heads: [EventLog.Head] = []
            for hour in Int64(2)...40 {
                _ = try await log.append(verified(TestFacts.transaction(asOf: hour)))
                heads.append(try #require(try await log.heads()[lane]))
            }
            let (middle, end) = (heads[19], heads[38])
            let folded = try await log.foldStreams(lane: lane, upTo: end, into: 0) {
                $0 += $1.confirmations.count
            }
            #expect(folded == 2)
            let asked = try await log.foldRecordedStreams(lane: lane, upTo: end, into: 0) {
                $0 += $1.repetitions.count
            }
            #expect(asked == 39)
            let followed = try await log.foldTouchedStreams(
                lane: lane,
                after: middle,
                upTo: end,
                into: []
            ) { $0 += [$1.before.confirmations.count, $1.after.confirmations.count] }
            #expect(followed == [2, 4])
        }
    }

    @Test(arguments: Variant.all)
    func `A at 1, A at 3 and B at 2 give the same knowledge in every order of arrival`(
        variant: Variant
    ) async throws {
        let first = TestFacts.transaction("1000", price: 100, asOf: 1)
        let repeated = TestFacts.transaction("1000", price: 100, asOf: 3)
        let contrary = TestFacts.transaction("1000", price: 200, asOf: 2)
        let orders = [
            [first, repeated, contrary], [first, contrary, repeated], [repeated, first, contrary],
            [repeated, contrary, first], [contrary, first, repeated], [contrary, repeated, first],
        ]
        try await variant.withLog { log, settings in
            for (number, order) in orders.enumerated() {
                // A separate stream for each order; one payload for each fact, then one payload for
                // all.
                for isBatch in [false, true] {
                    let stream = StreamID(
                        environment: .production,
                        originalTransactionId: "\(number)-\(isBatch)"
                    )
                    let facts = order.map { $0.moved(to: stream) }
                    if isBatch {
                        _ = try await log.append(verified(facts))
                    } else {
                        for fact in facts { _ = try await log.append(verified(fact)) }
                    }
                    let known = Knowledge(try await log.history(of: stream))
                    let prices = [1, 2, 3].map { known.price(asOf: $0) }
                    #expect(prices == [100, 200, 100], "order \(number), batch \(isBatch)")
                }
            }
            try await expectSound(log, settings)
        }
    }

    @Test(arguments: Variant.all)
    func `a restored purchase under another transaction id is an alias, not an event`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            let fact = TestFacts.transaction(asOf: 1, transactionId: "T1")
            _ = try await log.append(verified(fact))
            for asOf in [Int64(1), 2] {
                for _ in 1...2 {
                    let restored = TestFacts.transaction(asOf: asOf, transactionId: "T2")
                    let outcomes = try await log.append(verified(restored))
                    #expect(outcomes.map(\.position.offset) == [1])
                }
            }
            let history = try await log.history(of: fact.stream)
            #expect(history.events.count == 1)
            let aliases = history.confirmations.filter { !$0.transactionId.isEmpty }
            #expect(aliases.map(\.transactionId) == ["T2"])
            // The alias was recorded once; the later as-of is a repetition without it.
            #expect(history.confirmations.map(\.asOf) == [fact.asOf, TestFacts.instant(day: 2)])
            try await expectSound(log, settings)
        }
    }

    @Test(arguments: Variant.all)
    func `refunded, reversed and refunded again are three events`(variant: Variant) async throws {
        try await variant.withLog { log, settings in
            for (asOf, revoked) in [(1, Int64(5)), (2, nil), (3, 5)] as [(Int64, Int64?)] {
                let fact = TestFacts.transaction(asOf: asOf, revoked: revoked)
                let outcomes = try await log.append(verified(fact))
                #expect(outcomes.map(\.position.offset) == [asOf])
            }
            try await expectSound(log, settings)
        }
    }

    @Test(arguments: Variant.all)
    func `extended and taken back again are three events, however they arrive`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            func stated(_ id: String, until day: Int64, asOf: Int64) -> Fact {
                TestFacts.transaction(id, asOf: asOf).ending(on: day)
            }
            for (id, isBatch) in [("1", false), ("2", true)] {
                let facts = [
                    stated(id, until: 30, asOf: 1), stated(id, until: 44, asOf: 2),
                    stated(id, until: 30, asOf: 3), stated(id, until: 30, asOf: 4),
                    stated(id, until: 44, asOf: 5),
                ]
                var outcomes: [AppendOutcome] = []
                if isBatch {
                    outcomes = try await log.append(facts.map { verified($0) }).flatMap { $0 }
                } else {
                    for fact in facts { outcomes += try await log.append(verified(fact)) }
                }
                #expect(outcomes.map(\.isNew) == [true, true, true, false, true], "\(id)")
                #expect(outcomes[3].isConfirmation)
                // Everything again adds nothing, by the same payloads and by one new one.
                for fact in facts {
                    #expect(try await log.append(verified(fact)).allSatisfy { !$0.isNew })
                }
                #expect(try await log.append(verified(facts)).allSatisfy { !$0.isNew })
                let history = try await log.history(of: facts[0].stream)
                #expect(history.events.count == 4)
                // What arrives late is compared with what was stated before it.
                let late = verified(
                    [stated(id, until: 44, asOf: 3)],
                    payload: Array("late \(id)".utf8)
                )
                let outcome = try await log.append(late)
                #expect(outcome.map(\.isNew) == [true], "as of one instant, the later end counts")
            }
            try await expectSound(log, settings)
        }
    }

    @Test(arguments: Variant.all)
    func `a payload that states two ends at once adds nothing when it is repeated`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            let old = TestFacts.transaction(asOf: 1)
            for day in [Int64(1), 2, 3] {
                let facts = [old.ending(on: 44).stated(on: day), old.stated(on: day)]
                let outcomes = try await log.append(verified(facts))
                #expect(outcomes.allSatisfy { $0.isNew == (day == 1) }, "day \(day)")
            }
            try await expectSound(log, settings)
        }
    }

    @Test(arguments: Variant.all)
    func `equal ids of two environments are two streams`(variant: Variant) async throws {
        // Apple's data: trap 41, scenario 18
        try await variant.withLog { log, settings in
            for environment in [StoreEnvironment.production, .sandbox, .unrecognised("Lunar")] {
                let fact = TestFacts.transaction(environment: environment)
                _ = try await log.append(verified(fact))
                #expect(try await log.history(of: fact.stream).events.map(\.fact) == [fact])
            }
            try await expectSound(log, settings)
        }
    }
}

extension Fact {
    /// The same statement about another subscription.
    func moved(to stream: StreamID) -> Fact {
        Fact(
            stream: stream,
            bundleId: bundleId,
            kind: kind,
            purchaseDate: purchaseDate,
            expiresDate: expiresDate,
            asOf: asOf,
            content: content
        )
    }
}

extension Knowledge {
    /// The knowledge that a subject's history gives.
    init(_ history: StreamHistory) {
        self.init()
        for event in history.events {
            learn(
                offset: event.position.offset,
                asOf: event.fact.asOf,
                content: event.fact.content
            )
        }
        for confirmation in history.confirmations { learn(confirmation) }
    }

    fileprivate func price(asOf day: Int64) -> Int64? {
        guard
            case .value(.integer(let price)) = state(
                of: .price,
                upTo: TestFacts.instant(day: day)
            )
        else { return nil }
        return price
    }
}
