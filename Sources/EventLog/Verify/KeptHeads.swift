public import Events

/// Heads of a log that were recorded earlier, to be compared with it.
public struct KeptHeads: Hashable, Sendable {
    /// Their source as named in the report: a file, for example.
    public let source: String
    /// Their ledger; nil if they do not record it.
    public let identity: LedgerIdentity?
    /// When they were taken; nil if they do not record it.
    public let takenAt: Instant?
    /// Whether they count as stored outside the database, where its writers cannot change them.
    public let isOutside: Bool
    /// The newest commit of each lane then.
    public let heads: [VerificationReport.Head]

    /// The heads of a checkpoint.
    ///
    /// - Parameters:
    ///   - checkpoint: The checkpoint; its signature was checked.
    ///   - source: Its source.
    ///   - isOutside: Whether it is out of reach of anyone who can write to the database.
    public init(_ checkpoint: Checkpoint, source: String, isOutside: Bool = true) {
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
    public init(_ heads: [VerificationReport.Head], source: String) {
        self.source = source
        identity = nil
        takenAt = nil
        isOutside = true
        self.heads = heads
    }
}

/// The comparison of recorded heads with the log.
public struct KeptHeadsResult: Sendable {
    /// What was compared.
    public let kept: KeptHeads
    /// Whether they belong to another ledger; then no head is compared.
    public let isOfOtherLedger: Bool
    /// Each head with what the log has in its place.
    public let heads: [Compared]

    /// A head and its state.
    public struct Compared: Hashable, Sendable {
        /// The head.
        public let head: VerificationReport.Head
        /// What the log has in its place.
        public let state: State
    }

    /// What the log has in place of a recorded head.
    public enum State: String, Sendable {
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
    public var isOK: Bool {
        !isOfOtherLedger && heads.allSatisfy { $0.state == .same || $0.state == .unproven }
    }
}

/// What recorded heads prove about a lane.
public struct LaneEvidence: Sendable {
    /// The lane.
    public let lane: Int
    /// The newest matching head stored outside: up to it, the log is unchanged since then.
    public internal(set) var proven: Mark?
    /// The lowest head that the log contradicts; nil if it contradicts none.
    public internal(set) var contradicted: Mark?
    /// Whether the log has no commit with that number at all.
    public internal(set) var isMissing = false
    /// The newest matching head below the contradicted one; nil if there is none.
    public internal(set) var provenBelow: Mark?

    /// A commit, and the source that recorded it.
    public struct Mark: Hashable, Sendable {
        /// Number of the commit.
        public let commit: Int64
        /// The source of the head.
        public let source: String
        /// When it was taken, if known.
        public let takenAt: Instant?
    }
}
