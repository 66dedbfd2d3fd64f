public import Events

/// Heads of a log that were kept, to be found in it again.
public struct KeptHeads: Hashable, Sendable {
    /// Where they come from, as it is named in the report: a file, for example.
    public let source: String
    /// The ledger that they are of; nil where they do not say.
    public let identity: LedgerIdentity?
    /// When they were taken; nil where they do not say.
    public let takenAt: Instant?
    /// Whether they count as kept outside the database, where its writers cannot change them.
    public let isOutside: Bool
    /// The newest commit of each lane then.
    public let heads: [VerificationReport.Head]

    /// The heads of a checkpoint.
    ///
    /// - Parameters:
    ///   - checkpoint: The checkpoint; its signature was checked.
    ///   - source: Where it comes from.
    ///   - isOutside: Whether someone who can write to the database cannot have changed it.
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

    /// Heads that an earlier verification printed: they do not say of which ledger, nor when.
    public init(_ heads: [VerificationReport.Head], source: String) {
        self.source = source
        identity = nil
        takenAt = nil
        isOutside = true
        self.heads = heads
    }
}

/// How kept heads compare with the log.
public struct KeptHeadsResult: Sendable {
    /// What was compared.
    public let kept: KeptHeads
    /// Whether they are of another ledger than this one; then no head is compared.
    public let isOfOtherLedger: Bool
    /// Each head with what the log has in its place.
    public let heads: [Compared]

    /// A head and what became of it.
    public struct Compared: Hashable, Sendable {
        /// The head.
        public let head: VerificationReport.Head
        /// What the log has in its place.
        public let state: State
    }

    /// What the log has in place of a kept head.
    public enum State: String, Sendable {
        /// The same commit, and the chain up to it was verified.
        case same
        /// The same commit, but the chain up to it was not verified: it does not match before it,
        /// or the verification began after it, or ended before it.
        case unproven
        /// A commit with another digest.
        case differs
        /// No commit of that number.
        case missing
    }

    /// Whether nothing in the log contradicts them.
    public var isOK: Bool {
        !isOfOtherLedger && heads.allSatisfy { $0.state == .same || $0.state == .unproven }
    }
}

/// What kept heads prove of a lane.
public struct LaneEvidence: Sendable {
    /// The lane.
    public let lane: Int
    /// The newest matching head that was kept outside: up to it the log is as it was then.
    public internal(set) var proven: Mark?
    /// The lowest head that the log contradicts; nil where it contradicts none.
    public internal(set) var contradicted: Mark?
    /// Whether the log has no commit of that number at all.
    public internal(set) var isMissing = false
    /// The newest matching head below the contradicted one; nil where there is none.
    public internal(set) var provenBelow: Mark?

    /// A commit, and who remembers it.
    public struct Mark: Hashable, Sendable {
        /// Number of the commit.
        public let commit: Int64
        /// Where the head was kept.
        public let source: String
        /// When it was taken, where that is known.
        public let takenAt: Instant?
    }
}
