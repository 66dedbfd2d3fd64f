import AppStore
import AppStoreSimulator
import EventLog
import Events
import Subledger
import Synchronization
import TestSupport
import Testing

/// The statistics of ingest runs compared with a known mix.
@Suite(.enabled { await TestServer.isAvailable })
struct IngestQualityTests {
    private static let simulator = AppStoreSimulator(seed: 33)
    private static let lives = 20
    private static let payloads = simulator.sampleHistory(count: lives).map(\.payload)

    @Test(arguments: [TestTemplate.migrated, .divided])
    func `counts add up, by source and in total`(template: TestTemplate) async throws {
        try await withLedger(template) { ledger in
            let facts = try Self.facts(ledger)
            let first = try await ledger.ingest(Self.payloads, source: "first")
            let garbage = ["x", "{", "{"].map { Array($0.utf8) }
            let again = try await ledger.ingest(Self.payloads + garbage, source: "second")
            _ = try await ledger.ingest([garbage[0]], source: "second")
            let quality = try await ledger.log.ingestQuality()
            #expect(quality.sources.map(\.source) == ["first", "second"])
            #expect(quality.sources.map(\.runs) == [1, 2])
            let counts = quality.sources.map(\.counts)
            #expect(counts.map(\.payloads) == [first.payloads, again.payloads + 1].map(Int64.init))
            #expect(counts.map(\.facts) == [Int64(facts.count), Int64(facts.count)])
            #expect(counts[0].appended == (try await Self.events(ledger)))
            #expect(counts[1].appended == 0)
            #expect(counts.map(\.restored) == [Self.restores(facts), 0])
            #expect(counts.map(\.streams) == [Int64(first.streams), Int64(first.streams)])
            #expect(counts[0].rejectedByReason.isEmpty)
            #expect(
                counts[1].rejectedByReason == ["unsupported-format": 2, "json-malformed": 2]
            )
            #expect(quality.total.counts.rejected == 4)
            #expect(quality.total.counts.facts == Int64(facts.count * 2))
            #expect(quality.total.runs == 3)
            // The log has each payload once, under the channel that delivered it first.
            #expect(quality.channels.map(\.source) == ["first", "second"])
            #expect(quality.channels.map(\.events) == [counts[0].appended, 0])
            #expect(quality.channels[0].payloads > 0 && quality.channels[0].rejected == 0)
            #expect(quality.channels[1].rejected == 2)
            let one = try await ledger.log.ingestQuality(source: "second")
            #expect(one.channels.map(\.source) == ["second"])
            // The log alone contains as many additional ids as the runs counted.
            #expect(quality.aliases.map(\.aliases).reduce(0, +) == Self.restores(facts))
            #expect(quality.aliases.map(\.purchases).reduce(0, +) == Self.purchases(facts))
            #expect(try await ledger.log.verify().isOK)
        }
    }

    @Test func `the same streams in ten runs are not counted ten times`() async throws {
        try await withLedger(.migrated) { ledger in
            var streams = 0
            for _ in 0..<10 {
                streams = try await ledger.ingest(Array(Self.payloads.prefix(30))).streams
            }
            let quality = try await ledger.ingestQuality()
            #expect(quality.sources.map(\.runs) == [10])
            #expect(quality.sources.map(\.streamsOfOneRunMax) == [Int64(streams)])
            #expect(quality.total.streamsOfOneRunMax == Int64(streams))
        }
    }

    @Test func `a run is found by its source and by its end`() async throws {
        try await withLedger(.migrated) { ledger in
            for (day, source) in [(1, "a"), (2, "b"), (3, "a")] {
                let instant = Instant(milliseconds: Int64(day) * 86_400_000)
                _ = try await ledger.ingest(next: { nil }, source: source, clock: { instant })
            }
            let second = Instant(milliseconds: 2 * 86_400_000)
            let log = ledger.log
            #expect(try await log.ingestQuality().total.runs == 3)
            #expect(try await log.ingestQuality(source: "a").sources.map(\.runs) == [2])
            #expect(try await log.ingestQuality(since: second).total.runs == 2)
            #expect(try await log.ingestQuality(source: "a", since: second).total.runs == 1)
            #expect(try await log.ingestQuality(source: "c").sources.isEmpty)
        }
    }

    @Test func `one run may include several sources`() async throws {
        try await withLedger(.migrated) { ledger in
            let run = RunID()
            for source in ["a", "b"] {
                _ = try await ledger.ingest(next: { nil }, source: source, run: run)
            }
            #expect(try await ledger.log.ingestQuality().sources.map(\.source) == ["a", "b"])
        }
    }

    @Test func `a stopped run counts what it did`() async throws {
        try await withLedger(.migrated) { ledger in
            let rest = Mutex(Self.payloads.makeIterator())
            let given = Atomic(0)
            let report = try await ledger.ingest(
                next: {
                    given.add(1, ordering: .relaxed)
                    return rest.withLock { $0.next() }
                        .map { [LocatedPayload(path: "", payload: .success($0))] }
                },
                source: "test",
                isStopped: { given.load(ordering: .relaxed) > 7 }
            )
            #expect(report.wasStopped && report.payloads == 7)
            let line = try #require(try await ledger.log.ingestQuality().sources.first)
            #expect(line.counts.payloads == 7)
            #expect(line.counts.appended == (try await Self.events(ledger)))
        }
    }

    @Test func `a run that dies leaves no count, but its facts are recorded`() async throws {
        struct Died: Error {}
        try await withLedger(.migrated) { ledger in
            _ = try await ledger.ingest(Array(Self.payloads.prefix(5)))
            let before = try await Self.events(ledger)
            await #expect(throws: Died.self) {
                _ = try await ledger.ingest(next: { throw Died() }, source: "test")
            }
            #expect(try await ledger.log.ingestQuality().total.runs == 1)
            #expect(try await Self.events(ledger) == before)
        }
    }

    private func withLedger(
        _ template: TestTemplate,
        _ body: (Ledger) async throws -> Void
    ) async throws {
        try await TestServer.shared.withDatabase(from: template) { settings in
            let ledger = Ledger(
                log: try await EventLog.open(settings, FilledLedger.options),
                verifier: try Self.simulator.verifier()
            )
            try await body(ledger)
            await ledger.log.close()
        }
    }

    /// The facts of the payloads, in order.
    private static func facts(_ ledger: Ledger) throws -> [Fact] {
        try payloads.flatMap { payload in
            try ledger.verifier.verify(
                payload: payload,
                source: "test",
                receivedAt: Instant(milliseconds: 0)
            ).facts
        }
    }

    private static func events(_ ledger: Ledger) async throws -> Int64 {
        try await ledger.log.heads().values.map(\.offset).reduce(0, +)
    }

    /// Transaction ids by purchase.
    private static func ids(_ facts: [Fact]) -> [Subject: Set<String>] {
        var ids: [Subject: Set<String>] = [:]
        for fact in facts where fact.kind == .transaction {
            guard let id = fact.content.text(.transactionId) else { continue }
            ids[fact.subject, default: []].insert(id)
        }
        return ids
    }

    private static func restores(_ facts: [Fact]) -> Int64 {
        let further = ids(facts).values.map { Int64($0.count - 1) }.reduce(0, +)
        #expect(further > 0, "the simulation restores something")
        return further
    }

    private static func purchases(_ facts: [Fact]) -> Int64 { Int64(ids(facts).count) }
}
