import EventLog
import Events
import Foundation

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
    private let lanes: LaneCount

    /// How long a signal, or a reader that went away, may be overlooked while nothing happens.
    private static let watchMilliseconds: Int64 = 100

    /// A pump of at most so many lines.
    init(_ feed: LogFeed, lanes: LaneCount, linesMax: Int) {
        self.feed = feed
        self.lanes = lanes
        linesLeft = linesMax
    }

    /// Moves all that is committed.
    mutating func run() async throws -> End {
        do {
            return try await moveAll() ?? .done
        } catch let end as LineOutput.End {
            return FeedPump.end(end)
        }
    }

    /// Moves all that is committed, and what is committed later.
    ///
    /// A database that goes away is waited for; what is wrong with the log ends it.
    mutating func follow(every seconds: Double) async throws -> End {
        var isReachable = true
        do {
            while true {
                do {
                    if let end = try await moveAll() { return end }
                    isReachable = true
                } catch let error as EventLogError where error.isRetryable {
                    if isReachable { Terminal.write("subledger: \(error); trying on") }
                    isReachable = false
                }
                if let end = try await FeedPump.wait(seconds) { return end }
            }
        } catch let end as LineOutput.End {
            return FeedPump.end(end)
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
