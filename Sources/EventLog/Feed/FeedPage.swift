/// A run of events of one lane.
public struct FeedPage: Sendable {
    /// The cursor before the first of them.
    public let before: FeedCursor
    /// The lane.
    public let lane: Int
    /// By offset, without holes; at least one.
    public let events: [FedEvent]
}

extension FeedPage {
    /// Most events of a page: one round of statements for them costs little against writing them,
    /// and the greatest contents that there can be take thirty megabytes.
    public static let eventsMax = 500
}
