/// The result of following the log.
public struct FollowDocument: Codable, Hashable, Sendable {
    /// Events that were applied.
    public let events: Int64
    /// Subscriptions that were folded.
    public let streams: Int
    /// The number of steps.
    public let steps: Int
    /// Subscriptions that a fold refused.
    public let refused: Int
    /// Events of the log that are not in the live tables yet.
    public let lag: Int64
    /// Live tables that were built by other folds.
    public let notFollowed: [String]
    /// The position of the live tables in the log, by the lane's number.
    public let positions: [String: Int64]

    package init(
        events: Int64,
        streams: Int,
        steps: Int,
        refused: Int,
        lag: Int64,
        notFollowed: [String],
        positions: [String: Int64]
    ) {
        self.events = events
        self.streams = streams
        self.steps = steps
        self.refused = refused
        self.lag = lag
        self.notFollowed = notFollowed
        self.positions = positions
    }
}

/// Whether the live tables include the positions that were waited for.
public struct WaitDocument: Codable, Hashable, Sendable {
    /// The positions that were waited for, by the lane's number.
    public let waitedFor: [String: Int64]
    /// Whether they are included.
    public let isThere: Bool
    /// The position of the live tables in the log, by the lane's number.
    public let positions: [String: Int64]

    package init(waitedFor: [String: Int64], isThere: Bool, positions: [String: Int64]) {
        self.waitedFor = waitedFor
        self.isThere = isThere
        self.positions = positions
    }
}
