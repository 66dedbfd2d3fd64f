package import Events
internal import Postgres

/// Reads the log commit by commit, starting at a cursor.
///
/// Within a lane, commits come in order and without gaps, because each is built upon the one before
/// it; the lanes take turns of one batch. Every batch is compared with the commit it follows, so a
/// log that was restored or forked while it was read is an error.
package struct CommitFeed: Sendable {
    private let log: EventLog
    /// The last commit of each lane that was passed on; none before the first.
    private var newest: [Int: CommitMark]
    /// How much of the next commit of a lane was taken before.
    private var taken: [Int: Int]
    /// The lanes that had unread commits when the heads were last read, in turn.
    private var waiting: [(lane: Int, head: CommitMark)] = []

    fileprivate init(log: EventLog, newest: [Int: CommitMark], taken: [Int: Int]) {
        self.log = log
        self.newest = newest
        self.taken = taken
    }

    /// Commits of one lane that follow each other.
    package struct Batch: Sendable {
        /// The lane.
        package let lane: Int
        /// The commit before them.
        package let before: EventLog.Head
        /// By number, without gaps; never empty.
        package let commits: [CommitMark]
        /// How much of the first one was taken before.
        package let taken: Int
    }

    /// The next commits; nil if everything committed was read.
    ///
    /// Calling it again later continues, with the same commits unless `pass` was called.
    ///
    /// - Parameter statementsMax: The most events and repetitions, unless the first commit has more.
    /// - Returns: The commits.
    /// - Throws: `cursorNotOfLog` and `cursorBeyondLog` if the log is not the one that was read so
    ///   far, `malformedLog`, `databaseUnavailable`.
    package mutating func next(
        statementsMax: Int
    ) async throws(EventLogError) -> Batch? {
        if waiting.isEmpty { waiting = try await lanesWithNews() }
        guard let (lane, _) = waiting.first else { return nil }
        let newest = newest[lane]
        var found = try await log.commits(lane: lane, from: newest?.commit.number ?? 1)
        if let newest {
            guard let first = found.first else {
                throw EventLogError.cursorBeyondLog(newest, end: nil)
            }
            guard first == newest else { throw EventLogError.cursorNotOfLog(newest, found: first) }
            found.removeFirst()
        }
        var statements = 0
        let commits = Array(
            found.prefix { mark in
                statements += mark.commit.count + mark.commit.confirmations
                return statements <= statementsMax || mark == found.first
            }
        )
        guard !commits.isEmpty else {
            waiting.removeFirst()
            return try await next(statementsMax: statementsMax)
        }
        return Batch(
            lane: lane,
            before: newest.map(EventLog.Head.init) ?? log.origin(lane: lane),
            commits: commits,
            taken: taken[lane] ?? 0
        )
    }

    /// Continues after a batch, with another lane if one has news.
    package mutating func pass(_ batch: Batch) {
        newest[batch.lane] = batch.commits.last
        taken[batch.lane] = nil
        guard let first = waiting.first, first.lane == batch.lane else { return }
        waiting.removeFirst()
        guard let last = batch.commits.last, last.commit.number < first.head.commit.number else {
            return
        }
        waiting.append(first)
    }

    private func lanesWithNews() async throws(EventLogError) -> [(lane: Int, head: CommitMark)] {
        let heads = try await log.headMarks()
        for (number, newest) in newest {
            guard let head = heads[number], head.commit.number >= newest.commit.number else {
                throw EventLogError.cursorBeyondLog(newest, end: heads[number])
            }
            guard head.commit.number > newest.commit.number || head == newest else {
                throw EventLogError.cursorNotOfLog(newest, found: head)
            }
        }
        return heads.filter { $0.value != newest[$0.key] }
            .map { (lane: $0.key, head: $0.value) }
            .sorted { $0.lane < $1.lane }
    }
}

extension EventLog {
    /// The commits after a cursor, for a reader that follows the log.
    ///
    /// - Parameter cursor: Where the reader stopped; `.beginning` for the first time.
    /// - Returns: The feed from there on.
    /// - Throws: `cursorNotOfLog` if the log does not contain the commit that the cursor names,
    ///   `cursorBeyondLog` if it ends before that commit, `databaseUnavailable`.
    package func commits(after cursor: CommitCursor) async throws(EventLogError) -> CommitFeed {
        var (newest, taken): ([Int: CommitMark], [Int: Int]) = ([:], [:])
        for mark in cursor.marks {
            let found = try await commits(lane: mark.lane, from: max(1, mark.commit - 1), limit: 2)
            guard let own = found.first(where: { $0.commit.number == mark.commit }) else {
                throw EventLogError.cursorBeyondLog(mark, lanes: identity.lanes)
            }
            guard own.digest.head == mark.digestHead else {
                throw EventLogError.cursorNotOfLog(mark, found: own.digest)
            }
            let isWhole = mark.taken == nil
            newest[mark.lane] = isWhole ? own : found.first { $0.commit.number < mark.commit }
            taken[mark.lane] = mark.taken
        }
        return CommitFeed(log: self, newest: newest, taken: taken)
    }

