public import Events

extension EventLog {
    /// The events after a cursor, for a reader that follows the log.
    ///
    /// - Parameter cursor: Where the reader stopped; `.beginning` for the first time.
    /// - Returns: The feed from there on.
    /// - Throws: `cursorNotOfLog` where the log does not hold the commit that the cursor names (it
    ///   was restored from an older copy, forked, or is another one), `cursorBeyondLog` where it
    ///   ends before it, `databaseUnavailable`.
    public func feed(after cursor: FeedCursor) async throws(EventLogError) -> LogFeed {
        var lanes: [Int: LogFeed.Lane] = [:]
        for mark in cursor.marks {
            guard mark.lane < identity.lanes.value else {
                throw EventLogError(
                    .cursorNotOfLog,
                    "the cursor names lane \(mark.lane), but this ledger has "
                        + "\(identity.lanes.value) lanes, from 0: it was made from another log. "
                        + FeedCursor.wayOut
                )
            }
            let commit = try await newestCommit(
                lane: mark.lane,
                knownAt: .offsets([mark.lane: mark.offset])
            )
            guard let commit, commit.offset >= mark.offset else {
                throw EventLogError.cursorBeyondLog(mark, end: commit)
            }
            guard FeedCursor.Mark(offset: mark.offset, in: commit) == mark else {
                throw EventLogError.cursorNotOfLog(mark, found: commit)
            }
            lanes[mark.lane] = LogFeed.Lane(offset: mark.offset, newest: commit)
        }
        return LogFeed(log: self, cursor: cursor, lanes: lanes)
    }
}

/// An event of the feed, with where it came from.
public struct FedEvent: Sendable {
    /// The event.
    public let event: Event
    /// Where it came from; nil where the payload is missing, which `verify` finds.
    public let evidence: EvidenceSummary?
    /// What the cursor says of its lane once it was read.
    public let mark: FeedCursor.Mark
}

/// A run of events of one lane.
public struct FeedPage: Sendable {
    /// The cursor before the first of them.
    public let before: FeedCursor
    /// The lane.
    public let lane: Int
    /// By offset, without holes; at least one.
    public let events: [FedEvent]
}

/// Reads the log on from a cursor, page by page.
///
/// Within a lane events come by offset and without holes; the lanes take turns, a page each, so
/// that none waits for another to end. Every page is held against the commit it follows on, so that
/// a log that was restored or forked while it was read is an error.
///
/// Only events move the cursor. A commit that brought nothing but confirmations is passed over: it
/// is read once, and no later.
public struct LogFeed: Sendable {
    /// How far a lane was read.
    struct Lane: Sendable {
        /// Offset of the last event that was read; 0 for none.
        var offset: Int64 = 0
        /// The newest commit that was looked at: the one that holds `offset`, or a later one
        /// without events; nil for none.
        var newest: CommitMark?
    }

    /// The cursor after all pages so far.
    public private(set) var cursor: FeedCursor

    private let log: EventLog
    private var lanes: [Int: Lane]
    /// The lanes that had something to read when the heads were last looked up, in turn.
    private var waiting: [(lane: Int, head: CommitMark)] = []

    init(log: EventLog, cursor: FeedCursor, lanes: [Int: Lane]) {
        self.log = log
        self.cursor = cursor
        self.lanes = lanes
    }

    /// The next events; nil where all that is committed was read.
    ///
    /// Asking again later goes on. After an error the feed stands where it stood.
    ///
    /// - Returns: At most `FeedPage.eventsMax` events of one lane.
    /// - Throws: `cursorNotOfLog` and `cursorBeyondLog` where the log is not the one that was read
    ///   so far, `malformedLog`, `databaseUnavailable`.
    public mutating func nextPage() async throws(EventLogError) -> FeedPage? {
        if waiting.isEmpty { waiting = try await lanesWithNews() }
        while let (number, head) = waiting.first {
            let lane = lanes[number] ?? Lane()
            let read = try await log.page(of: number, after: lane)
            waiting.removeFirst()
            lanes[number] = read.lane
            if read.lane.isBehind(head) { waiting.append((number, head)) }
            guard let last = read.events.last else { continue }
            let page = FeedPage(before: cursor, lane: number, events: read.events)
            cursor.advance(to: last.mark)
            return page
        }
        return nil
    }

