internal import Events

/// The place of a reader that takes the log commit by commit: for each lane the last commit it has
/// read, with the head of its digest.
///
/// Unlike a `FeedCursor` it also passes commits without events, and it can lie within what a reader
/// makes of one commit. Its text is safe in a shell and in a URL: `lane:commit:digest` with the
/// first sixteen hexadecimal digits, and `:n` where only the first n things of the commit were
/// taken; joined by commas, by ascending lane; empty at the beginning. A cursor distinguishes its
/// log from a forked or rewritten one, because a digest covers all commits before it.
public struct CommitCursor: Hashable, Sendable {
    /// The last commit that was read from a lane.
    struct Mark: Hashable, Sendable {
        let lane: Int
        let commit: Int64
        let digestHead: UInt64
        /// How much of it was taken; nil for all.
        let taken: Int?
    }

    /// By ascending lane; a lane that was not read has none.
    private(set) var marks: [Mark]

    /// Before the first commit of every lane.
    public static let beginning = CommitCursor(marks: [])

    private init(marks: [Mark]) {
        self.marks = marks
    }

    /// Advances to a commit of one lane.
    ///
    /// - Parameters:
    ///   - commit: The commit.
    ///   - taken: How much of it was taken; nil for all.
    package mutating func advance(to commit: CommitMark, taken: Int? = nil) {
        let mark = Mark(
            lane: commit.commit.lane,
            commit: commit.commit.number,
            digestHead: commit.digest.head,
            taken: taken
        )
        let place = marks.firstIndex { $0.lane >= mark.lane } ?? marks.endIndex
        if place < marks.endIndex, marks[place].lane == mark.lane {
            marks[place] = mark
        } else {
            marks.insert(mark, at: place)
        }
    }
}

extension CommitCursor: LosslessStringConvertible {
    /// The text that `init` parses.
    public var description: String { marks.map(\.description).joined(separator: ",") }

    /// Parses the output of `description`, and nothing else; nil for any other text.
    public init?(_ text: String) {
        marks = []
        guard !text.isEmpty else { return }
        // A longer text cannot be a cursor, and is not parsed.
        guard text.utf8.count <= CommitCursor.byteCountMax else { return nil }
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let mark = Mark(part), mark.lane > marks.last?.lane ?? -1 else { return nil }
            marks.append(mark)
        }
    }

    /// The longest text of a cursor, in bytes: a mark of maximal length for every lane.
    static let byteCountMax = LaneCount.maximum * (longest.description.utf8.count + 1)

    private static let longest = Mark(
        lane: LaneCount.maximum,
        commit: .max,
        digestHead: 0,
        taken: .max
    )
}

extension CommitCursor.Mark: CustomStringConvertible {
    /// `lane:commit:digest`, and how much of it was taken.
    var description: String {
        "\(lane):\(commit):\(digestWord)" + (taken.map { ":\($0)" } ?? "")
    }

    var digestWord: String { FeedCursor.digestWord(digestHead) }

    fileprivate init?(_ text: Substring) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (3...4).contains(parts.count), let lane = Int(parts[0]),
            (0..<LaneCount.maximum).contains(lane), let commit = Int64(parts[1]), commit >= 1,
            let digestHead = UInt64(parts[2], radix: 16)
        else { return nil }
        let taken = parts.count == 4 ? Int(parts[3]) : nil
        self.init(lane: lane, commit: commit, digestHead: digestHead, taken: taken)
        // Signs, leading zeros or capitals would give one cursor several texts, which compare as
        // different.
        guard description == text, taken.map({ $0 >= 1 }) ?? true else { return nil }
    }
}

extension EventLogError {
    /// The log has another commit where the cursor's should be.
    static func cursorNotOfLog(_ mark: CommitCursor.Mark, found: Digest) -> EventLogError {
        EventLogError(
            .cursorNotOfLog,
            "the cursor was made from another log: commit \(mark.commit) of lane \(mark.lane) has "
                + "digest \(FeedCursor.digestWord(found.head))…, but the cursor has "
                + "\(mark.digestWord)…; the log was forked, or restored from an older copy and "
                + "then extended. \(FeedCursor.wayOut)"
        )
    }

    /// The log ends before the cursor.
    static func cursorBeyondLog(_ mark: CommitCursor.Mark, lanes: LaneCount) -> EventLogError {
        guard mark.lane < lanes.value else {
            return EventLogError(
                .cursorNotOfLog,
                "the cursor names lane \(mark.lane), but this ledger has \(lanes.value) lanes, "
                    + "from 0: it was made from another log. \(FeedCursor.wayOut)"
            )
        }
        return EventLogError(
            .cursorBeyondLog,
            "the cursor is ahead of the log: it names commit \(mark.commit) of lane \(mark.lane) "
                + "with digest \(mark.digestWord)…, which the log does not contain; an older copy "
                + "was restored, or this is another log. \(FeedCursor.wayOut)"
        )
    }
}
