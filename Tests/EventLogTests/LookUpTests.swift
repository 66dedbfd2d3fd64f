import Events
import Postgres
import TestSupport
import Testing

@testable import EventLog

/// What an append reads before it decides: enough to be exact, and no more as repetitions
/// accumulate.
@Suite(.enabled { await TestServer.isAvailable })
struct LookUpTests {
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
    /// Both must judge every fact the same.
    @Test(arguments: Variant.extremes, [UInt64(1), 2, 3, 4, 5, 6])
    func `random facts in any order are new exactly if full knowledge says so`(
        variant: Variant,
        seed: UInt64
    ) async throws {
        try await variant.withLog { log, settings in
            var random = TestSupport.SeededGenerator(seed: seed)
            var model: [Subject: Knowledge] = [:]
            var offsets: [Subject: Int64] = [:]
            for round in 0..<60 {
                let facts = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                    Self.randomFact(using: &random)
                }
                let trust = Verification.Trust.allCases.randomElement(using: &random) ?? .signed
                let outcomes = try await log.append(
                    verified(facts, payload: Array("\(seed) \(round)".utf8), trust: trust)
                )
                for (fact, outcome) in zip(facts, outcomes) {
                    let judgement = model[fact.subject, default: Knowledge()].judge(
                        fact,
                        trust: trust
                    )
                    let isNews = judgement == .new
                    #expect(outcome.isNew == isNews, "seed \(seed), round \(round): \(fact)")
                    Self.learn(fact, judgement, trust, &model, &offsets)
                }
            }
            try await expectSound(log, settings)
            #expect(try await log.verify().isOK)
        }
    }

    private static func learn(
        _ fact: Fact,
        _ judgement: Knowledge.Judgement,
        _ trust: Verification.Trust,
        _ model: inout [Subject: Knowledge],
        _ offsets: inout [Subject: Int64]
    ) {
        switch judgement {
        case .new:
            let offset = offsets[fact.subject, default: 0] + 1
            offsets[fact.subject] = offset
            model[fact.subject, default: Knowledge()].learn(
                offset: offset,
                asOf: fact.asOf,
                content: fact.content,
                trust: trust
            )
        case .known(_, let repetitions):
            for repetition in repetitions {
                model[fact.subject]?.learn(
                    Confirmation(
                        position: Position(lane: 0, offset: repetition.offset),
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

    // Few values and few instants, some within a minute of each other, so that they collide.
    private static func randomFact(using random: inout TestSupport.SeededGenerator) -> Fact {
        let fact = TestFacts.transaction(
            Bool.random(using: &random) ? "1000" : "1001",
            price: .random(in: 1...2, using: &random),
            purchased: .random(in: 0...1, using: &random),
            transactionId: "T\(Int.random(in: 1...3, using: &random))",
            revoked: Bool.random(using: &random) ? 5 : nil
        )
        return Fact(
            stream: fact.stream,
            bundleId: fact.bundleId,
            kind: fact.kind,
            purchaseDate: fact.purchaseDate,
            expiresDate: fact.expiresDate,
            asOf: Instant(
                milliseconds: TestFacts.start + 25_000 * .random(in: 0...9, using: &random)
            ),
            content: fact.content
        )
    }
}
