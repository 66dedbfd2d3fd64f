import Events

extension EventLog {
    /// The events after a cursor, for a reader that follows the log.
    ///
    /// - Parameter cursor: Where the reader stopped; `.beginning` for the first time.
    /// - Returns: The feed from there on.
    /// - Throws: `cursorNotOfLog` if the log does not contain the commit that the cursor names (it
    ///   was restored from an older copy, forked, or is another one), `cursorBeyondLog` if it ends
    ///   before that commit, `databaseUnavailable`.
    package func feed(after cursor: FeedCursor) async throws(EventLogError) -> LogFeed {
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
            // Whether its confirmations were read is not in the cursor.
            lanes[mark.lane] = LogFeed.Lane(
                offset: mark.offset,
                newest: commit,
                confirmed: commit.commit.number - 1
            )
        }
        return LogFeed(log: self, cursor: cursor, lanes: lanes)
    }
}

extension FeedCursor {
    /// What to do about a cursor that the log does not know.
    static let wayOut = """
        Connect to the log the cursor came from, or drop what was read from it and start without \
        a cursor; `subledger verify --against` distinguishes two copies of a log
        """
}

extension EventLogError {
    /// The log has another commit where the cursor's should be.
    static func cursorNotOfLog(_ mark: FeedCursor.Mark, found: CommitMark) -> EventLogError {
        let other = FeedCursor.Mark(offset: mark.offset, in: found)
        return EventLogError(
            .cursorNotOfLog,
            "the cursor was made from another log: in lane \(mark.lane), event \(mark.offset) "
                + "belongs to commit \(found.commit.number) with digest \(other.digestWord)…, but "
                + "the cursor has \(mark.digestWord)…; the log was forked, or restored from an "
                + "older copy and then extended. \(FeedCursor.wayOut)"
        )
    }

    /// The log ends before the cursor.
    static func cursorBeyondLog(_ mark: FeedCursor.Mark, end: CommitMark?) -> EventLogError {
        EventLogError(
            .cursorBeyondLog,
            "the cursor is ahead of the log: it records that event \(mark.offset) of lane "
                + "\(mark.lane) was read, with digest \(mark.digestWord)…, but that lane "
                + FeedCursor.end(end)
                + "; an older copy was restored, or this is another log. \(FeedCursor.wayOut)"
        )
    }

    /// The same error while reading the log.
    static func cursorNotOfLog(_ read: CommitMark, found: CommitMark) -> EventLogError {
        EventLogError(
            .cursorNotOfLog,
            "the log was replaced while it was read: commit \(read.commit.number) of lane "
                + "\(read.commit.lane) had digest \(read.digest), and now has \(found.digest); it "
                + "was restored from an older copy and then extended. \(FeedCursor.wayOut)"
        )
    }

    /// The same error while reading the log.
    static func cursorBeyondLog(_ read: CommitMark, end: CommitMark?) -> EventLogError {
        EventLogError(
            .cursorBeyondLog,
            "the log was replaced while it was read: commit \(read.commit.number) of lane "
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
