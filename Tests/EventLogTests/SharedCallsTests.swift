import Events
import Synchronization
import Testing

@testable import EventLog

/// Callers that arrive while a statement is under way share the next one.
struct SharedCallsTests {
    private static let callers = 20

    private func digest(_ number: Int) -> Digest { .of(Array("\(number)".utf8)) }

    @Test
    func `callers during a statement share the next one, and each gets its answer`()
        async throws
    {
        let calls = SharedCalls<[Digest], Int>(sizeMax: 1000)
        let asked = Mutex<[[Digest]]>([])
        let (began, begin) = AsyncStream.makeStream(of: Void.self)
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let work: SharedCalls<[Digest], Int>.Work = { digests in
            let isFirst = asked.withLock { asked in
                asked.append(Array(digests.joined()))
                return asked.count == 1
            }
            guard isFirst else { return digests.count }
            begin.yield()
            for await _ in released { break }
            return digests.count
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            func join(_ number: Int) {
                group.addTask {
                    let found = try await calls.join([digest(number)], size: 1, work)
                    #expect(found == (number == 0 ? 1 : Self.callers - 1))
                }
            }
            join(0)
            for await _ in began { break }
            for number in 1..<Self.callers { join(number) }
            // All of them wait before the first statement ends.
            while await calls.waitingCount < Self.callers - 1 { await Task.yield() }
            release.yield()
            try await group.waitForAll()
        }
        let statements = asked.withLock { $0 }
        #expect(statements.count == 2)
        #expect(statements.first == [digest(0)])
        let all = Set(statements.joined())
        #expect(all == Set((0..<Self.callers).map(digest)))
    }

    @Test func `an error reaches every caller that waited, and the next caller retries`()
        async throws
    {
        let calls = SharedCalls<Digest, Bool>(sizeMax: 1000)
        let error = await #expect(throws: EventLogError.self) {
            try await calls.join(digest(1), size: 1) { _ throws(EventLogError) in
                throw EventLogError(.databaseUnavailable, "away")
            }
        }
        #expect(error?.code == .databaseUnavailable)
        #expect(try await calls.join(digest(1), size: 1) { _ throws(EventLogError) in true })
    }
}
