internal import Events
internal import Synchronization

/// What one question found: it asks for the same keys several times, and a distributed ledger asks
/// all of its servers each time; and it reads the same subscriptions for each part of its answer.
final class FoundStreams: Sendable {
    private let streams = Mutex<[[[UInt8]]: [StreamID]]>([:])
    private let histories = Mutex<[[[UInt8]]: RecordedHistory]>([:])

    /// The subscriptions of a group of keys; nil if it was not looked up.
    subscript(keys: [StreamKey]) -> [StreamID]? {
        get {
            let name = FoundStreams.name(keys)
            return streams.withLock { $0[name] }
        }
        set {
            let name = FoundStreams.name(keys)
            streams.withLock { $0[name] = newValue }
        }
    }

    /// The history of a subscription; nil if it was not read.
    subscript(stream: StreamID) -> RecordedHistory? {
        get {
            let name = FoundStreams.name(stream)
            return histories.withLock { $0[name] }
        }
        set {
            let name = FoundStreams.name(stream)
            histories.withLock { $0[name] = newValue }
        }
    }

    private static func name(_ stream: StreamID) -> [[UInt8]] {
        [Array(stream.environment.word.utf8), Array(stream.originalTransactionId.utf8)]
    }

    // In any order, because keys come from sets.
    private static func name(_ keys: [StreamKey]) -> [[UInt8]] {
        keys.map(\.bytes).sorted { $0.lexicographicallyPrecedes($1) }
    }
}
