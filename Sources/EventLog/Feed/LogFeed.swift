import Events

/// Reads the log page by page, starting at a cursor.
///
/// Within a lane, events come by offset and without gaps; the lanes take turns of one page, so none
/// waits for another to end. Every page is compared with the commit it follows, so a log that was
/// restored or forked while it was read is an error.
///
/// Only events move the cursor. A commit with nothing but confirmations is read once, unless a
/// reader starts again at a cursor before it.
package struct LogFeed: Sendable {
    /// The reader's place in a lane.
    struct Lane: Sendable {
        /// Offset of the last event that was read; 0 for none.
        var offset: Int64 = 0
        /// The newest commit that was read: the one that contains `offset`, or a later one without
        /// events; nil for none.
        var newest: CommitMark?
        /// Number of the newest commit whose confirmations were passed on.
        var confirmed: Int64 = 0
    }

    /// The cursor after all pages so far.
    package private(set) var cursor: FeedCursor

    private let log: EventLog
    private var lanes: [Int: Lane]
    /// The lanes that had unread commits when the heads were last read, in turn.
    private var waiting: [(lane: Int, head: CommitMark)] = []
    /// What was read from the first of these lanes, in their order.
    private var read: [Result<EventLog.FeedRead, EventLogError>] = []

    /// The most lanes that are read at once, each one page: a server is asked once for all of them,
    /// and memory stays bounded.
    private static let lanesMax = 8

    init(log: EventLog, cursor: FeedCursor, lanes: [Int: Lane]) {
        self.log = log
        self.cursor = cursor
        self.lanes = lanes
    }

    /// The next events; nil if everything committed was read.
    ///
    /// Calling it again later continues. After an error, the feed stays at its place.
    ///
    /// - Returns: At most `FeedPage.eventsMax` events of one lane, with the confirmations among them.
    /// - Throws: `cursorNotOfLog` and `cursorBeyondLog` if the log is not the one that was read so
    ///   far, `malformedLog`, `databaseUnavailable`.
    package mutating func nextPage() async throws(EventLogError) -> FeedPage? {
        if waiting.isEmpty { waiting = try await lanesWithNews() }
        while let (number, head) = waiting.first {
            if self.read.isEmpty { self.read = try await readLanes() }
            let read: EventLog.FeedRead
            switch self.read.removeFirst() {
            case .success(let found): read = found
            case .failure(let error):
                self.read = []
                throw error
            }
            waiting.removeFirst()
            lanes[number] = read.lane
            if read.lane.isBehind(head) { waiting.append((number, head)) }
            guard !read.events.isEmpty || !read.confirmations.isEmpty else { continue }
            let page = FeedPage(
                before: cursor,
                lane: number,
                events: read.events,
                confirmations: read.confirmations
            )
            if let last = read.events.last { cursor.advance(to: last.mark) }
            return page
        }
        return nil
    }

    /// Number of the newest commit of a lane that was read; nil for none.
    func commitLookedAt(inLane lane: Int) -> Int64? { lanes[lane]?.newest?.commit.number }

    private func readLanes() async throws(EventLogError)
        -> [Result<EventLog.FeedRead, EventLogError>]
    {
        let next = waiting.prefix(LogFeed.lanesMax)
        return try await log.pages(after: next.map { ($0.lane, lanes[$0.lane] ?? Lane()) })
    }

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

extension LogFeed.Lane {
    /// Whether the lane has unread events or confirmations, up to this commit.
    func isBehind(_ head: CommitMark) -> Bool {
        guard let newest else { return true }
        if newest.commit.number > confirmed, newest.commit.confirmations > 0 { return true }
        return head.commit.number > newest.commit.number || offset < newest.offset
    }
}
