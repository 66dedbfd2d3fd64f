import AppStore
import EventLog
import Events
import Projections
import TestSupport
import Testing

import class Foundation.ProcessInfo
import struct AppStoreSimulator.AppStoreSimulator
import struct AppStoreSimulator.Delivery
import struct AppStoreSimulator.SubscriptionLife

/// Promise 4 through PostgreSQL: no order of arrival, repetition or batch changes a projection.
@Suite(.enabled { await TestServer.isAvailable })
struct SimulatedHistoryTests {
    /// Fixed ones, and one that is new each day of testing; each is printed with a failure.
    private static let seeds: [UInt64] = {
        let given = ProcessInfo.processInfo.environment["SUBLEDGER_TEST_SEED"].flatMap(UInt64.init)
        let seeds = [1, 20_261_121, given ?? UInt64.random(in: 0...999_999)]
        print("seeds of simulated histories: \(seeds) (SUBLEDGER_TEST_SEED sets the last)")
        return seeds
    }()

    @Test(arguments: seeds)
    func `a history in any order, repeated, in any batches, folds to the simulated truth`(
        seed: UInt64
    ) async throws {
        let history = try SimulatedHistory(seed: seed, lives: 12)
        #expect(history.payloads.count > 150, "seed \(seed): \(history.payloads.count)")
        let expected = try history.foldedInOrder()
        for (number, variant) in Variant.all.enumerated() {
            let name = "seed \(seed), \(variant.testDescription)"
            try await variant.withLog { log, settings in
                // Another order for each layout.
                var random = TestSupport.SeededGenerator(seed: seed &+ UInt64(number))
                try await append(history.payloads, inDisorder: &random, to: log)
                try await compare(log, with: expected, history, name)
                let spooling = try await EventLog.open(settings, .spooling)
                let spooled = try await Self.folded(spooling)
                await spooling.close()
                #expect(spooled.streams == expected.streams, "\(name), spooled")
                #expect(spooled.digest == expected.digest, "\(name), spooled")
                try await expectSound(log, settings, Comment(rawValue: name))
            }
        }
    }

    private func compare(
        _ log: EventLog,
        with expected: FoldedStreams,
        _ history: SimulatedHistory,
        _ name: String
    ) async throws {
        let actual = try await Self.folded(log)
        #expect(actual.streams == expected.streams, "\(name)")
        for stream in expected.streams where actual.rows[stream] != expected.rows[stream] {
            Issue.record("\(name): the rows of \(stream) depend on the order of arrival")
        }
        #expect(actual.digest == expected.digest, "\(name)")
        for life in history.lives {
            let stream = history.stream(of: life)
            let rows = ActivePeriods(Timeline(try await log.history(of: stream))).rows
            #expect(
                rows.map(\.line) == life.periods.map(\.description),
                "\(name), life \(life.identity.index)"
            )
        }
    }

    /// Cuts the payloads into groups of random size; within a group all are appended at once.
    private func append(
        _ payloads: [Verified<[Fact]>],
        inDisorder random: inout TestSupport.SeededGenerator,
        to log: EventLog
    ) async throws {
        let repeated = payloads.filter { _ in Int.random(in: 0..<4, using: &random) == 0 }
        var rest = (payloads + repeated).shuffled(using: &random)[...]
        while !rest.isEmpty {
            let group = rest.prefix(Int.random(in: 1...40, using: &random))
            rest = rest.dropFirst(group.count)
            _ = try await appendAll(Array(group), to: [log])
        }
    }

    /// What the tables of the log fold to, read the way a rebuild reads.
    private static func folded(_ log: EventLog) async throws -> FoldedStreams {
        var histories: [StreamHistory] = []
        for (lane, offset) in try await log.heads() {
            for range in try await log.streamRanges(lane: lane, upTo: offset, atLeast: 5) {
                histories += try await log.foldStreams(in: range, upTo: offset, into: []) {
                    $0.append($1)
                }
            }
        }
        return try FoldedStreams(histories)
    }
}

/// Payloads of some simulated lives by every channel, verified.
private struct SimulatedHistory {
    let lives: [SubscriptionLife]
    let payloads: [Verified<[Fact]>]

    init(seed: UInt64, lives count: Int) throws {
        let simulator = AppStoreSimulator(seed: seed)
        let verifier = try AppStoreVerifier(simulator)
        lives = Array(simulator.lives(count))
        let deliveries = lives.flatMap { $0.deliveries() + $0.polls().suffix(6) }
        payloads = try deliveries.sorted { $0.signedAt < $1.signedAt }.flatMap { delivery in
            try verifier.verify(
                payload: delivery.payload,
                source: delivery.channel.rawValue,
                receivedAt: TestClock.noon
            ).groups
        }
    }

    func stream(of life: SubscriptionLife) -> StreamID {
        StreamID(
            environment: life.store.environment,
            originalTransactionId: life.originalTransactionId
        )
    }

    /// The same payloads once, in the order of Apple's clock, without a database.
    func foldedInOrder() throws -> FoldedStreams {
        var knowledge: [Subject: Knowledge] = [:]
        var histories: [StreamID: StreamHistory] = [:]
        for (number, fact) in payloads.flatMap(\.value).enumerated() {
            let empty = StreamHistory(stream: fact.stream, events: [], confirmations: [])
            let position = Position(lane: .only, offset: Int64(number + 1))
            switch knowledge[fact.subject, default: Knowledge()].judge(fact) {
            case .new:
                let event = Event(
                    position: position,
                    recordedAt: TestClock.noon,
                    fact: fact,
                    evidence: 0
                )
                histories[fact.stream, default: empty].events.append(event)
                knowledge[fact.subject, default: Knowledge()].learn(
                    offset: position.offset,
                    asOf: fact.asOf,
                    content: fact.content
                )
            case .known(_, let repetitions):
                for repetition in repetitions {
                    let confirmation = Confirmation(
                        position: Position(lane: .only, offset: repetition.offset),
                        asOf: fact.asOf,
                        fields: repetition.fields,
                        transactionId: repetition.transactionId,
                        evidence: 0
                    )
                    histories[fact.stream, default: empty].confirmations.append(confirmation)
                    knowledge[fact.subject]?.learn(confirmation)
                }
            }
        }
        return try FoldedStreams(Array(histories.values))
    }
}

/// The rows of all streams, without positions, and the digests of all projections.
private struct FoldedStreams {
    let streams: [StreamID]
    let rows: [StreamID: [[ColumnValue]]]
    let digest: [Digest]

    init(_ histories: [StreamHistory]) throws {
        // Statements about no transaction are no stream.
        let sorted = histories.filter { !$0.stream.originalTransactionId.isEmpty }
            .sorted { $0.stream < $1.stream }
        streams = sorted.map(\.stream)
        var rows: [StreamID: [[ColumnValue]]] = [:]
        var digests = allProjections.map { _ in ProjectionDigest() }
        for history in sorted {
            let timeline = Timeline(history)
            rows[history.stream] = ActivePeriods(timeline).rows.map(\.values)
            for (index, projection) in allProjections.enumerated() {
                digests[index].add(
                    try projection.rows(of: timeline, in: FoldContext()),
                    of: history.stream
                )
            }
        }
        self.rows = rows
        digest = digests.map(\.digest)
    }
}

extension ActivePeriod {
    /// As the simulator prints its truth.
    fileprivate var line: String {
        "\(validFrom) … \(validTo) \(kind.rawValue) \(productId) \(endReason.rawValue)"
    }
}
