internal import Events

/// The place of a reader in the feed: a position vector with, for each lane, the head of the digest
/// of the commit that contains the last event.
///
/// Its text is safe in a shell and in a URL: `lane:offset:digest` with the first sixteen
/// hexadecimal digits, joined by commas, by ascending lane; empty at the beginning. A commit's
/// digest covers all commits before it and all of its own content, so a cursor distinguishes its
/// log from a forked or rewritten one, even if its last event is inside a commit.
package struct FeedCursor: Hashable, Sendable {
    /// The last event that was read from a lane.
    package struct Mark: Hashable, Sendable {
        /// The lane.
        package let lane: Int
        /// Its offset, from 1.
        package let offset: Int64
        /// The first eight bytes of the digest of its commit.
        package let digestHead: UInt64

        /// The mark of an event of that commit.
        package init(offset: Int64, in commit: CommitMark) {
            lane = commit.commit.lane
            self.offset = offset
            digestHead = commit.digest.head
        }

        fileprivate init(lane: Int, offset: Int64, digestHead: UInt64) {
            self.lane = lane
            self.offset = offset
            self.digestHead = digestHead
        }
    }

    /// By ascending lane; a lane that was not read has none.
    package private(set) var marks: [Mark]

    /// Before the first event of every lane.
    package static let beginning = FeedCursor(marks: [])

    private init(marks: [Mark]) {
        self.marks = marks
    }

    /// The mark of a lane; nil if the lane was not read.
    package subscript(lane: Int) -> Mark? {
        marks.first { $0.lane == lane }
    }

    /// Advances in one lane.
    package mutating func advance(to mark: Mark) {
        let place = marks.firstIndex { $0.lane >= mark.lane } ?? marks.endIndex
        if place < marks.endIndex, marks[place].lane == mark.lane {
            marks[place] = mark
        } else {
            marks.insert(mark, at: place)
        }
    }

    /// The text before and after the mark of a lane, including commas: what all lines of a page
    /// have in common.
    package func text(around lane: Int) -> (before: String, after: String) {
        (
            marks.filter { $0.lane < lane }.map { "\($0)," }.joined(),
            marks.filter { $0.lane > lane }.map { ",\($0)" }.joined()
        )
    }
}

extension FeedCursor: LosslessStringConvertible {
    /// The text that `init` parses.
    package var description: String { marks.map(\.description).joined(separator: ",") }

    /// Parses the output of `description`, and nothing else; nil for any other text.
    package init?(_ text: String) {
        marks = []
        guard !text.isEmpty else { return }
        // A longer text cannot be a cursor, and is not parsed.
        guard text.utf8.count <= FeedCursor.byteCountMax else { return nil }
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let mark = Mark(part), mark.lane > marks.last?.lane ?? -1 else { return nil }
            marks.append(mark)
        }
    }

    /// The longest text of a cursor, in bytes: a mark of maximal length for every lane.
    package static let byteCountMax = LaneCount.maximum * (longest.description.utf8.count + 1)

    private static let longest = Mark(lane: LaneCount.maximum, offset: .max, digestHead: 0)
}

extension FeedCursor.Mark: CustomStringConvertible {
    /// `lane:offset:digest`.
    package var description: String { "\(lane):\(offset):\(digestWord)" }

    /// The sixteen digits.
    var digestWord: String { FeedCursor.digestWord(digestHead) }

    fileprivate init?(_ text: Substring) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let lane = Int(parts[0]), (0..<LaneCount.maximum).contains(lane),
            let offset = Int64(parts[1]), offset >= 1,
            let digestHead = UInt64(parts[2], radix: 16)
        else { return nil }
        self.init(lane: lane, offset: offset, digestHead: digestHead)
        // Signs, leading zeros or capitals would give one cursor several texts, which compare as
        // different.
        guard description == text else { return nil }
    }
}

extension FeedCursor {
    /// Half the digits that protect a digest against collisions; here they only distinguish copies
    /// of a log, and `verify --against` proves more.
    private static let digestDigits = 16

    /// The sixteen digits of the head of a digest.
    static func digestWord(_ head: UInt64) -> String {
        let digits = String(head, radix: 16)
        return String(repeating: "0", count: digestDigits - digits.count) + digits
    }
}

extension Digest {
    /// The first eight bytes of the digest, most significant first.
    var head: UInt64 { bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }
}
