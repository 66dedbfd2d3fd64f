import Events
import Postgres
import TestSupport
import Testing

@testable import EventLog

/// Rejected payloads are stored next to the log, not in it.
@Suite(.enabled { await TestServer.isAvailable })
struct RejectionTests {
    @Test(arguments: Variant.all)
    func `a payload is stored once per reason, as it first arrived`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            try await log.record([
                refused("a", "unproven", day: 1), refused("b", "unproven", day: 2),
            ])
            try await log.record([
                refused("a", "unproven", day: 3, source: "again"),
                refused("a", "json-malformed", day: 3), refused("c", "unproven", day: 4),
                refused("c", "unproven", day: 5),
            ])
            let (count, listed) = try await log.rejections(limit: 10)
            #expect(count == 4)
            #expect(
                listed.map { "\($0.location) \($0.reason) \($0.source)" } == [
                    "c unproven test", "a json-malformed test", "b unproven test",
                    "a unproven test",
                ]
            )
            #expect(listed.last?.receivedAt == TestFacts.instant(day: 1))
            #expect(listed.last?.digest == Digest.of(Array("a".utf8)))
            #expect(try await log.rejections(limit: 1).listed.count == 1)
            try await expectFilters(log)
            #expect(try await log.verify().commits == 0, "rejections are not commits")
            #expect(try await Inspector.count("event", settings) == 0)
        }
    }

    private func expectFilters(_ log: EventLog) async throws {
        let filters: [(RejectionFilter, Int64)] = [
            (RejectionFilter(reason: "unproven"), 3), (RejectionFilter(source: "test"), 4),
            (RejectionFilter(source: "again"), 0),
            (RejectionFilter(since: TestFacts.instant(day: 3)), 2),
            (RejectionFilter(reason: "unproven", since: TestFacts.instant(day: 2)), 2),
        ]
        for (filter, expected) in filters {
            let found = try await log.rejections(filter, limit: 10)
            #expect(found.count == expected, "\(filter)")
            #expect(found.listed.count == Int(expected), "\(filter)")
        }
    }

    @Test func `bodies, messages and locations are cut to their limits`() async throws {
        try await Variant.plain.withLog { log, _ in
            let payload = (0..<RejectedPayload.bodyByteCountMax + 5).map {
                UInt8(truncatingIfNeeded: $0)
            }
            let long = String(repeating: "é\u{0}\u{1B}[2J", count: 10_000)
            try await log.record([
                RejectedPayload(
                    RejectedPayload.Original(payload),
                    body: payload,
                    reason: "unproven",
                    message: long,
                    source: "te\u{0}st",
                    location: long + "/end.json",
                    receivedAt: TestClock.noon
                )
            ])
            let line = try #require(try await log.rejections(limit: 1).listed.first)
            #expect(line.byteCount == payload.count)
            #expect(line.bodyByteCount == RejectedPayload.bodyByteCountMax)
            #expect(line.message.utf8.count <= RejectedPayload.messageByteCountMax + 4)
            #expect(line.location.utf8.count <= RejectedPayload.locationByteCountMax + 4)
            #expect(line.location.hasSuffix("/end.json"))
            for text in [line.message, line.source, line.location] {
                #expect(!text.unicodeScalars.contains { $0.value < 0x20 }, "\(text.prefix(20))")
            }
            let body = try await log.rejectedBody(Digest.of(payload))
            #expect(body == .some(Array(payload.prefix(RejectedPayload.bodyByteCountMax))))
        }
    }

    @Test(arguments: Variant.extremes)
    func `above the limit the row is stored without its bytes, and the message says so`(
        variant: Variant
    ) async throws {
        try await variant.withDatabase { settings in
            var options = EventLog.Options.test()
            options.rejectedBytesMax = 10
            let log = try await EventLog.open(settings, options)
            let dropped = try await log.record(
                ["aaaa", "bbbb", "cccc"].map { refused($0, "unproven") }
            )
            #expect(dropped == 1)
            let lines = try await log.rejections(limit: 10).listed
            let kept = lines.filter { $0.bodyByteCount != nil }.map(\.location)
            #expect(kept.count == 2 && lines.count == 3)
            let bare = try #require(lines.first { $0.bodyByteCount == nil })
            #expect(bare.message.contains("limit of 10 bytes. Ingest the original again."))
            // Another process counts the bytes that are already stored.
            let other = try await EventLog.open(settings, options)
            #expect(try await other.record([refused("dddd", "unproven")]) == 1)
            #expect(try await other.record([refused("e", "unproven", body: nil)]) == 0)
            #expect(try await other.rejections(limit: 10).count == 5)
            try await Inspector.inspect(settings) { inspector in
                try await inspector.session.execute("DELETE FROM ledger.rejection")
            }
            let later = try await EventLog.open(settings, options)
            #expect(try await later.record([refused("ffff", "unproven")]) == 0)
            for log in [log, other, later] { await log.close() }
        }
    }

    @Test(arguments: Variant.extremes)
    func `each standing has room of its own, and only what is unproven is deleted when it is old`(
        variant: Variant
    ) async throws {
        try await variant.withDatabase { settings in
            var options = EventLog.Options.test()
            options.rejectedBytesMax = 64
            let log = try await EventLog.open(settings, options)
            // A sixteenth of the bytes for each other standing: one body of four bytes.
            for standing in [Standing.unproven, .chained, .proven] {
                let junk = ["1", "2", "3"].map {
                    refused("\(standing.rawValue.prefix(3))\($0)", "unproven", standing)
                }
                #expect(try await log.record(junk) == (standing == .proven ? 0 : 2))
            }
            let stored = try await log.storedRejections()
            #expect(stored.mapValues(\.rows) == [.unproven: 3, .chained: 3, .proven: 3])
            #expect(stored.mapValues(\.bytes) == [.unproven: 4, .chained: 4, .proven: 12])
            let omitted = await log.statistics().omittedRejections
            #expect(omitted.mapValues(\.bodies) == [.unproven: 2, .chained: 2, .proven: 0])
            await log.close()
            // They came a year ago: whoever looks first deletes the unproven ones.
            let later = try await EventLog.open(settings, options)
            _ = try await later.record([refused("new", "unproven", .proven)])
            let left = try await later.storedRejections().mapValues(\.rows)
            #expect(left == [.unproven: 0, .chained: 3, .proven: 4])
            await later.close()
        }
    }

    @Test func `above the limit of rows of a standing, only those of other standings are stored`() {
        var budget = RejectedBodyBudget(limit: 1 << 30)
        budget.refresh([.unproven: RejectedBodyBudget.Stored(rows: 9_999, bytes: 0)])
        let admission = budget.admit([
            refused("a", "unproven", .unproven), refused("b", "unproven", .unproven),
            refused("c", "unproven", .chained), refused("d", "unproven", .proven),
        ])
        #expect(admission.stored.map(\.location) == ["a", "c", "d"])
        #expect(admission.omitted == [.unproven: 1] && admission.lostBodies == 1)
    }

    @Test(arguments: Variant.all)
    func `a payload accepted later is no longer open, in any number of processes`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            #expect(try await !log.hasRejections())
            try await log.record([
                refused("a", "unproven"), refused("a", "json-malformed"), refused("b", "unproven"),
            ])
            #expect(try await log.hasRejections())
            let digests = ["a", "never refused"].map { Digest.of(Array($0.utf8)) }
            let other = try await EventLog.open(settings, .test())
            try await withThrowingTaskGroup(of: Void.self) { group in
                for log in [log, other, log, other] {
                    group.addTask { try await log.markTaken(digests, at: TestClock.noon) }
                }
                try await group.waitForAll()
            }
            await other.close()
            let open = try await log.rejections(RejectionFilter(isOpen: true), limit: 10)
            #expect(open.count == 1 && open.listed.map(\.location) == ["b"])
            let all = try await log.rejections(limit: 10).listed
            #expect(all.filter { $0.takenAt == TestClock.noon }.map(\.location) == ["a", "a"])
            #expect(try await Inspector.count("rejection_taken", settings) == 1)
        }
    }

    @Test func `open rejections are paged, each payload once, with its last reason`()
        async throws
    {
        try await Variant.plain.withLog { log, _ in
            try await log.record((0..<5).map { refused("\($0)", "unproven", day: 1) })
            try await log.record([refused("3", "json-malformed", day: 2)])
            var pages: [[String]] = []
            var last: OpenRejection?
            while true {
                let page = try await log.openRejections(
                    RejectionFilter(),
                    except: TestFacts.instant(day: 3),
                    after: last,
                    limit: 2
                )
                if page.isEmpty { break }
                pages.append(page.map(\.location))
                last = page.last
            }
            #expect(pages.map(\.count) == [2, 2, 1])
            #expect(Set(pages.joined()) == ["0", "1", "2", "3", "4"])
            #expect(pages.last == ["3"])
        }
    }

    @Test func `a rejection without stored bytes differs from no rejection`() async throws {
        try await Variant.extremes[1].withLog { log, _ in
            try await log.record([refused("a", "unproven", body: nil)])
            let kept = try await log.rejectedBody(Digest.of(Array("a".utf8)))
            #expect(kept == .some(nil))
            let never = try await log.rejectedBody(Digest.of(Array("b".utf8)))
            #expect(never == .none)
        }
    }

    @Test(arguments: Variant.extremes)
    func `only the owner may delete rejections, and no role may change them`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            try await log.record((0..<9).map { refused("\($0)", "unproven") })
            try await Inspector.inspect(settings) { inspector in
                for (role, statement, state) in [
                    ("ledger_writer", "DELETE FROM", "42501"),
                    ("ledger_writer", "TRUNCATE", "42501"),
                    ("ledger_reader", "DELETE FROM", "42501"),
                ] {
                    try await inspector.session.execute("SET ROLE \(role)")
                    let error = await #expect(throws: PostgresError.self) {
                        try await inspector.session.execute("\(statement) ledger.rejection")
                    }
                    #expect(error?.sqlState == state, "\(role): \(statement)")
                }
                for role in ["ledger_owner", "NONE"] {
                    try await inspector.session.execute("SET ROLE \(role)")
                    let error = await #expect(throws: PostgresError.self) {
                        try await inspector.session.execute(
                            "UPDATE ledger.rejection SET reason = 'other'"
                        )
                    }
                    #expect(error?.sqlState == "LG001", "\(role)")
                }
                try await inspector.session.execute(
                    "SET ROLE ledger_owner; DELETE FROM ledger.rejection WHERE location < '5'"
                )
            }
            #expect(try await log.rejections(limit: 10).count == 4)
        }
    }

    @Test func `two writers store the same rejections in any order without a deadlock`()
        async throws
    {
        try await Variant.extremes[1].withLog { log, settings in
            // A log has one session here, so two logs are needed for a conflict.
            let other = try await EventLog.open(settings, .test())
            for round in UInt64(0)..<20 {
                let all = (0..<400).map { refused("\(round)-\($0)", "unproven") }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (seed, writer) in zip(UInt64(0)..., [log, other]) {
                        group.addTask {
                            var random = TestSupport.SeededGenerator(seed: round * 2 + seed)
                            try await writer.record(all.shuffled(using: &random))
                        }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(try await log.rejections(limit: 1).count == 8000)
            await other.close()
        }
    }

    private func refused(
        _ payload: String,
        _ reason: String,
        _ standing: Standing = .proven,
        day: Int64 = 0,
        source: String = "test",
        body: [UInt8]? = []
    ) -> RejectedPayload {
        RejectedPayload(
            RejectedPayload.Original(Array(payload.utf8)),
            body: body.map { $0 + Array(payload.utf8) },
            reason: reason,
            message: "It was refused.",
            source: source,
            location: payload,
            standing: standing,
            receivedAt: TestFacts.instant(day: day)
        )
    }
}
