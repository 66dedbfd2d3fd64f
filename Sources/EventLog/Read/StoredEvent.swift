public import Events

/// An event with its proof.
public struct StoredEvent: Sendable {
    /// The event.
    public let event: Event
    /// The payload that brought it, or why it is missing.
    public let evidence: CitedPayload.Found
    /// The commit that holds it.
    public let commit: CommitMark
    /// The digest of the previous commit.
    public let previousDigest: Digest

    /// The keys of its row's commitments.
    public let keys: CommitmentKeys
    /// The word of the store; empty for Apple's App Store.
    public let store: String
    /// Whether its stream had been confirmed as of a later time when the event arrived.
    public let isLate: Bool

    /// The commitments to its parts, whose digest is covered by that of the commit; nil if the
    /// payload is missing without having been erased.
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
