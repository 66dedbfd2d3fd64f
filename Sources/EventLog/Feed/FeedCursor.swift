internal import Events

/// How far a reader of the feed has come: a position vector with, for each lane, the head of the
/// digest of the commit that the last event belongs to.
///
/// Its text is safe in a shell and in a URL: `lane:offset:digest` with the first sixteen
/// hexadecimal digits, joined by commas, by ascending lane; empty at the beginning. A commit's
/// digest covers all before it and all that it brought, so that a cursor tells the log it was made
/// from apart from a forked or rewritten one, also where its last event stands inside a commit.
public struct FeedCursor: Hashable, Sendable {
    /// The last event of a lane that was read.
    public struct Mark: Hashable, Sendable {
        /// The lane.
        public let lane: Int
        /// Its offset, from 1.
        public let offset: Int64
        /// The first eight bytes of the digest of the commit that holds it.
        public let digestHead: UInt64

        /// The mark of an event of that commit.
        public init(offset: Int64, in commit: CommitMark) {
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

    /// By ascending lane; a lane of which nothing was read has none.
    public private(set) var marks: [Mark]

    /// Before the first event of every lane.
    public static let beginning = FeedCursor(marks: [])

    private init(marks: [Mark]) {
        self.marks = marks
    }

    /// The mark of a lane; nil where nothing of it was read.
    public subscript(lane: Int) -> Mark? {
        marks.first { $0.lane == lane }
    }

    /// Moves on in one lane.
    public mutating func advance(to mark: Mark) {
        let place = marks.firstIndex { $0.lane >= mark.lane } ?? marks.endIndex
        if place < marks.endIndex, marks[place].lane == mark.lane {
            marks[place] = mark
        } else {
            marks.insert(mark, at: place)
        }
    }

    /// The text before and after the mark of a lane, commas included: what all lines of a page
    /// have in common.
    public func text(around lane: Int) -> (before: String, after: String) {
        (
            marks.filter { $0.lane < lane }.map { "\($0)," }.joined(),
            marks.filter { $0.lane > lane }.map { ",\($0)" }.joined()
        )
    }
}

extension FeedCursor: CustomStringConvertible {
    /// The text that `init` reads.
    public var description: String { marks.map(\.description).joined(separator: ",") }

    /// Reads what `description` writes, and nothing else; nil for any other text.
    public init?(_ text: String) {
        marks = []
        guard !text.isEmpty else { return }
        // A longer text cannot be a cursor, and is not taken apart.
        guard text.utf8.count <= FeedCursor.byteCountMax else { return nil }
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let mark = Mark(part), mark.lane > marks.last?.lane ?? -1 else { return nil }
            marks.append(mark)
        }
    }

    /// Longest text of a cursor, in bytes: a mark of the greatest length for every lane.
    public static let byteCountMax = LaneCount.maximum * (longest.description.utf8.count + 1)

    private static let longest = Mark(lane: LaneCount.maximum, offset: .max, digestHead: 0)
}

extension FeedCursor.Mark: CustomStringConvertible {
    /// `lane:offset:digest`.
    public var description: String { "\(lane):\(offset):\(digestWord)" }

    /// The sixteen digits.
    var digestWord: String {
        let digits = String(digestHead, radix: 16)
        return String(repeating: "0", count: FeedCursor.digestDigits - digits.count) + digits
    }

    fileprivate init?(_ text: Substring) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let lane = Int(parts[0]), (0..<LaneCount.maximum).contains(lane),
            let offset = Int64(parts[1]), offset >= 1,
            let digestHead = UInt64(parts[2], radix: 16)
        else { return nil }
        self.init(lane: lane, offset: offset, digestHead: digestHead)
        // Signs, leading zeros, capitals: another text for the same would compare as another.
        guard description == text else { return nil }
    }
}

extension FeedCursor {
    /// Half of what a digest has that an attacker must not find twice; here it tells copies of a
    /// log apart, and `verify --against` is for more.
    fileprivate static let digestDigits = 16
}

extension Digest {
    /// Its first eight bytes, the most significant first.
    fileprivate var head: UInt64 { bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }
}
