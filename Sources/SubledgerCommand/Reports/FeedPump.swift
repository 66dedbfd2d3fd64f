import CommandSupport
import EventLog
import Events
import Foundation
import Subledger

/// Moves events from the log to stdout, page by page; little is read that the reader does not take.
struct FeedPump {
    /// Why it ended.
    enum End {
        /// Everything requested was written.
        case done
        /// The reader is gone.
        case readerGone
        /// A signal requested it.
        case stopped
    }

    private var feed: LogFeed
    private var output = LineOutput()
    private var linesLeft: Int
    // Reports an outage only once.
    private var isReachable = true

    /// How long a signal, or a reader that is gone, may go unnoticed while nothing happens, in
    /// milliseconds.
    private static let watchMilliseconds: Int64 = 100

    /// A pump for at most this many lines.
    init(_ feed: LogFeed, linesMax: Int) {
        self.feed = feed
        linesLeft = linesMax
    }

    /// Moves everything committed and, when following, later commits.
    ///
    /// When following, it waits for a database that is unavailable; an error of the log ends it.
    ///
    /// - Parameter seconds: The polling interval for new commits; nil to end at the end of the log.
    /// - Returns: Why it ended.
    /// - Throws: `EventLogError`; a `Failure` if stdout cannot be written.
    mutating func run(following seconds: Double?) async throws -> End {
        do {
            while true {
                let end = try await moveAll(isPatient: seconds != nil)
                guard end == nil, let seconds else { return end ?? .done }
                if let end = try await FeedPump.wait(seconds) { return end }
            }
        } catch let end as LineOutput.End {
            return FeedPump.end(end)
        }
    }

    // Nil if the end of the log was reached, or if the database is unavailable for now.
    private mutating func moveAll(isPatient: Bool) async throws -> End? {
        do {
            let end = try await moveAll()
            isReachable = true
            return end
        } catch let error as EventLogError where isPatient && error.isRetryable {
            if isReachable { Terminal.write("subledger: \(error); retrying") }
            isReachable = false
            return nil
        }
    }

    // Nil if the end of the log was reached.
    private mutating func moveAll() async throws -> End? {
        while let page = try await feed.nextPage() {
            try move(page)
            if linesLeft == 0 { return .done }
            if Interrupt.isRequested { return .stopped }
        }
        return Interrupt.isRequested ? .stopped : nil
    }

    private mutating func move(_ page: FeedPage) throws {
        let line = FeedLine(page)
        for event in page.events.prefix(linesLeft) {
            try output.add { line.append(event, to: &$0) }
        }
        linesLeft -= min(linesLeft, page.events.count)
        // Flushed now at the latest, so a reader who follows does not wait for the next page.
        try output.flush()
    }

    // Ends early on a signal, or if the reader is gone.
    private static func wait(_ seconds: Double) async throws -> End? {
        let end = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < end {
            if Interrupt.isRequested { return .stopped }
            if LineOutput.isReaderGone { return .readerGone }
            let slice = ContinuousClock.now + .milliseconds(watchMilliseconds)
            try await Task.sleep(until: min(end, slice), clock: .continuous)
        }
        return nil
    }

    private static func end(_ end: LineOutput.End) -> End {
        switch end {
        case .readerGone: .readerGone
        case .stopped: .stopped
        }
    }
}
