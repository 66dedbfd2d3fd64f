import HTTPTypes
import Synchronization
import Testing

@testable import SubledgerHTTP

/// What strangers may send, counted with a clock that the test moves.
struct SenderLimitsTests {
    private let flooder = "198.51.100.7"
    private let other = "17.58.0.1"
    private let clock = MovedClock()

    /// A clock that stands still until it is moved.
    private final class MovedClock: Sendable {
        private let instant = Mutex(ContinuousClock.now)
        var now: ContinuousClock.Instant { instant.withLock { $0 } }
        func advance(seconds: Int) { instant.withLock { $0 += .seconds(seconds) } }
    }

    private func limits(_ change: (inout ServiceLimits) -> Void = { _ in }) -> SenderLimits {
        var limits = ServiceLimits()
        limits.strangerRequestsPerSecond = 1
        limits.strangerRequestsBurst = 5
        limits.strangersRequestsPerSecond = 2
        limits.strangersRequestsBurst = 20
        limits.strangerBodiesMax = 2
        limits.strangersBodiesMax = 3
        change(&limits)
        return SenderLimits(limits) { [clock] in clock.now }
    }

    // What each of so many requests ended in: nil if it was admitted.
    private func send(
        _ count: Int,
        from address: String?,
        _ outcome: SenderLimits.Outcome,
        _ limits: SenderLimits
    ) -> [SenderLimits.Limit?] {
        (0..<count).map { _ in
            do throws(SenderLimits.Limit) {
                limits.end(try limits.begin(address), outcome)
                return nil
            } catch {
                return error
            }
        }
    }

    @Test func `whoever waited too long for a turn leaves, and the others keep their order`()
        async throws
    {
        let turns = Turns<Int>()
        let order = Order()
        let (began, ended) = (Signal(), Signal())
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await turns.inTurn(1, within: 0) {
                    began.give()
                    await ended.wait()
                    order.add("first")
                }
            }
            await began.wait()
            let late = await #expect(throws: Problem.self) {
                try await turns.inTurn(1, within: 0.01) { order.add("late") }
            }
            #expect(late?.status == .serviceUnavailable)
            // Another thing has turns of its own.
            try await turns.inTurn(2, within: 0.01) { order.add("other") }
            group.addTask {
                try await turns.inTurn(1, within: 0) { order.add("second") }
            }
            ended.give()
            try await group.waitForAll()
        }
        #expect(order.words == ["other", "first", "second"])
    }

    /// What happened, in order.
    private final class Order: Sendable {
        private let all = Mutex<[String]>([])
        var words: [String] { all.withLock { $0 } }
        func add(_ word: String) { all.withLock { $0.append(word) } }
    }

    /// Something that one task waits for.
    private final class Signal: Sendable {
        private let (stream, continuation) = AsyncStream<Void>.makeStream()
        func give() { continuation.finish() }
        func wait() async { for await _ in stream {} }
    }

    @Test func `an address that sends only what is refused is limited, and others are not`() {
        let limits = limits()
        let flood = send(50, from: flooder, .refused, limits)
        #expect(
            flood == Array(repeating: nil, count: 5) + Array(repeating: .addressRate, count: 45)
        )
        #expect(send(1, from: other, .accepted, limits) == [nil])
        #expect(send(100, from: other, .accepted, limits).allSatisfy { $0 == nil })
        clock.advance(seconds: 2)
        let later = send(3, from: flooder, .refused, limits)
        #expect(later == [nil, nil, .addressRate])
    }

    @Test func `many addresses together are limited, and one that is known is not`() {
        let limits = limits()
        #expect(send(1, from: other, .accepted, limits) == [nil])
        let flood = (0..<40).flatMap { number in
            send(1, from: "203.0.113.\(number)", .refused, limits)
        }
        #expect(flood.count { $0 == nil } == 19 && flood.count { $0 == .rate } == 21)
        #expect(send(100, from: other, .accepted, limits).allSatisfy { $0 == nil })
        clock.advance(seconds: 3600)
        #expect(send(7, from: other, .refused, limits).count { $0 == nil } == 5)
    }

    @Test func `addresses of one network of IPv6 count as one`() {
        let limits = limits()
        let flood = (0..<20).flatMap { number in
            send(1, from: "2001:db8::\(number)", .refused, limits)
        }
        #expect(flood.count { $0 == nil } == 5)
    }

    @Test func `concurrent bodies are limited for an address and for all, not for known ones`()
        throws
    {
        let limits = limits { $0.strangerRequestsBurst = 100 }
        #expect(send(1, from: other, .accepted, limits) == [nil])
        let first = try (0..<2).map { _ in try limits.begin(flooder) }
        #expect(send(1, from: flooder, .refused, limits) == [.addressBodies])
        let third = try limits.begin("203.0.113.1")
        #expect(send(1, from: "203.0.113.2", .refused, limits) == [.bodies])
        let known = try (0..<50).map { _ in try limits.begin(other) }
        #expect(known.allSatisfy { !$0.waitsForTurn })
        for ticket in first + [third] { limits.end(ticket, .undecided) }
        #expect(send(1, from: flooder, .refused, limits) == [nil])
    }

    @Test func `a known address that floods has to wait its turn and is not refused`() throws {
        let limits = limits()
        #expect(send(1, from: flooder, .accepted, limits) == [nil])
        #expect(send(50, from: flooder, .refused, limits).allSatisfy { $0 == nil })
        let flooding = try limits.begin(flooder)
        #expect(flooding.waitsForTurn)
        clock.advance(seconds: 10)
        let calm = try limits.begin(flooder)
        #expect(!calm.waitsForTurn)
    }
}
