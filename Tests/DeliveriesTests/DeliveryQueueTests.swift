import EventLog
import Events
import Synchronization
import TestSupport
import Testing

@testable import Deliveries

/// The messages of a webhook in memory, with a clock of our own.
struct DeliveryQueueTests {
    private final class Clock: Sendable {
        private let now = Mutex(Instant(milliseconds: 1_800_000_000_000))
        var instant: Instant { now.withLock { $0 } }
        func advance(seconds: Int64) { now.withLock { $0.milliseconds += seconds * 1000 } }
    }

    private let clock = Clock()

    private func queue(_ limits: DeliveryQueue.Limits = DeliveryQueue.Limits()) -> DeliveryQueue {
        DeliveryQueue(limits: limits) { [clock] in clock.instant }
    }

    private func read(_ stream: Int, _ number: Int) -> DeliveryQueue.Read {
        let effect = PendingMessage.Effect(
            stream: StreamID(environment: .production, originalTransactionId: "\(stream)"),
            lane: 0,
            commit: Int64(number),
            ordinal: 1
        )
        return DeliveryQueue.Read(
            delivery: PendingMessage(
                messageId: "\(number)",
                effect: effect,
                firstSentAt: clock.instant
            ),
            body: [1],
            cursor: CommitCursor("0:\(number):0123456789abcdef") ?? .beginning
        )
    }

    private func cursor(_ number: Int) -> CommitCursor? {
        CommitCursor("0:\(number):0123456789abcdef")
    }

    private func take(_ queue: DeliveryQueue, _ messages: [(stream: Int, number: Int)]) async {
        let read = messages.map { self.read($0.stream, $0.number) }
        await queue.take(read, upTo: read.last?.cursor ?? .beginning)
    }

    @Test func `a message that fails for three days is given up, and the next one is sent`()
        async throws
    {
        let queue = queue()
        await take(queue, [(1, 1), (1, 2), (2, 3)])
        var attempts = 0
        let start = clock.instant
        var others: [String] = []
        while true {
            let message = try #require(await queue.next())
            guard message.messageId == "1" else {
                others.append(message.messageId)
                await queue.end(message.number, .sent(.accepted))
                if message.messageId == "2" { break }
                continue
            }
            attempts += 1
            await queue.end(message.number, .sent(.refused("it answered 500", retryAt: nil)))
            clock.advance(seconds: 80_000)
            await queue.tick()
        }
        #expect(attempts == RetrySchedule.seconds.count + 1)
        #expect(others == ["3", "2"])
        #expect(clock.instant > start)
        let settlement = await queue.settlement()
        #expect(settlement.cursor == cursor(3) && settlement.done.isEmpty)
        #expect(settlement.kept.map(\.messageId) == ["1"])
        #expect(settlement.kept.first?.nextAttemptAt == nil)
        #expect(settlement.kept.first?.failure == "it answered 500")
    }

    @Test func `the place passes a message that failed, and those behind it, once they are stored`()
        async throws
    {
        let queue = queue()
        await take(queue, [(1, 1), (2, 2), (1, 3)])
        let first = try #require(await queue.next())
        let second = try #require(await queue.next())
        // Both are on their way: nothing may be passed.
        #expect(await queue.settlement().isEmpty)
        await queue.end(second.number, .sent(.accepted))
        #expect(await queue.settlement().isEmpty)
        await queue.end(first.number, .sent(.refused("no", retryAt: nil)))
        let passed = await queue.settlement()
        #expect(passed.cursor == cursor(3))
        #expect(passed.kept.map(\.messageId) == ["1", "3"])
        #expect(passed.kept.map(\.attempts) == [1, 0])
        clock.advance(seconds: 2)
        await queue.tick()
        for id in ["1", "3"] {
            let message = try #require(await queue.next())
            #expect(message.messageId == id)
            await queue.end(message.number, .sent(.accepted))
        }
        let end = await queue.settlement()
        #expect(end.done == ["1", "3"] && end.kept.isEmpty && end.cursor == nil)
        #expect(await queue.isIdle)
    }

    @Test
    func `while nothing is accepted one message is tried at a time, and then all come at once`()
        async throws
    {
        let queue = queue()
        await take(queue, (1...40).map { ($0, $0) })
        for _ in 0..<20 {
            let message = try #require(await queue.next())
            await queue.end(message.number, .sent(.refused("no connection", retryAt: nil)))
        }
        // Everything that was read is stored, and no more is read.
        let settlement = await queue.settlement()
        #expect(settlement.cursor == cursor(40) && settlement.kept.count == 40)
        var probes = 0
        for _ in 0..<30 {
            clock.advance(seconds: 301)
            await queue.tick()
            let probe = try #require(await queue.next())
            probes += 1
            await queue.end(probe.number, .sent(.refused("no connection", retryAt: nil)))
        }
        // The receiver is down, not the message: nothing was given up.
        #expect(await queue.settlement().kept.allSatisfy { $0.nextAttemptAt != nil })
        #expect(await queue.pauseReason == nil)
        clock.advance(seconds: 301)
        let probe = try #require(await queue.next())
        await queue.end(probe.number, .sent(.accepted))
        clock.advance(seconds: 301)
        await queue.tick()
        var sent = Set([probe.messageId])
        while sent.count < 40 {
            let message = try #require(await queue.next())
            sent.insert(message.messageId)
            await queue.end(message.number, .sent(.accepted))
        }
        #expect(await queue.isIdle)
        #expect(Set(await queue.settlement().done) == Set((1...40).map(String.init)))
    }

