internal import EventLog
public import Events

/// The subscriptions of a report with events that this program cannot read.
///
/// Without these events nothing about them is certain, so they are left out and listed here.
public struct UnreadableStreams: Codable, Hashable, Sendable {
    /// The number of these subscriptions.
    public private(set) var count = 0
    /// The first of them, up to `namedMax`, which are held in memory.
    public private(set) var named: [Named] = []

    /// The most subscriptions that are listed.
    public static let namedMax = 1000

    /// A subscription with its unreadable events.
    public struct Named: Codable, Hashable, Sendable {
        /// Its id.
        public let originalTransactionId: String
        /// Where the purchases were made.
        public let environment: StoreEnvironment
        /// The events.
        public let positions: [Position]
        /// Why the first of them cannot be read.
        public let reason: String
    }

    // Returns true if the subscription has unreadable events.
    mutating func take(_ stream: StreamID, _ events: [UnreadableEvent]) -> Bool {
        guard let first = events.first else { return false }
        count += 1
        if named.count < UnreadableStreams.namedMax {
            named.append(
                Named(
                    originalTransactionId: stream.originalTransactionId,
                    environment: stream.environment,
                    positions: events.map(\.position),
                    reason: first.reason
                )
            )
        }
        return true
    }
}

/// The result of a scan, with the subscriptions that it could not read.
struct ScanResult<State: Sendable>: Sendable {
    var state: State
    var unreadable = UnreadableStreams()
}

extension Ledger {
    /// Folds every subscription, lane by lane, with one in memory at a time.
    ///
    /// Unreadable subscriptions are counted, and passed to the fold all the same.
    func foldAll<State: Sendable>(
        into state: State,
        knownAt: KnownAt,
        in environment: StoreEnvironment? = nil,
        _ fold: @escaping @Sendable (inout State, StreamHistory) throws -> Void
    ) async throws -> ScanResult<State> {
        try await check(knownAt)
        var all = ScanResult(state: state)
        for (lane, head) in try await log.heads(knownAt: knownAt).sorted(by: { $0.key < $1.key }) {
            all = try await log.foldStreams(lane: lane, upTo: head, into: all) { all, history in
                guard environment.map({ $0 == history.stream.environment }) ?? true else { return }
                _ = all.unreadable.take(history.stream, history.unreadable)
                try fold(&all.state, history)
            }
        }
        return all
    }
}
