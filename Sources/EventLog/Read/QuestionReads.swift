internal import Events
internal import Synchronization

/// What one question has read: it looks up the same keys several times, where a distributed ledger
/// asks all of its servers, and each part of its answer reads the same subscriptions and commits.
final class QuestionReads: Sendable {
    private struct Kept {
        var streams: [[[UInt8]]: [StreamID]] = [:]
        var histories: [[[UInt8]]: RecordedHistory] = [:]
        var commits: [CommitBound: CommitMark?] = [:]
        var heads: [Int: EventLog.Head]?
        var made: [QuestionName: any Sendable] = [:]
    }

    private let kept = Mutex(Kept())

    /// The subscriptions of a group of keys; nil if it was not looked up.
    subscript(keys: [StreamKey]) -> [StreamID]? {
        get {
            let name = QuestionReads.name(keys)
            return kept.withLock { $0.streams[name] }
        }
        set {
            let name = QuestionReads.name(keys)
            kept.withLock { $0.streams[name] = newValue }
        }
    }

    /// The history of a subscription; nil if it was not read.
    subscript(stream: StreamID) -> RecordedHistory? {
        get {
            let name = QuestionReads.name(stream)
            return kept.withLock { $0.histories[name] }
        }
        set {
            let name = QuestionReads.name(stream)
            kept.withLock { $0.histories[name] = newValue }
        }
    }

    /// The newest commit within a bound, if there is one; nil if it was not read.
    subscript(bound: CommitBound) -> CommitMark?? {
        get { kept.withLock { $0.commits[bound] } }
        set { kept.withLock { $0.commits[bound] = newValue } }
    }

    /// The heads of the lanes; nil if they were not read.
    var heads: [Int: EventLog.Head]? {
        get { kept.withLock { $0.heads } }
        set { kept.withLock { $0.heads = newValue } }
    }

    /// What was made under a name from what was read; nil if nothing was.
    subscript(made name: QuestionName) -> (any Sendable)? {
        get { kept.withLock { $0.made[name] } }
        set { kept.withLock { $0.made[name] = newValue } }
    }

    private static func name(_ stream: StreamID) -> [[UInt8]] {
        [Array(stream.environment.word.utf8), Array(stream.originalTransactionId.utf8)]
    }

    // In any order, because keys come from sets.
    private static func name(_ keys: [StreamKey]) -> [[UInt8]] {
        keys.map(\.bytes).sorted { $0.lexicographicallyPrecedes($1) }
    }
}

/// Names what a question makes from what it reads, so that it is made once.
package struct QuestionName: Hashable, Sendable {
    // By their bytes: ids that are equal as text may not be the same.
    private let parts: [[UInt8]]
    private let knownAt: KnownAt

    /// What it is, the ids that it is about, and how much of the log it is made from.
    package init(_ kind: String, _ ids: [String], knownAt: KnownAt) {
        parts = ([kind] + ids).map { Array($0.utf8) }
        self.knownAt = knownAt
    }
}

/// How much of one lane is used.
enum CommitBound: Hashable {
    case all(lane: Int)
    case offset(lane: Int, Int64)
    case time(lane: Int, Instant)

    /// The part of a bound of knowledge that is about a lane.
    init(_ knownAt: KnownAt, lane: Int) {
        self =
            switch knownAt {
            case .latest: .all(lane: lane)
            case .offsets(let offsets):
                offsets[lane].map { .offset(lane: lane, $0) } ?? .all(lane: lane)
            case .time(let instant): .time(lane: lane, instant)
            }
    }
}
