public import Events

/// An event with what proves it.
public struct StoredEvent: Sendable {
    /// The event.
    public let event: Event
    /// The payload that brought it, or why it is not there.
    public let evidence: CitedPayload.Found
    /// The commit that holds it.
    public let commit: CommitMark
    /// The digest before that commit.
    public let previousDigest: Digest

    /// What its row holds to commit with.
    public let keys: CommitmentKeys
    /// The word of the store; empty for Apple's App Store.
    public let store: String
    /// Whether its stream was confirmed as of a later time when the event came.
    public let isLate: Bool

    /// The commitments to its parts, whose digest the commit's covers; nil where the payload is not
    /// there, and was not erased.
    public var commitments: Commitments? {
        let record: Digest
        switch evidence {
        case .whole(let evidence): record = evidence.recordDigest
        case .verifiedAtEntry(_, let digest): record = digest
        case .erased: record = .zero
        case .damaged, .missing: return nil
        }
        return event.commitments(
            keys: keys,
            evidence: record,
            store: store,
            isLate: isLate
        )
    }
}
