public import AppStore
internal import Foundation
public import EventLog
public import Events

/// What verifying the log proved: its chain of digests and, if requested, the signatures of the
/// payloads.
public struct VerifyDocument: Encodable, Sendable {
    /// Whether the log matches what was committed, as far as it was verified.
    public let ok: Bool
    /// Events whose digest was computed.
    public let events: Int64
    /// Commits that match.
    public let commits: Int64
    /// Events with an erased part.
    public let erasedEvents: Int64
    /// The newest matching commit of every lane with commits.
    public let heads: [VerificationReport.Head]
    /// The first mismatch; null if everything matches.
    public let firstMismatch: VerificationReport.Mismatch?
    /// The checkpoint after which the verification began; nil if it began with the first commit.
    public let since: Mark?
    /// The documents that were compared.
    public let checkpoints: [Kept]
    /// Rows of `ledger.checkpoint` that were compared.
    public let storedCheckpoints: Int64
    /// Rows of `ledger.checkpoint` that contradict the log, are not checkpoints or are dated later
    /// than the server's clock, and are not signed with a given key: they decide nothing.
    public let passedOver: [String]
    /// By lane, the last commit up to which a document proves that the log is unchanged.
    public let asItWas: [Mark]
    /// Ranges of lanes that differ from what a document recorded.
    public let rewritten: [Rewritten]
    /// What was not proved; null if nothing was left out, or if something does not match.
    public let note: String?
    /// The result of verifying the payloads again; nil if that was not requested.
    public let signatures: SignatureReport?

    /// A commit, and the document that records it.
    public struct Mark: Codable, Hashable, Sendable {
        /// The lane; nil for all.
        public let lane: Int?
        /// The commit; nil for the head of each lane.
        public let commit: Int64?
        /// The document.
        public let source: String
        /// When it was taken, on the ledger's clock; nil if it does not record that.
        public let takenAt: Instant?
    }

    /// A range of a lane that differs from what a document recorded.
    public struct Rewritten: Codable, Hashable, Sendable {
        /// The lane.
        public let lane: Int
        /// The commit up to which the log is unchanged; nil if nothing proves that of any commit.
        public let after: Mark?
        /// The commit up to which it was rewritten.
        public let upTo: Mark
        /// Whether the lane ends before that commit.
        public let isMissing: Bool
    }

    /// A document that was compared.
    public struct Kept: Codable, Hashable, Sendable {
        /// The document.
        public let source: String
        /// When it was taken, on the ledger's clock; nil if it does not record that.
        public let takenAt: Instant?
        /// The fingerprint of the key that signed it; nil if it is not signed.
        public let signedBy: String?
        /// Whether it belongs to another ledger.
        public let isOfOtherLedger: Bool
        /// How many heads it records.
        public let heads: Int
        /// The heads that contradict the log.
        public let contradicted: [VerificationReport.Head]
    }
}

extension VerifyDocument {
    private enum CodingKeys: String, CodingKey {
        case ok, events, commits, erasedEvents, heads, firstMismatch, since, checkpoints
        case storedCheckpoints, passedOver, asItWas, rewritten, note, signatures
    }

    /// Writes the document; a member without a value that readers rely on is written as null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(ok, forKey: .ok)
        try container.encode(events, forKey: .events)
        try container.encode(commits, forKey: .commits)
        try container.encode(erasedEvents, forKey: .erasedEvents)
        try container.encode(heads, forKey: .heads)
        try container.encode(firstMismatch, forKey: .firstMismatch)
        try container.encodeIfPresent(since, forKey: .since)
        try container.encode(checkpoints, forKey: .checkpoints)
        try container.encode(storedCheckpoints, forKey: .storedCheckpoints)
        try container.encode(passedOver, forKey: .passedOver)
        try container.encode(asItWas, forKey: .asItWas)
        try container.encode(rewritten, forKey: .rewritten)
        try container.encode(note, forKey: .note)
        try container.encodeIfPresent(signatures, forKey: .signatures)
    }
}

extension Ledger {
    /// Recomputes all digests from the rows of the log.
    ///
    /// - Parameters:
    ///   - options: What to compare the log with, and on how many connections.
    ///   - roots: The roots with which every stored payload is verified again, offline; nil to
    ///     leave the payloads out.
    ///   - progress: Receives the number of events read so far.
    /// - Returns: The answer.
    /// - Throws: `EventLogError`.
    public func verify(
        _ options: VerificationOptions = VerificationOptions(),
        signaturesUnder roots: [RootCertificate]? = nil,
        progress: @escaping @Sendable (Int64) -> Void = { _ in }
    ) async throws -> VerifyDocument {
        let report = try await log.verify(options, progress: progress)
        var proof: SignatureReport?
        if let roots {
            let verification = SignatureVerification(
                log: log,
                roots: roots,
                jobs: options.jobs ?? ProcessInfo.processInfo.activeProcessorCount
            )
            proof = try await verification.run(since: options.since)
        }
        return VerifyDocument(report, proof)
    }
}

extension VerifyDocument {
    /// The document of the results.
    ///
    /// - Parameters:
    ///   - report: The result for the chain.
    ///   - proof: The result for the signatures; nil if these were not verified.
    ///   - since: The document after which the verification began.
    ///   - signers: The fingerprints of the keys that signed documents, by document.
    package init(
        _ report: VerificationReport,
        _ proof: SignatureReport?,
        since: String? = nil,
        signers: [String: String] = [:]
    ) {
        ok = report.isOK && proof?.isOK != false
        events = report.events
        commits = report.commits
        erasedEvents = report.erasedEvents
        heads = report.heads
        firstMismatch = report.firstMismatch

        self.since = report.since.map {
            Mark(lane: nil, commit: nil, source: since ?? "", takenAt: $0.takenAt)
        }
        checkpoints = report.kept.map { Kept($0, signedBy: signers[$0.kept.source]) }
        storedCheckpoints = report.storedCheckpoints
        passedOver = report.passedOver
        asItWas = report.evidence.compactMap { lane in
            lane.proven.map { Mark($0, lane: lane.lane) }
        }
        rewritten = report.evidence.compactMap { lane in
            lane.contradicted.map {
                Rewritten(
                    lane: lane.lane,
                    after: lane.provenBelow.map { Mark($0, lane: lane.lane) },
                    upTo: Mark($0, lane: lane.lane),
                    isMissing: lane.isMissing
                )
            }
        }
        note = report.note
        signatures = proof
    }
}

extension VerifyDocument.Mark {
    fileprivate init(_ mark: LaneEvidence.Mark, lane: Int) {
        self.lane = lane
        commit = mark.commit
        source = mark.source
        takenAt = mark.takenAt
    }
}

extension VerifyDocument.Kept {
    fileprivate init(_ result: KeptHeadsResult, signedBy: String?) {
        source = result.kept.source
        takenAt = result.kept.takenAt
        self.signedBy = signedBy
        isOfOtherLedger = result.isOfOtherLedger
        heads = result.kept.heads.count
        contradicted = result.heads.filter { $0.state == .differs || $0.state == .missing }
            .map(\.head)
    }
}