    /// The cursor after everything that is committed now.
    ///
    /// - Throws: `databaseUnavailable`.
    package func endOfCommits() async throws(EventLogError) -> CommitCursor {
        var cursor = CommitCursor.beginning
        for (_, head) in try await headMarks() { cursor.advance(to: head) }
        return cursor
    }

    /// The cursor after the last commit of each lane that was made before an instant.
    ///
    /// - Throws: `databaseUnavailable`.
    package func cursor(before instant: Instant) async throws(EventLogError) -> CommitCursor {
        var cursor = CommitCursor.beginning
        let bound = Instant(milliseconds: instant.milliseconds - 1)
        for lane in 0..<identity.lanes.value {
            let newest = try await newestCommit(lane: lane, knownAt: .time(bound))
            if let newest { cursor.advance(to: newest) }
        }
        return cursor
    }

    /// One commit as a batch; nil if the log does not have it.
    ///
    /// - Throws: `databaseUnavailable`.
    package func batch(
        ofCommit number: Int64,
        lane: Int
    ) async throws(EventLogError) -> CommitFeed.Batch? {
        let found = try await commits(lane: lane, from: max(1, number - 1), limit: 2)
        guard let own = found.first(where: { $0.commit.number == number }) else { return nil }
        let before = found.first { $0.commit.number < number }
        return CommitFeed.Batch(
            lane: lane,
            before: before.map(EventLog.Head.init) ?? origin(lane: lane),
            commits: [own],
            taken: 0
        )
    }

    /// The commits of a lane from a number on, by number.
    fileprivate func commits(
        lane: Int,
        from number: Int64,
        limit: Int = EventLog.commitsPerBatchMax
    ) async throws(EventLogError) -> [CommitMark] {
        try await reading("read the commits of lane \(lane)") { session in
            try await session.query(
                """
                SELECT \(CommitMark.columns) FROM ledger.commit c
                WHERE c.lane = $1 AND c.commit_no >= $2 ORDER BY c.commit_no LIMIT \(limit)
                """,
                [.int4(Int32(lane)), .int8(number)]
            ).map(CommitMark.init(in:))
        }
    }

    /// The most commits of one batch: a log that was written live has one event in each.
    private static let commitsPerBatchMax = 1000

    /// Folds over the subscriptions that a batch of commits touched, by an event or by a repetition,
    /// in the order of `StreamID`; each history is read once, whatever the number of commits.
    ///
    /// `fold` runs on the connection's own thread and may block it. What was erased since is missing
    /// before and after each commit.
    ///
    /// - Parameters:
    ///   - batch: The commits.
    ///   - only: The one subscription to read; nil for all.
    ///   - state: The initial state of the fold.
    ///   - fold: Called once per subscription.
    /// - Returns: The state after the last one.
    /// - Throws: `databaseUnavailable`, or what `fold` threw.
    package func foldHistories<State: Sendable>(
        touchedBy batch: CommitFeed.Batch,
        only: StreamID? = nil,
        into state: State,
        _ fold: @escaping @Sendable (inout State, TouchedHistory) throws -> Void
    ) async throws(EventLogError) -> State {
        guard let last = batch.commits.last else { return state }
        let touched = TouchedScan(
            lane: identity.lanes[batch.lane],
            from: batch.before,
            to: Head(last),
            keeping: .all,
            only: only
        )
        return try await reading("read what is new in lane \(batch.lane)") { session in
            try await session.atomically(.readOnlySnapshot) { session in
                try touched.fold(in: session, into: state) { state, scanned in
                    try fold(&state, TouchedHistory(scanned, batch))
                }
            }
        }
    }
}

/// The history of a subscription that a batch of commits touched.
package struct TouchedHistory: Sendable {
    /// The commits of the batch that touched it, by number.
    package let steps: [Step]

    private let scanned: ScannedStream
    private let start: EventLog.Head

    /// A commit that touched the subscription.
    package struct Step: Sendable {
        /// The commit.
        package let commit: CommitMark
        /// The new events of the subscription in it; empty if it only repeated earlier ones.
        package let events: [Event]
    }

    fileprivate init(_ scanned: ScannedStream, _ batch: CommitFeed.Batch) {
        (self.scanned, start) = (scanned, batch.before)
        let repeated = Set(scanned.confirmations.map(\.commit))
        var rest = scanned.history.events.drop { $0.position.offset <= batch.before.offset }
        steps = batch.commits.compactMap { commit in
            let own = rest.prefix { $0.position.offset <= commit.offset }
            rest = rest.dropFirst(own.count)
            guard !own.isEmpty || repeated.contains(commit.commit.number) else { return nil }
            return Step(commit: commit, events: Array(own))
        }
    }

    /// The subscription.
    package var stream: StreamID { scanned.history.stream }

    /// What was known before the batch; without events if nothing was.
    package var before: StreamHistory {
        scanned.cut(offset: start.offset, commit: start.commit).complete
    }

    /// What was known after a commit.
    package func known(after commit: CommitMark) -> StreamHistory {
        scanned.cut(offset: commit.offset, commit: commit.commit.number).complete
    }
}
