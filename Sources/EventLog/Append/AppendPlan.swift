internal import Events

/// What one commit will write, decided against one head: a pure function of head, batch, knowledge
/// and salts.
struct AppendPlan: Sendable {
    struct NewEvent: Sendable {
        let event: Event
        let key: [UInt8]
        let salt: Salt
        let isLate: Bool
    }

    struct NewConfirmation: Sendable {
        let row: ConfirmationRow
        let salt: Salt
    }

    let commit: Commit
    /// The digest that the commit is based on.
    let previous: Digest
    let digest: Digest
    let events: [NewEvent]
    let confirmations: [NewConfirmation]
    /// Submissions whose payload must be stored, by their numbers.
    let evidence: [Submission]
    /// One list for each submission, with one outcome for each fact.
    let outcomes: [[AppendOutcome]]
    /// What its rows must be listed under in the directory of lanes before they are written; nil if
    /// the ledger has none.
    var directoryKeys: Set<Int64>?

    /// Whether nothing needs to be written.
    var isEmpty: Bool { events.isEmpty && confirmations.isEmpty }

    /// The head of the lane once this is committed.
    var head: LaneHead {
        LaneHead(
            lane: commit.lane,
            offset: commit.lastOffset,
            evidence: commit.lastEvidence,
            commitNumber: commit.number,
            committedAt: commit.committedAt,
            digest: digest,
            format: commit.format
        )
    }
}
