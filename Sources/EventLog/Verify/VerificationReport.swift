package import Events

/// The result of `verify`.
package struct VerificationReport: Sendable {
    /// Number of events whose digest was computed.
    package internal(set) var events: Int64 = 0
    /// Number of events with an erased part: the remaining parts were proven, and the chain proves
    /// that the erased parts existed.
    package internal(set) var erasedEvents: Int64 = 0
    /// Number of commits that match.
    package internal(set) var commits: Int64 = 0
    /// The newest matching commit of every lane with commits.
    package internal(set) var heads: [Head] = []
    /// The first mismatch of each lane, by lane.
    package internal(set) var mismatches: [Mismatch] = []
    /// The checkpoint after which the verification began; nil if it began with the first commit.
    package internal(set) var since: Checkpoint?
    /// The comparison of recorded heads with the log, in the order in which they were given.
    package internal(set) var kept: [KeptHeadsResult] = []
    /// What the recorded heads prove, lane by lane.
    package internal(set) var evidence: [LaneEvidence] = []
    /// Rows of `ledger.checkpoint` that were compared.
    package internal(set) var storedCheckpoints: Int64 = 0
    /// The most rows that `passedOver` names.
    package static let passedOverMax = 100
    /// Those among them that are not checkpoints, or that contradict the log or are dated later than
    /// the server's clock and are not signed by a given key, by name: anyone who may insert them may
    /// have forged them, so they decide nothing.
    package internal(set) var passedOver: [String] = []
    /// Those among them that are signed by a given key.
    package internal(set) var storedCheckpointsOfKnownKeys: Int64 = 0

    /// The first mismatch; nil if everything matches.
    package var firstMismatch: Mismatch? {
        mismatches.first ?? kept.lazy.filter(\.isOfOtherLedger).compactMap(\.mismatch).first
            ?? evidence.lazy.compactMap(\.mismatch).first
    }

    /// Whether the log matches what was committed, as far as it was verified.
    package var isOK: Bool { firstMismatch == nil }

    /// Whether heads stored outside cover the newest verified commit of every lane.
    ///
    /// If they do not, someone with superuser rights may have rewritten the commits after them,
    /// with digests that match.
    package var isRewriteExcluded: Bool {
        let proven = Dictionary(
            evidence.compactMap { lane in lane.proven.map { (lane.lane, $0.commit) } }
        ) { $1 }
        let before = Dictionary((since?.heads ?? []).map { ($0.lane, $0.commit) }) { $1 }
        return isOK && !(proven.isEmpty && before.isEmpty)
            && heads.allSatisfy { head in
                proven[head.lane] == head.commit || before[head.lane] == head.commit
            }
    }

    /// The head of a lane: stored outside the database, it lets `verify` prove later that this log
    /// is a continuation and not a restored or forked one.
    package struct Head: Codable, Hashable, Sendable {
        /// The lane.
        package let lane: Int
        /// Offset of its newest event.
        package let offset: Int64
        /// Number of its newest commit.
        package let commit: Int64
        /// Digest of that commit.
        package let digest: Digest

        /// A head, as printed by an earlier verification.
        package init(lane: Int, offset: Int64, commit: Int64, digest: Digest) {
            self.lane = lane
            self.offset = offset
            self.commit = commit
            self.digest = digest
        }

        /// The head at a commit.
        package init(_ mark: CommitMark) {
            self.init(
                lane: mark.commit.lane,
                offset: mark.offset,
                commit: mark.commit.number,
                digest: mark.digest
            )
        }

        init(_ state: LaneState) {
            self.init(
                lane: state.lane,
                offset: state.offset,
                commit: state.commit,
                digest: state.digest
            )
        }
    }

    /// The first commit that was changed.
    package struct Mismatch: Error, Codable, Hashable, Sendable {
        /// The lane.
        package let lane: Int
        /// The commit.
        package let commit: Int64
        /// The event, if one can be named.
        package let offset: Int64?
        /// What was expected and what was found.
        package let reason: String

        init(lane: Int, commit: Int64, offset: Int64? = nil, reason: String) {
            (self.lane, self.commit, self.offset, self.reason) = (lane, commit, offset, reason)
        }
    }
}

extension KeptHeadsResult {
    /// The mismatch that they belong to another ledger.
    var mismatch: VerificationReport.Mismatch? {
        guard isOfOtherLedger else { return nil }
        return VerificationReport.Mismatch(
            lane: kept.heads.first?.lane ?? 0,
            commit: kept.heads.first?.commit ?? 1,
            reason: "\(kept.source) is a checkpoint of another ledger than the one in this database"
        )
    }
}

extension LaneEvidence {
    /// The contradicted head as a mismatch.
    var mismatch: VerificationReport.Mismatch? {
        guard let contradicted else { return nil }
        return VerificationReport.Mismatch(
            lane: lane,
            commit: contradicted.commit,
            reason: isMissing
                ? "\(contradicted.source) records it, but the log does not contain it: commits "
                    + "were removed, or an older copy was restored"
                : "\(contradicted.source) records another digest: the log was rewritten, or this "
                    + "is another log"
        )
    }
}
