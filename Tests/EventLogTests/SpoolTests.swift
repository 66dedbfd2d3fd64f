import EventLog
import Events
import Foundation
import Postgres
import TestSupport
import Testing

/// Reading a long lane through a temporary file, compared with walking the stream index.
@Suite(.enabled { await TestServer.isAvailable })
struct SpoolTests {
    @Test(arguments: Variant.extremes)
    func `a lane read through a temporary file has the same histories in the same order`(
        variant: Variant
    ) async throws {
        let filled = TamperedLog(variant: variant)
        try await filled.withCopy { settings in
            let plain = try await EventLog.open(settings)
            let head = try #require(try await plain.heads()[filled.lane])
            let expected = try await plain.foldStreams(lane: filled.lane, upTo: head, into: []) {
                (histories: inout [StreamHistory], history) in
                histories.append(history)
            }
            await plain.close()
            #expect(expected.count == 2)
            let repetitions = expected.reduce(0) { $0 + $1.confirmations.count }
            #expect(repetitions > 0)
            let spooling = try await EventLog.open(settings, .spooling)
            for isComplete in [true, false] {
                let found = try await Self.histories(spooling, filled.lane, head, isComplete)
                #expect(found.map(\.stream) == expected.map(\.stream))
                #expect(found.map(\.events.count) == expected.map(\.events.count))
                #expect(found.map(\.confirmations) == expected.map(\.confirmations))
                let contents = found.map { $0.events.map(\.fact.content) }
                #expect(contents == expected.map { $0.events.map(\.fact.content) })
                if isComplete { #expect(found == expected) }
            }
            await spooling.close()
        }
    }

    @Test func `commits after the head are not read`() async throws {
        let filled = TamperedLog(variant: Variant.extremes[0])
        try await filled.withCopy { settings in
            let log = try await EventLog.open(settings, .spooling)
            // Commit 3 brought the only confirmation of event 1, commit 4 events 4 to 6.
            let heads = try await log.heads(knownAt: .offsets([filled.lane: 3]))
            let head = try #require(heads[filled.lane])
            let found = try await Self.histories(log, filled.lane, head, true)
            let offsets = found.flatMap { $0.events.map(\.position.offset) }.sorted()
            #expect(offsets == [1, 2, 3])
            let repetitions = found.reduce(0) { $0 + $1.confirmations.count }
            #expect(repetitions == 0)
            await log.close()
        }
    }

    @Test func `connections that read a lane together return every stream once`() async throws {
        let variant = Variant.extremes[0]
        let ids = variant.ids(inLane: 0, count: 40)
        try await variant.withLog { log, settings in
            for (number, id) in ids.enumerated() {
                let facts = [
                    TestFacts.transaction(id, asOf: 1),
                    TestFacts.transaction(id, purchased: 30, asOf: 2),
                ]
                _ = try await log.append(verified(facts, payload: Array("\(number)".utf8)))
            }
            var options = EventLog.Options.spooling
            options.readersMax = 2
            let spooling = try await EventLog.open(settings, options)
            let head = try #require(try await spooling.heads()[0])
            let ranges = try await spooling.streamRanges(lane: 0, upTo: head, atLeast: 8)
            #expect(ranges.count > 2)
            let found = try await withThrowingTaskGroup(of: [StreamHistory].self) { group in
                for range in ranges {
                    group.addTask {
                        try await spooling.foldStreams(in: range, upTo: head, into: []) {
                            $0.append($1)
                        }
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(found.map(\.stream.originalTransactionId).sorted() == ids.sorted())
            #expect(found.map(\.events.count) == ids.map { _ in 2 })
            await spooling.close()
        }
    }

    @Test(arguments: Variant.extremes)
    func `a range is folded to its end on the one thread that read it`(
        variant: Variant
    ) async throws {
        let filled = TamperedLog(variant: variant)
        try await filled.withCopy { settings in
            for options in [EventLog.Options(), .spooling] {
                let log = try await EventLog.open(settings, options)
                let head = try #require(try await log.heads()[filled.lane])
                for range in try await log.streamRanges(lane: filled.lane, upTo: head) {
                    let threads = try await log.foldStreams(
                        in: range,
                        upTo: head,
                        into: [ObjectIdentifier](),
                        { threads, _ in threads.append(ObjectIdentifier(Thread.current)) },
                        atEnd: { threads in threads.append(ObjectIdentifier(Thread.current)) }
                    )
                    #expect(threads.count > 1 && Set(threads).count == 1)
                }
                await log.close()
            }
        }
    }

    private static func histories(
        _ log: EventLog,
        _ lane: Int,
        _ head: EventLog.Head,
        _ isComplete: Bool
    ) async throws -> [StreamHistory] {
        let ranges = try await log.streamRanges(
            lane: lane,
            upTo: head,
            atLeast: 2,
            isComplete: isComplete
        )
        #expect(ranges.count == 2)
        var histories: [StreamHistory] = []
        for range in ranges {
            histories += try await log.foldStreams(in: range, upTo: head, into: []) {
                $0.append($1)
            }
        }
        return histories
    }
}
