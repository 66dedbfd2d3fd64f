public import Events

/// An event of the feed, with its origin.
public struct FedEvent: Sendable {
    /// The event.
    public let event: Event
    /// Its origin; nil if the payload is missing, which `verify` finds.
    public let evidence: EvidenceSummary?
    /// The cursor's mark for its lane after the event was read.
    public let mark: FeedCursor.Mark
}
