import Events
import Postgres
import TestSupport
import Testing

@testable import EventLog

/// What an append reads before it decides: enough to be exact, and no more as repetitions
/// accumulate.
@Suite(.enabled { await TestServer.isAvailable })
struct LookUpTests {
    @Test func `keys with canonically equivalent texts are different keys`() {
        let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
        #expect(StreamKey.customer(composed) != .customer(decomposed))
        #expect(StreamKey.customer(composed) == .customer(composed))
        #expect(StreamKey.customer(composed) != .transactionId(composed))
        // Answers are remembered by key.
        #expect(Set([composed, decomposed].map(StreamKey.appAccountToken)).count == 2)
    }

    /// The test makes every repetition undecodable, so a look-up that reads one fails.
    @Test(arguments: Variant.extremes)
    func `facts that arrive in order are judged without reading any repetition`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            let periods = (0..<12).map { Int64($0) * 30 }
            for poll in Int64(1)...5 {
                let facts = periods.map { TestFacts.transaction(purchased: $0, asOf: 400 + poll) }
                _ = try await log.append(verified(facts))
            }
            try await settings.meddle("UPDATE ledger.confirmation SET repetitions = '\\xff'")
            let poll = periods.map { TestFacts.transaction(purchased: $0, asOf: 500) }
            let outcomes = try await log.append(verified(poll))
            #expect(outcomes.filter(\.isConfirmation).count == periods.count)
            let refund = TestFacts.transaction(purchased: 30, asOf: 501, revoked: 40)
            #expect(try await log.append(verified(refund)).map(\.isNew) == [true])
            // An event older than a repetition is marked; from then on, repetitions are read.
            let late = TestFacts.transaction(price: 1, purchased: 60, asOf: 402)
            #expect(try await log.append(verified(late)).map(\.isNew) == [true])
            let error = await #expect(throws: EventLogError.self) {
                try await log.append(
                    verified(TestFacts.transaction(price: 1, purchased: 60, asOf: 510))
                )
            }
            #expect(error?.code == .malformedLog)
        }
    }

    /// They share one key of a period, but only the requested one may be read.
    @Test(arguments: Variant.extremes)
    func `a notification about no transaction is looked up alone`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            for number in 0..<20 {
                let fact = TestFacts.notification("", uuid: "\(number)", asOf: Int64(number))
                _ = try await log.append(verified(fact))
            }
            try await settings.meddle(
                "UPDATE ledger.event SET content = '' WHERE lane_offset <> 7"
            )
            let seventh = TestFacts.notification("", uuid: "6", asOf: 6)
            #expect(try await log.append(verified([seventh], payload: [1])).map(\.isNew) == [false])
            let other = TestFacts.notification("", uuid: "x", asOf: 99)
            #expect(try await log.append(verified(other)).map(\.isNew) == [true])
        }
    }

    /// 60 polls of 104 periods: a poll without news is one row, and a repetition takes a few bytes.
    @Test(arguments: Variant.extremes)
    func `a repetition from a poll takes less than twenty bytes`(variant: Variant) async throws {
        try await variant.withLog { log, settings in
            let (polls, periods) = (Int64(60), Int64(104))
            for poll in 0..<polls {
                let facts = (0..<periods).map {
                    TestFacts.transaction(purchased: $0 * 30, asOf: 4000 + poll)
                }
                _ = try await log.append(verified(facts))
            }
            let (rows, bytes) = try await Inspector.inspect(settings) { inspector in
                (
                    try await Inspector.count("confirmation", settings),
                    try await inspector.number(
                        "SELECT sum(pg_column_size(c.*)) FROM ledger.confirmation c"
                    )
                )
            }
            #expect(rows == polls - 1)
            let repetitions = (polls - 1) * periods
            #expect(bytes <= 20 * repetitions, "\(Double(bytes) / Double(repetitions)) B each")
            let history = try await log.history(
                of: StreamID(environment: .production, originalTransactionId: "1000")
            )
            #expect(Int64(history.events.count) == periods)
            #expect(Int64(history.confirmations.count) == repetitions)
        }
    }

    /// The model knows everything; the log looks up little.
    ///
    /// Both must judge every fact the same, however many payloads are appended together.
    @Test(arguments: Variant.extremes, [UInt64(1), 2, 3, 4, 5, 6, 7, 8])
    func `random facts in any order are new exactly if full knowledge says so`(
        variant: Variant,
        seed: UInt64
    ) async throws {
        try await variant.withLog { log, settings in
            var random = TestSupport.SeededGenerator(seed: seed)
            var model = FullKnowledge()
            for round in 0..<60 {
                let batch = (0..<Int.random(in: 1...3, using: &random)).map { payload in
                    let facts = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                        Self.randomFact(using: &random)
                    }
                    let trust = Verification.Trust.allCases.randomElement(using: &random)
                    return verified(
                        facts,
                        payload: Array("\(seed) \(round) \(payload)".utf8),
                        trust: trust ?? .signed
                    )
                }
                let outcomes = try await log.append(batch)
                for (payload, outcomes) in zip(batch, outcomes) {
                    let trust = payload.evidence.verification.trust
                    let expected = model.append(payload.value, trust)
                    #expect(outcomes.map(\.isNew) == expected, "seed \(seed), round \(round)")
                }
            }
            try await expectSound(log, settings)
            #expect(try await log.verify().isOK)
        }
    }

    /// Everything that was stated, in memory.
    private struct FullKnowledge {
        private var subjects: [Subject: Knowledge] = [:]
        private var offsets: [Subject: Int64] = [:]
        private var ends = PeriodEnds()

        /// Whether each fact of a payload is new.
        mutating func append(_ facts: [Fact], _ trust: Verification.Trust) -> [Bool] {
            let expected = facts.map { append($0, with: facts, trust) }
            for fact in facts { ends.learn(fact.subject, asOf: fact.asOf) }
            return expected
        }

        private mutating func append(
            _ fact: Fact,
            with facts: [Fact],
            _ trust: Verification.Trust
        ) -> Bool {
            let subject = fact.subject
            let judgement = subjects[subject, default: Knowledge()].judge(fact, trust: trust)
            if case .known(_, let repetitions) = judgement {
                let isMoved = ends.areMoved(by: fact, of: subject, together: facts)
                guard !repetitions.isEmpty, isMoved else {
                    learn(repetitions, of: fact, trust)
                    return false
                }
            }
            let offset = offsets[subject, default: 0] + 1
            offsets[subject] = offset
            subjects[subject, default: Knowledge()].learn(
                offset: offset,
                asOf: fact.asOf,
                content: fact.content,
                trust: trust
            )
            return true
        }

        private mutating func learn(
            _ repetitions: [Knowledge.Repetition],
            of fact: Fact,
            _ trust: Verification.Trust
        ) {
            for repetition in repetitions {
                subjects[fact.subject]?.learn(
                    Confirmation(
                        position: Position(lane: .only, offset: repetition.offset),
                        asOf: fact.asOf,
                        fields: repetition.fields,
                        transactionId: repetition.transactionId,
                        evidence: 1
                    ),
                    trust: trust
                )
            }
        }
    }

    /// The log knows the purchase with one end and the batch states another one first.
    @Test(arguments: Variant.extremes)
    func `what the log has already is not appended again after an end from the same batch`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            func stated(until day: Int64, asOf: Int64, under id: String) -> Fact {
                let fact = TestFacts.transaction(asOf: asOf, transactionId: id)
                return fact.ending(on: day)
            }
            let known = stated(until: 30, asOf: 3, under: "T1")
            #expect(try await log.append(verified(known)).map(\.isNew) == [true])
            let batch = [
                verified(stated(until: 44, asOf: 2, under: "T1")),
                // The same statement under the id of a restore, and a later one of the same end.
                verified([stated(until: 30, asOf: 3, under: "T2")], payload: [1]),
                verified(stated(until: 30, asOf: 4, under: "T1")),
            ]
            let outcomes = try await log.append(batch).flatMap { $0 }
            #expect(outcomes.map(\.isNew) == [true, false, false])
            try await expectSound(log, settings)
        }
    }

    // Few values and few instants, some within a minute of each other, so that they collide.
    private static func randomFact(using random: inout TestSupport.SeededGenerator) -> Fact {
        let fact = TestFacts.transaction(
            Bool.random(using: &random) ? "1000" : "1001",
            price: .random(in: 1...2, using: &random),
            purchased: .random(in: 0...1, using: &random),
            transactionId: "T\(Int.random(in: 1...3, using: &random))",
            revoked: Bool.random(using: &random) ? 5 : nil
        )
        // Mostly one end, and now and then another.
        let end = Int.random(in: 0...3, using: &random) == 0 ? 44 : 30
        return Fact(
            stream: fact.stream,
            bundleId: fact.bundleId,
            kind: fact.kind,
            purchaseDate: fact.purchaseDate,
            expiresDate: TestFacts.instant(day: Int64(end)),
            asOf: Instant(
                milliseconds: TestFacts.start + 25_000 * .random(in: 0...9, using: &random)
            ),
            content: fact.content
        )
    }
}
