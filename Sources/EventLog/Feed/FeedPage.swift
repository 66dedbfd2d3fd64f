/// A run of events of one lane.
public struct FeedPage: Sendable {
    /// The cursor before the first of them.
    public let before: FeedCursor
    /// The lane.
    public let lane: Int
    /// By offset, without gaps; at least one.
    public let events: [FedEvent]
}

extension FeedPage {
    /// The most events of a page: the statements to read them cost little compared with writing
    /// them out, and the largest possible contents take thirty megabytes.
    public static let eventsMax = 500
}
