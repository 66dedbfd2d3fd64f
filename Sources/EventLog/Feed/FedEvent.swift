public import Events

/// An event of the feed, with where it came from.
public struct FedEvent: Sendable {
    /// The event.
    public let event: Event
    /// Where it came from; nil where the payload is missing, which `verify` finds.
    public let evidence: EvidenceSummary?
    /// What the cursor says of its lane once it was read.
    public let mark: FeedCursor.Mark
}
