internal import Events
internal import Synchronization

/// What the look-ups of one question found: it asks for the same keys several times, and a
/// distributed ledger asks all of its servers each time.
final class FoundStreams: Sendable {
    private let streams = Mutex<[[[UInt8]]: [StreamID]]>([:])

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

    // In any order, because keys come from sets.
    private static func name(_ keys: [StreamKey]) -> [[UInt8]] {
        keys.map(\.bytes).sorted { $0.lexicographicallyPrecedes($1) }
    }
}
