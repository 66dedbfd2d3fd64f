/// A run of events and confirmations of one lane.
public struct FeedPage: Sendable {
    /// The cursor before the first of them.
    public let before: FeedCursor
    /// The lane.
    public let lane: Int
    /// By offset, without gaps; may be empty if there are confirmations.
    public let events: [FedEvent]
    /// By commit; each stands before the event at its `knownFromOffset`.
    ///
    /// They move no cursor, so a reader that continues at a cursor may get those after it again.
    public let confirmations: [FedConfirmation]
}

extension FeedPage {
    /// The most events of a page: the statements to read them cost little compared with writing
    /// them out, and the largest possible contents take thirty megabytes.
    public static let eventsMax = 500

    /// The most rows of confirmations of a page, unless one commit has more.
    static let confirmationRowsMax = 1000
}
