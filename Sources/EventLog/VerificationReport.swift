public import Events

/// What `verify` found.
public struct VerificationReport: Sendable {
    /// Number of events whose digest was computed.
    public var events: Int64 = 0
    /// Number of commits that match.
    public var commits: Int64 = 0
    /// The newest matching commit of every lane that has any.
    public var heads: [Head] = []
    /// The first thing that does not match, lane by lane in order; nil where all does.
    public var firstMismatch: Mismatch?

    /// Whether the log is what was committed.
    public var isOK: Bool { firstMismatch == nil }

    /// The head of a lane: kept outside the database, it lets `verify` prove later that this log is
    /// a continuation and not a restored or forked one.
    public struct Head: Hashable, Sendable {
        /// The lane.
        public let lane: Int
        /// Offset of its newest event.
        public let offset: Int64
        /// Number of its newest commit.
        public let commit: Int64
        /// Digest of that commit.
        public let digest: Digest

        /// A head, as printed by an earlier verification.
        public init(lane: Int, offset: Int64, commit: Int64, digest: Digest) {
            self.lane = lane
            self.offset = offset
            self.commit = commit
            self.digest = digest
        }
    }

    /// The first commit that is not what it was.
    public struct Mismatch: Error, Hashable, Sendable {
        /// The lane.
        public let lane: Int
        /// The commit.
        public let commit: Int64
        /// The event, where one can be named.
        public let offset: Int64?
        /// What was expected and what was found.
        public let reason: String
    }
}
