import CommandSupport
import EventLog
import Events
import Foundation
import Subledger

/// Moves events and confirmations from the log to stdout, page by page; little is read that the
/// reader does not take.
struct FeedPump {
    private let log: EventLog
    private let consumer: Consumer?
    /// Of CloudEvents; nil for plain lines.
    private let source: String?
    // The last event that was written, or where to begin.
    private var cursor: FeedCursor
    private var feed: LogFeed?
    // Holds the name of the consumer.
    private var session: FollowerSession?
    private var output = LineOutput()
    private var eventsLeft: Int
    // Reports an outage only once.
    private var isReachable = true

    /// How long a signal, or a reader that is gone, may go unnoticed while nothing happens, in
    /// milliseconds.
    private static let watchMilliseconds: Int64 = 100

    /// A pump.
    ///
    /// - Parameters:
    ///   - log: The log.
    ///   - cursor: Where to begin; of a consumer, only if it is new.
    ///   - consumer: Whose place is kept; nil for none.
    ///   - source: The source of CloudEvents; nil for plain lines.
    ///   - eventsMax: The most events, with the confirmations before them.
    init(
        _ log: EventLog,
        after cursor: FeedCursor,
        consumer: Consumer?,
        source: String?,
        eventsMax: Int
    ) {
        (self.log, self.cursor, self.consumer, self.source) = (log, cursor, consumer, source)
        eventsLeft = eventsMax
    }

    /// Moves everything committed and, when following, later commits.
    ///
    /// When following, it waits for a database that is unavailable, and for another process that
    /// reads under the name; an error of the log ends it.
    ///
    /// - Parameter seconds: The polling interval for new commits; nil to end at the end of the log.
    /// - Returns: Why it ended before everything requested was written; nil if it did not.
    /// - Throws: `EventLogError`; a `Failure` if stdout cannot be written.
    mutating func run(following seconds: Double?) async throws -> LineOutput.End? {
        let result: Result<LineOutput.End?, any Error>
        do {
            while true {
                try await moveAll(isPatient: seconds != nil)
                guard eventsLeft > 0, let seconds else { break }
                try await FeedPump.wait(seconds)
            }
            result = .success(nil)
        } catch let end as LineOutput.End {
            result = .success(end)
        } catch {
            result = .failure(error)
        }
        await session?.close()
        return try result.get()
    }

    // Up to the end of the log, or of what was requested; less if the database is unavailable for
    // now.
    private mutating func moveAll(isPatient: Bool) async throws {
        do {
            var feed = try await opened()
            while let page = try await feed.nextPage() {
                self.feed = feed
                try await move(page)
                if eventsLeft == 0 { return }
                try FeedPump.heed()
            }
            self.feed = feed
            try FeedPump.heed()
            isReachable = true
        } catch let error as EventLogError where isPatient && error.isRetryable {
            if isReachable { Terminal.write("subledger: \(error); retrying") }
            isReachable = false
            guard consumer != nil else { return }
            // Another process may have the name by now.
            await session?.close()
            (session, feed) = (nil, nil)
        }
    }

    // Continues where it was, unless another process has read under the name since.
    private mutating func opened() async throws(EventLogError) -> LogFeed {
        if let feed { return feed }
        var opened = try await log.feed(after: cursor)
        if let consumer {
            session = try await log.followerSession(of: consumer)
            let place = try await log.place(of: consumer, startingAt: cursor)
            if !place.isContinued, place.cursor != cursor {
                cursor = place.cursor
                opened = try await log.feed(after: cursor)
            }
        }
        feed = opened
        return opened
    }

    private mutating func move(_ page: FeedPage) async throws {
        var writer = FeedLine(page)
        for line in page.lines(eventsMax: eventsLeft) {
            try output.add {
                if let source {
                    writer.append(cloudEvent: line, source: source, to: &$0)
                } else {
                    writer.append(line, to: &$0)
                }
            }
        }
        let last = page.events.prefix(eventsLeft).last
        eventsLeft -= min(eventsLeft, page.events.count)
        // Flushed now at the latest, so a reader who follows does not wait for the next page.
        try output.flush()
        guard let last else { return }
        cursor = page.before
        cursor.advance(to: last.mark)
        if let consumer { try await log.acknowledge(cursor, of: consumer) }
    }

    // Ends early on a signal, or if the reader is gone.
    private static func wait(_ seconds: Double) async throws {
        let end = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < end {
            try heed()
            if LineOutput.isReaderGone { throw LineOutput.End.readerGone }
            let slice = ContinuousClock.now + .milliseconds(watchMilliseconds)
            try await Task.sleep(until: min(end, slice), clock: .continuous)
        }
    }

    private static func heed() throws(LineOutput.End) {
        if Interrupt.isRequested { throw .stopped }
    }
}
