import Foundation
import Synchronization
import Testing

@testable import Projector

/// What a rebuild holds between the threads that fold and the one that writes.
@Suite struct ChannelTests {
    // Of folds without a limit, many elements would come within so many turns.
    private static let turns = 1000
    private static let elements = 1000

    @Test func `a fold runs no further ahead of the writer than the channel has room`() async {
        let channel = Channel<Int>(waitingMax: 8, earlyMax: 16)
        let sent = Sent()
        Thread.detachNewThread {
            for element in 0..<Self.elements where channel.send(element) { sent.add() }
            channel.finish()
        }
        await sent.reach(8)
        for received in 0..<Self.elements {
            #expect(sent.count <= 8 + received)
            #expect(channel.receive() == received)
        }
        #expect(channel.receive() == nil)
    }

    @Test func `of later parts no more is folded ahead than the channel has room`() async {
        let channel = Channel<Int>(waitingMax: 8, earlyMax: 16)
        let sent = Sent()
        Thread.detachNewThread {
            for element in 0..<Self.elements where channel.send(element, ofPart: 1) { sent.add() }
        }
        await sent.reach(16)
        #expect(sent.count == 16)
        channel.abandon()
    }

    /// How many elements were sent.
    private final class Sent: Sendable {
        private let number = Atomic<Int>(0)

        var count: Int { number.load(ordering: .sequentiallyConsistent) }

        func add() { number.add(1, ordering: .sequentiallyConsistent) }

        /// Waits until so many were sent, and then leaves time for more.
        func reach(_ count: Int) async {
            while self.count < count { await Task.yield() }
            for _ in 0..<ChannelTests.turns { await Task.yield() }
        }
    }
}
