package import Events

/// Heads of a log that were recorded earlier, to be compared with it.
package struct KeptHeads: Hashable, Sendable {
    /// Their source as named in the report: a file, for example.
    package let source: String
    /// Their ledger; nil if they do not record it.
    package let identity: LedgerIdentity?
    /// When they were taken; nil if they do not record it.
    package let takenAt: Instant?
    /// Whether they count as stored outside the database, where its writers cannot change them.
    package let isOutside: Bool
    /// The newest commit of each lane then.
    package let heads: [VerificationReport.Head]

    /// The heads of a checkpoint.
    ///
    /// - Parameters:
    ///   - checkpoint: The checkpoint; its signature was checked.
    ///   - source: Its source.
    ///   - isOutside: Whether it is out of reach of anyone who can write to the database.
    package init(_ checkpoint: Checkpoint, source: String, isOutside: Bool = true) {
        self.source = source
        identity = checkpoint.identity
        takenAt = checkpoint.takenAt
        self.isOutside = isOutside
        heads = checkpoint.heads.map {
            VerificationReport.Head(
                lane: $0.lane,
                offset: $0.offset,
                commit: $0.commit,
                digest: $0.digest
            )
        }
    }

    /// Heads that an earlier verification printed, which record neither the ledger nor the time.
    package init(_ heads: [VerificationReport.Head], source: String) {
        self.source = source
        identity = nil
        takenAt = nil
        isOutside = true
        self.heads = heads
    }
}

/// The comparison of recorded heads with the log.
package struct KeptHeadsResult: Sendable {
    /// What was compared.
    package let kept: KeptHeads
    /// Whether they belong to another ledger; then no head is compared.
    package let isOfOtherLedger: Bool
    /// Each head with what the log has in its place.
    package let heads: [Compared]

    /// A head and its state.
    package struct Compared: Hashable, Sendable {
        /// The head.
        package let head: VerificationReport.Head
        /// What the log has in its place.
        package let state: State
    }

    /// What the log has in place of a recorded head.
    package enum State: String, Sendable {
        /// The same commit, and the chain up to it was verified.
        case same
        /// The same commit, but the chain up to it was not verified: there is a mismatch before it,
        /// or the verification began after it, or ended before it.
        case unproven
        /// A commit with another digest.
        case differs
        /// No commit with that number.
        case missing
    }

    /// Whether nothing in the log contradicts them.
    package var isOK: Bool {
        !isOfOtherLedger && heads.allSatisfy { $0.state == .same || $0.state == .unproven }
    }
}

/// What recorded heads prove about a lane.
package struct LaneEvidence: Sendable {
    /// The lane.
    package let lane: Int
    /// The newest matching head stored outside: up to it, the log is unchanged since then.
    package internal(set) var proven: Mark?
    /// The lowest head that the log contradicts; nil if it contradicts none.
    package internal(set) var contradicted: Mark?
    /// Whether the log has no commit with that number at all.
    package internal(set) var isMissing = false
    /// The newest matching head below the contradicted one; nil if there is none.
    package internal(set) var provenBelow: Mark?

    /// A commit, and the source that recorded it.
    package struct Mark: Hashable, Sendable {
        /// Number of the commit.
        package let commit: Int64
        /// The source of the head.
        package let source: String
        /// When it was taken, if known.
        package let takenAt: Instant?
    }
}