    /// Number of the newest commit of a lane that was looked at; nil for none.
    func commitLookedAt(inLane lane: Int) -> Int64? { lanes[lane]?.newest?.commit.number }

    private func lanesWithNews() async throws(EventLogError) -> [(lane: Int, head: CommitMark)] {
        let heads = try await log.headMarks()
        for (number, lane) in lanes {
            guard let newest = lane.newest else { continue }
            guard let head = heads[number], head.commit.number >= newest.commit.number else {
                throw EventLogError.cursorBeyondLog(newest, end: heads[number])
            }
            guard head.commit.number > newest.commit.number || head == newest else {
                throw EventLogError.cursorNotOfLog(newest, found: head)
            }
        }
        return heads.filter { (lanes[$0.key] ?? Lane()).isBehind($0.value) }
            .map { (lane: $0.key, head: $0.value) }
            .sorted { $0.lane < $1.lane }
    }
}

extension FeedPage {
    /// Most events of a page: one round of statements for them costs little against writing them,
    /// and the greatest contents that there can be take thirty megabytes.
    public static let eventsMax = 500
}

extension LogFeed.Lane {
    /// Whether the lane holds anything that was not looked at, up to that commit.
    func isBehind(_ head: CommitMark) -> Bool {
        guard let newest else { return true }
        return head.commit.number > newest.commit.number || offset < newest.offset
    }
}

extension FeedCursor {
    /// What to do with a cursor that the log does not know.
    static let wayOut = """
        Connect to the log the cursor came from, or drop what was read from it and start without \
        a cursor; `subledger verify --against` tells two copies of a log apart
        """
}

extension EventLogError {
    /// The log holds another commit where the cursor's should be.
    static func cursorNotOfLog(_ mark: FeedCursor.Mark, found: CommitMark) -> EventLogError {
        let other = FeedCursor.Mark(offset: mark.offset, in: found)
        return EventLogError(
            .cursorNotOfLog,
            "the cursor was made from another log: in lane \(mark.lane), event \(mark.offset) "
                + "belongs to commit \(found.commit.number) with digest \(other.digestWord)…, "
                + "where the cursor says \(mark.digestWord)…; the log was forked, or restored from "
                + "an older copy and written on. \(FeedCursor.wayOut)"
        )
    }

    /// The log ends before the cursor.
    static func cursorBeyondLog(_ mark: FeedCursor.Mark, end: CommitMark?) -> EventLogError {
        EventLogError(
            .cursorBeyondLog,
            "the cursor is ahead of the log: it says that event \(mark.offset) of lane "
                + "\(mark.lane) was read, under digest \(mark.digestWord)…, but that lane "
                + FeedCursor.end(end)
                + "; an older copy was restored, or it is another log. \(FeedCursor.wayOut)"
        )
    }

    /// The same while the log was read.
    static func cursorNotOfLog(_ read: CommitMark, found: CommitMark) -> EventLogError {
        EventLogError(
            .cursorNotOfLog,
            "the log was exchanged while it was read: commit \(read.commit.number) of lane "
                + "\(read.commit.lane) had digest \(read.digest), and now has \(found.digest); "
                + "it was restored from an older copy and written on. \(FeedCursor.wayOut)"
        )
    }

    /// The same while the log was read.
    static func cursorBeyondLog(_ read: CommitMark, end: CommitMark?) -> EventLogError {
        EventLogError(
            .cursorBeyondLog,
            "the log was exchanged while it was read: commit \(read.commit.number) of lane "
                + "\(read.commit.lane), with digest \(read.digest), is gone, and that lane "
                + FeedCursor.end(end) + "; an older copy was restored. \(FeedCursor.wayOut)"
        )
    }
}

extension FeedCursor {
    fileprivate static func end(_ end: CommitMark?) -> String {
        guard let end else { return "is empty" }
        return "ends at event \(end.offset) with commit \(end.commit.number), digest "
            + Mark(offset: end.offset, in: end).digestWord + "…"
    }
}
