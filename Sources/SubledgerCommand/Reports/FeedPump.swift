import CommandSupport
import EventLog
import Events
import Foundation
import Subledger

/// Moves events and confirmations from the log to stdout, page by page; little is read that the
/// reader does not take.
struct FeedPump {
    private var feed: LogFeed
    private var output = LineOutput()
    private var eventsLeft: Int
    // Reports an outage only once.
    private var isReachable = true

    /// How long a signal, or a reader that is gone, may go unnoticed while nothing happens, in
    /// milliseconds.
    private static let watchMilliseconds: Int64 = 100

    /// A pump for at most this many events, with the confirmations before them.
    init(_ feed: LogFeed, eventsMax: Int) {
        self.feed = feed
        eventsLeft = eventsMax
    }

    /// Moves everything committed and, when following, later commits.
    ///
    /// When following, it waits for a database that is unavailable; an error of the log ends it.
    ///
    /// - Parameter seconds: The polling interval for new commits; nil to end at the end of the log.
    /// - Returns: Why it ended before everything requested was written; nil if it did not.
    /// - Throws: `EventLogError`; a `Failure` if stdout cannot be written.
    mutating func run(following seconds: Double?) async throws -> LineOutput.End? {
        do {
            while true {
                try await moveAll(isPatient: seconds != nil)
                guard eventsLeft > 0, let seconds else { return nil }
                try await FeedPump.wait(seconds)
            }
        } catch let end as LineOutput.End {
            return end
        }
    }

    // Up to the end of the log, or of what was requested; less if the database is unavailable for
    // now.
    private mutating func moveAll(isPatient: Bool) async throws {
        do {
            while let page = try await feed.nextPage() {
                try move(page)
                if eventsLeft == 0 { return }
                try FeedPump.heed()
            }
            try FeedPump.heed()
            isReachable = true
        } catch let error as EventLogError where isPatient && error.isRetryable {
            if isReachable { Terminal.write("subledger: \(error); retrying") }
            isReachable = false
        }
    }

    private mutating func move(_ page: FeedPage) throws {
        var writer = FeedLine(page)
        for line in page.lines(eventsMax: eventsLeft) {
            try output.add { writer.append(line, to: &$0) }
        }
        eventsLeft -= min(eventsLeft, page.events.count)
        // Flushed now at the latest, so a reader who follows does not wait for the next page.
        try output.flush()
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
