import CommandSupport
import EventLog
import Events
import Foundation
import Subledger

/// Moves events from the log to stdout, a page at a time: what is not taken is not read.
struct FeedPump {
    /// Why it ended.
    enum End {
        /// All that was asked for is out.
        case done
        /// Nobody reads any more.
        case readerGone
        /// A signal asked for it.
        case stopped
    }

    private var feed: LogFeed
    private var output = LineOutput()
    private var linesLeft: Int
    // So that an outage is told once.
    private var isReachable = true
    private let lanes: LaneCount

    /// How long a signal, or a reader that went away, may be overlooked while nothing happens.
    private static let watchMilliseconds: Int64 = 100

    /// A pump of at most so many lines.
    init(_ feed: LogFeed, lanes: LaneCount, linesMax: Int) {
        self.feed = feed
        self.lanes = lanes
        linesLeft = linesMax
    }

    /// Moves all that is committed and, where it follows, what is committed later.
    ///
    /// While it follows, a database that goes away is waited for; what is wrong with the log ends
    /// it.
    ///
    /// - Parameter seconds: How often to look for new commits; nil to end where the log does.
    /// - Returns: Why it ended.
    /// - Throws: `EventLogError`; a `Failure` where stdout cannot be written.
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

    // Nil where the end of the log was reached, or for now the database cannot be.
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

    // Nil where the end of the log was reached.
    private mutating func moveAll() async throws -> End? {
        while let page = try await feed.nextPage() {
            try move(page)
            if linesLeft == 0 { return .done }
            if Interrupt.isRequested { return .stopped }
        }
        return Interrupt.isRequested ? .stopped : nil
    }

    private mutating func move(_ page: FeedPage) throws {
        let line = FeedLine(page, lanes: lanes)
        for event in page.events.prefix(linesLeft) {
            try output.add { line.append(event, to: &$0) }
        }
        linesLeft -= min(linesLeft, page.events.count)
        // At the latest now: a reader of what is followed must not wait for the next page.
        try output.flush()
    }

    // Ends early where a signal or the reader asks for it.
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
