import EventLog
import Events
import Postgres
import TestSupport
import Testing

/// Events from a newer program, or damaged ones: a scan of the log continues without them.
@Suite(.enabled { await TestServer.isAvailable })
struct UnreadableEventTests {
    @Test(arguments: Variant.extremes)
    func `a scan reports unreadable events and returns all others`(
        variant: Variant
    ) async throws {
        let tampered = TamperedLog(variant: variant)
        try await tampered.withCopy { settings in
            try await Self.spoil(tampered.lane, settings)
            let log = try await EventLog.open(settings)
            let head = try #require(try await log.heads()[tampered.lane])
            let histories = try await log.foldStreams(lane: tampered.lane, upTo: head, into: []) {
                (histories: inout [StreamHistory], history) in
                histories.append(history)
            }
            let recorded = try await log.foldRecordedStreams(
                lane: tampered.lane,
                upTo: head,
                into: []
            ) { (histories: inout [StreamHistory], history) in histories.append(history.latest) }
            await log.close()
            let spooled = try await Self.spooled(tampered.lane, settings)
            for found in [histories, recorded, spooled] {
                let first = try #require(
                    found.first { $0.stream.originalTransactionId == tampered.ids[0] }
                )
                #expect(first.events.map(\.position.offset) == [1, 5, 8])
                #expect(first.unreadable.map(\.position.offset) == [2, 4])
                #expect(first.unreadable.first?.reason.contains("content") == true)
                #expect(first.unreadable.last?.reason.contains("kind") == true)
                let second = try #require(
                    found.first { $0.stream.originalTransactionId == tampered.ids[1] }
                )
                #expect(second.events.count == 3)
                #expect(second.unreadable.isEmpty)
            }
        }
    }

    @Test func `a question about the stream with an unreadable event is refused`() async throws {
        let tampered = TamperedLog(variant: Variant.extremes[0])
        try await tampered.withCopy { settings in
            try await Self.spoil(tampered.lane, settings)
            let log = try await EventLog.open(settings)
            let stream = StreamID(
                environment: TestFacts.transaction(tampered.ids[0]).stream.environment,
                originalTransactionId: tampered.ids[0]
            )
            await #expect { try await log.history(of: stream) } throws: { error in
                (error as? EventLogError)?.code == .malformedLog
            }
            await log.close()
        }
    }

    /// What a rebuild of a long log reads.
    private static func spooled(
        _ lane: Int,
        _ settings: ConnectionSettings
    ) async throws -> [StreamHistory] {
        let log = try await EventLog.open(settings, .spooling)
        let head = try #require(try await log.heads()[lane])
        var histories: [StreamHistory] = []
        for range in try await log.streamRanges(lane: lane, upTo: head, atLeast: 2) {
            histories += try await log.foldStreams(in: range, upTo: head, into: []) {
                $0.append($1)
            }
        }
        await log.close()
        return histories
    }

    /// Event 2 gets the content of a later version, event 4 an unknown kind.
    private static func spoil(_ lane: Int, _ settings: ConnectionSettings) async throws {
        try await Inspector.inspect(settings) { inspector in
            try await inspector.session.execute(
                """
                \(Tampering.begin)
                ALTER TABLE ledger.event DROP CONSTRAINT event_kind_known;
                UPDATE ledger.event SET content = set_byte(content, 0, 2)
                WHERE lane = \(lane) AND lane_offset = 2;
                UPDATE ledger.event SET kind = 'prophecy'
                WHERE lane = \(lane) AND lane_offset = 4
                """
            )
        }
    }
}
