package import Events

/// An event with its proof.
package struct StoredEvent: Sendable {
    /// The event.
    package let event: Event
    /// The payload that brought it, or why it is missing.
    package let evidence: CitedPayload.Found
    /// The commit that holds it.
    package let commit: CommitMark
    /// The digest of the previous commit.
    package let previousDigest: Digest

    /// The keys of its row's commitments.
    package let keys: CommitmentKeys
    /// The word of the store; empty for Apple's App Store.
    package let store: String
    /// Whether its stream had been confirmed as of a later time when the event arrived.
    package let isLate: Bool

    /// The commitments to its parts, whose digest is covered by that of the commit; nil if the
    /// payload is missing without having been erased.
    package var commitments: Commitments? {
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
