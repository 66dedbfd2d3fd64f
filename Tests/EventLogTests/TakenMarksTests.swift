import Events
import Synchronization
import Testing

@testable import EventLog

/// Callers that arrive while a statement is under way share the next one.
struct TakenMarksTests {
    private static let callers = 20

    private func digest(_ number: Int) -> Digest { .of(Array("\(number)".utf8)) }

    @Test
    func `callers during a statement share the next one, and each payload is in one`()
        async throws
    {
        let marks = TakenMarks()
        let asked = Mutex<[[Digest]]>([])
        let (began, begin) = AsyncStream.makeStream(of: Void.self)
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let work: @Sendable ([TakenMark]) async throws(EventLogError) -> Void = { marks in
            let isFirst = asked.withLock { asked in
                asked.append(marks.flatMap(\.digests))
                return asked.count == 1
            }
            guard isFirst else { return }
            begin.yield()
            for await _ in released { break }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            func join(_ number: Int) {
                let mark = TakenMark(digests: [digest(number)], instant: .epoch)
                group.addTask { try await marks.join(mark, work) }
            }
            join(0)
            for await _ in began { break }
            for number in 1..<Self.callers { join(number) }
            // All of them wait before the first statement ends.
            while await marks.waitingCount < Self.callers - 1 { await Task.yield() }
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
        let marks = TakenMarks()
        let mark = TakenMark(digests: [digest(1)], instant: .epoch)
        let error = await #expect(throws: EventLogError.self) {
            try await marks.join(mark) { _ throws(EventLogError) in
                throw EventLogError(.databaseUnavailable, "away")
            }
        }
        #expect(error?.code == .databaseUnavailable)
        try await marks.join(mark) { _ throws(EventLogError) in }
    }
}
