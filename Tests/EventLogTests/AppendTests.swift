import EventLog
import Events
import Postgres
import Synchronization
import TestSupport
import Testing

/// What one append returns, and the rows it leaves.
@Suite(.enabled { await TestServer.isAvailable })
struct AppendTests {
    @Test(arguments: Variant.all)
    func `each fact is answered with its position, in the order of the facts`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            let lane = variant.lanes.lane(of: "1000")
            let facts = (0..<3).map { TestFacts.transaction(purchased: $0 * 30) }
            let first = try await log.append(verified(Array(facts[0...1])))
            #expect(first == (1...2).map { .appended(Position(lane: Lane(lane), offset: $0)) })
            let mixed = try await log.append(verified([facts[1], facts[2], facts[0], facts[2]]))
            #expect(
                mixed == [
                    .duplicate(Position(lane: Lane(lane), offset: 2)),
                    .appended(Position(lane: Lane(lane), offset: 3)),
                    .duplicate(Position(lane: Lane(lane), offset: 1)),
                    .duplicate(Position(lane: Lane(lane), offset: 3)),
                ]
            )
            let history = try await log.history(of: facts[0].stream)
            #expect(history.events.map(\.fact) == facts)
            #expect(history.confirmations.isEmpty)
            try await expectSound(log, settings)
        }
    }

    @Test(arguments: Variant.all.filter { $0.lanes == Variant.four })
    func `an append that one lane refuses is an error, and again completes that lane`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            let payloads = (0..<variant.lanes.value).map { lane in
                verified(TestFacts.transaction(variant.ids(inLane: lane, count: 1)[0]))
            }
            try await Inspector.inspect(settings) {
                try await $0.session.execute(
                    "ALTER TABLE ledger.commit ADD CONSTRAINT refused_lane CHECK (lane <> 2)"
                )
            }
            await #expect(throws: EventLogError.self) { _ = try await log.append(payloads) }
            try await Inspector.inspect(settings) {
                try await $0.session.execute(
                    "ALTER TABLE ledger.commit DROP CONSTRAINT refused_lane"
                )
            }
            let again = try await log.append(payloads)
            #expect(again.map { $0.map(\.isNew) } == [[false], [false], [true], [false]])
            #expect(again.flatMap { $0.map(\.position.lane.number) } == [0, 1, 2, 3])
            try await expectSound(log, settings)
        }
    }

    @Test(arguments: Variant.all)
    func `appending everything a second time adds no events and no confirmations`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            let payloads = (0..<40).map { number in
                verified([
                    TestFacts.transaction("\(number % 7)", purchased: Int64(number), asOf: 3),
                    TestFacts.notification("\(number % 5)", uuid: "n\(number)", asOf: 3),
                ])
            }
            for payload in payloads { _ = try await log.append(payload) }
            let counts = try await tableCounts(settings)
            for payload in payloads.reversed() {
                for outcome in try await log.append(payload) {
                    guard !outcome.isNew else {
                        Issue.record("\(outcome) at the second time")
                        return
                    }
                }
            }
            #expect(try await tableCounts(settings) == counts)
            try await expectSound(log, settings)
        }
    }

    private func tableCounts(_ settings: ConnectionSettings) async throws -> [Int64] {
        var counts: [Int64] = []
        for table in [
            "event", "confirmation", "evidence", "evidence_segment", "root_certificate", "commit",
        ] {
            counts.append(try await Inspector.count(table, settings))
        }
        return counts
    }

    @Test(arguments: Variant.all)
    func `recorded times never decrease within a lane, even if the clock goes back`(
        variant: Variant
    ) async throws {
        let ticks = Mutex([500, 900, 100, 901, 0, 902].map { Int64($0) })
        let clock: @Sendable () -> Instant = {
            ticks.withLock { Instant(milliseconds: $0.isEmpty ? 0 : $0.removeFirst()) }
        }
        try await variant.withLog(clock: clock) { log, settings in
            for number in Int64(0)..<6 {
                _ = try await log.append(verified(TestFacts.transaction(purchased: number)))
            }
            let stream = TestFacts.transaction().stream
            let times = try await log.history(of: stream).events.map(\.recordedAt.milliseconds)
            #expect(times == [500, 900, 900, 901, 901, 902])
            try await expectSound(log, settings)
        }
    }

    @Test(arguments: Variant.all)
    func `a payload whose facts belong to several lanes adds one commit to each`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            let facts = (0..<40).map { TestFacts.transaction("s\($0)") }
            let outcomes = try await log.append(verified(facts))
            #expect(outcomes.count == facts.count)
            for (fact, outcome) in zip(facts, outcomes) {
                let history = try await log.history(of: fact.stream)
                #expect(history.events.map(\.position) == [outcome.position])
                #expect(
                    outcome.position.lane.number
                        == variant.lanes.lane(of: fact.stream.originalTransactionId)
                )
            }
            let heads = try await log.heads()
            #expect(heads.count == variant.lanes.value)
            #expect(heads.values.map(\.offset).reduce(0, +) == 40)
            // The payload is stored once per lane, so that a lane can move to another server as a
            // whole.
            let lanes = Int64(variant.lanes.value)
            #expect(try await Inspector.count("evidence", settings) == lanes)
            #expect(try await Inspector.count("commit", settings) == lanes)
            try await expectSound(log, settings)
        }
    }

    @Test(arguments: Variant.extremes)
    func `a payload with too many facts is refused with its own error and leaves nothing`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            let fact = TestFacts.transaction()
            let facts = Array(repeating: fact, count: EventLog.factsPerPayloadMax + 1)
            let error = await #expect(throws: EventLogError.self) {
                try await log.append(verified(facts, payload: [1]))
            }
            #expect(error?.code == .tooManyFacts)
            #expect(error?.isRetryable == false)
            let commits = try await Inspector.count("commit", settings)
            #expect(commits == 0)
        }
    }

    @Test(arguments: Variant.all)
    func `a fact the database refuses does not fail the other facts in its batch`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            // PostgreSQL's text type cannot hold a zero character.
            let bad = TestFacts.transaction("1000", product: "mon\0thly")
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in Int64(0)..<30 {
                    let fact = TestFacts.transaction("1000", purchased: number + 1)
                    group.addTask { try await log.append(verified(fact)).count == 1 }
                    guard number % 10 == 0 else { continue }
                    group.addTask {
                        let error = await #expect(throws: EventLogError.self) {
                            try await log.append(verified(bad))
                        }
                        return error?.code == .database
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
            #expect(try await log.heads().values.map(\.offset).reduce(0, +) == 30)
            try await expectSound(log, settings)
        }
    }

    @Test(arguments: Variant.all)
    func `an empty payload succeeds and leaves nothing`(variant: Variant) async throws {
        try await variant.withLog { log, _ in
            let outcomes = try await log.append(verified([], payload: [1]))
            #expect(outcomes.isEmpty)
            let heads = try await log.heads()
            #expect(heads.isEmpty)
        }
    }
}
