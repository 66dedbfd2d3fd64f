package import Events

/// An event of the feed, with its origin.
package struct FedEvent: Sendable {
    /// The event.
    package let event: Event
    /// Its origin; nil if the payload is missing, which `verify` finds.
    package let evidence: EvidenceSummary?
    /// The cursor's mark for its lane after the event was read.
    package let mark: FeedCursor.Mark
}

/// A confirmation of the feed: Apple stated again, as of another instant or under another
/// transaction id, what an event says.
///
/// It has no position of its own. It can matter all the same: after *refunded* as of March 2, only
/// the repetition as of March 3 of an earlier event says that the refund did not last.
package struct FedConfirmation: Sendable {
    /// The subscription.
    package let stream: StreamID
    /// The event, the fields that were repeated, and the as-of.
    package let confirmation: Confirmation
    /// When its commit was made, on our clock.
    package let recordedAt: Instant
    /// The last offset up to its commit: it stands after that event and before the next.
    package let lastOffset: Int64
}