    @Test func `a receiver that accepts nothing for three days is paused`() async throws {
        let queue = queue()
        await take(queue, (1...30).map { ($0, $0) })
        var failures = 0
        while await queue.pauseReason == nil, failures < 2000 {
            let message = try #require(await queue.next())
            await queue.end(message.number, .sent(.refused("it answered 500", retryAt: nil)))
            failures += 1
            if failures >= 20 { clock.advance(seconds: 301) }
        }
        #expect(await queue.pauseReason?.contains("three days") == true)
        #expect((800..<1000).contains(failures))
        #expect(await queue.settlement().kept.count == 30)
    }

    @Test func `subscriptions that are always refused hold up no others`() async throws {
        let queue = queue()
        var accepted: Set<Int> = []
        func send(seconds: Int) async {
            for _ in 0..<seconds * 10 {
                while await queue.hasMessage, let message = await queue.next() {
                    let number = Int(message.messageId) ?? 0
                    let isRefused = number <= 180 && number.isMultiple(of: 3)
                    if !isRefused { accepted.insert(number) }
                    await queue.end(
                        message.number,
                        .sent(isRefused ? .refused("it answered 422", retryAt: nil) : .accepted)
                    )
                }
                if await !queue.hasMessage { clock.advance(seconds: 1) }
                await queue.tick()
                _ = await queue.settlement()
            }
        }
        await take(queue, (1...180).map { ($0, $0) })
        await send(seconds: 60)
        #expect(accepted.count == 120)
        // By now only messages are sent that were refused before.
        await take(queue, (181...220).map { ($0, $0) })
        await send(seconds: 1)
        #expect(accepted.isSuperset(of: 181...220))
        #expect(await queue.pauseReason == nil)
    }

    @Test func `a receiver that accepts one message in two seconds loses none`() async throws {
        let queue = queue()
        await take(queue, (1...300).map { ($0, $0) })
        var (accepted, free): (Set<String>, Instant) = ([], clock.instant)
        for _ in 0..<400_000 where accepted.count < 300 {
            while await queue.hasMessage, let message = await queue.next() {
                guard clock.instant >= free else {
                    await queue.end(
                        message.number,
                        .sent(.refused("it answered 429", retryAt: nil))
                    )
                    continue
                }
                accepted.insert(message.messageId)
                free = Instant(milliseconds: clock.instant.milliseconds + 2000)
                await queue.end(message.number, .sent(.accepted))
            }
            #expect(await queue.settlement().kept.allSatisfy { $0.nextAttemptAt != nil })
            clock.advance(seconds: 1)
            await queue.tick()
        }
        #expect(accepted.count == 300)
    }

    /// Random faults: every message is accepted in the order of its subscription, and at each place
    /// that was stored, whatever is not stored beside it was accepted.
    @Test func `whatever fails, nothing is passed that was neither accepted nor stored`()
        async throws
    {
        for seed in UInt64(1)...20 {
            var random = SeededGenerator(seed: seed)
            let queue = queue(DeliveryQueue.Limits(concurrency: 5, messagesMax: 100, windowMax: 50))
            let all = (1...200).map { (stream: Int.random(in: 1...12, using: &random), number: $0) }
            var (unread, flying):
                (ArraySlice<(stream: Int, number: Int)>, [DeliveryQueue.Assignment])
            (unread, flying) = (all[...], [])
            var (accepted, stored, place): ([Int], Set<Int>, Int) = ([], [], 0)
            while accepted.count < all.count {
                switch Int.random(in: 0..<6, using: &random) {
                case 0 where !unread.isEmpty:
                    let part = unread.prefix(Int.random(in: 1...20, using: &random))
                    unread = unread.dropFirst(part.count)
                    await take(queue, Array(part))
                case 1:
                    clock.advance(seconds: Int64.random(in: 1...400, using: &random))
                    await queue.tick()
                case 2:
                    let settlement = await queue.settlement()
                    for id in settlement.done { stored.remove(Int(id) ?? 0) }
                    for kept in settlement.kept { stored.insert(Int(kept.messageId) ?? 0) }
                    if let cursor = settlement.cursor {
                        place = Int("\(cursor)".split(separator: ":")[1]) ?? 0
                    }
                    let missing = Set(1...max(1, place)).subtracting(accepted).subtracting(stored)
                    #expect(place == 0 || missing.isEmpty, "seed \(seed)")
                default:
                    if flying.count < 5, await queue.hasMessage, let next = await queue.next() {
                        flying.append(next)
                    }
                    guard let index = flying.indices.randomElement(using: &random) else { continue }
                    let message = flying.remove(at: index)
                    let number = Int(message.messageId) ?? 0
                    switch Int.random(in: 0..<10, using: &random) {
                    case 0: await queue.putBack(message.number)
                    case 1...2:
                        await queue.end(message.number, .sent(.refused("no", retryAt: nil)))
                    default:
                        accepted.append(number)
                        await queue.end(message.number, .sent(.accepted))
                    }
                }
            }
            for stream in 1...12 {
                let own = all.filter { $0.stream == stream }.map(\.number)
                #expect(accepted.filter(own.contains) == own, "seed \(seed)")
            }
        }
    }
}
