public import AppStore
internal import Foundation
public import EventLog
public import Events

/// What verifying the log proved: its chain of digests and, where asked for, the signatures of the
/// payloads.
public struct VerifyDocument: Codable, Hashable, Sendable {
    /// Whether the log is what was committed, as far as was verified.
    public let ok: Bool
    /// Events whose digest was computed.
    public let events: Int64
    /// Commits that match.
    public let commits: Int64
    /// Events of which a part was erased.
    public let erasedEvents: Int64
    /// The newest commit of every lane that has any and matches.
    public let heads: [ChainHead]
    /// The first thing that does not match; null where everything does.
    public let firstMismatch: OrNull<Mismatch>
    /// The checkpoint after which the verification began; nil where it began with the first commit.
    public let since: Mark?
    /// The documents that were compared.
    public let checkpoints: [Kept]
    /// Rows of `ledger.checkpoint` that were compared.
    public let storedCheckpoints: Int64
    /// Up to which commit of each lane a document proves that the log is as it was.
    public let asItWas: [Mark]
    /// Stretches of lanes that are not what a document recorded.
    public let rewritten: [Rewritten]
    /// What was not proved; null where nothing was left out, or something does not match.
    public let note: OrNull<String>
    /// What verifying the payloads again came to; nil where that was not asked for.
    public let signatures: Signatures?

    /// A commit, and the document that records it.
    public struct Mark: Codable, Hashable, Sendable {
        /// The lane; nil for all.
        public let lane: Int?
        /// The commit; nil for the head of each lane.
        public let commit: Int64?
        /// The document.
        public let source: String
        /// When it was taken, on the ledger's clock; nil where it does not say.
        public let takenAt: Instant?
    }

    /// A stretch of a lane that is not what a document recorded.
    public struct Rewritten: Codable, Hashable, Sendable {
        /// The lane.
        public let lane: Int
        /// Up to there the log is as it was; nil where nothing proves that of any commit.
        public let after: Mark?
        /// Up to there it was rewritten.
        public let upTo: Mark
        /// Whether the lane ends before.
        public let isMissing: Bool
    }

    /// A document that was compared.
    public struct Kept: Codable, Hashable, Sendable {
        /// The document.
        public let source: String
        /// When it was taken, on the ledger's clock; nil where it does not say.
        public let takenAt: Instant?
        /// The fingerprint of the key that signed it; nil if it is not signed.
        public let signedBy: String?
        /// Whether it is another ledger's.
        public let isOfOtherLedger: Bool
        /// How many heads it records.
        public let heads: Int
        /// Those that the log does not have.
        public let contradicted: [ChainHead]
    }

    /// Something that does not match.
    public struct Mismatch: Codable, Hashable, Sendable {
        /// The lane.
        public let lane: Int
        /// The commit.
        public let commit: Int64
        /// The event; nil where it is no single one.
        public let offset: Int64?
        /// What does not match.
        public let reason: String
    }

    /// What verifying the payloads again came to.
    public struct Signatures: Codable, Hashable, Sendable {
        /// Payloads that were read.
        public let payloads: Int64
        /// Those that prove what their events say.
        public let verified: Int64
        /// The same by trust.
        public let byTrust: [String: Int64]
        /// Payloads that are not kept, after erasures.
        public let notKept: Int64
        /// The first that does not; null where all do.
        public let firstFailure: OrNull<Failure>
    }

    /// A payload that does not prove what an event says.
    public struct Failure: Codable, Hashable, Sendable {
        /// The event.
        public let position: PositionValue
        /// SHA-256 of the payload, in hexadecimal.
        public let evidence: String?
        /// Why, as a word of the machine.
        public let reason: String
        /// Why.
        public let message: String
    }
}

extension Ledger {
    /// Recomputes all digests from the rows of the log.
    ///
    /// - Parameters:
    ///   - options: What is compared with it, and on how many connections.
    ///   - roots: The roots with which every stored payload is verified again, offline; nil to
    ///     leave the payloads out.
    ///   - progress: Receives the number of events that were read.
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
        return VerifyDocument(report, proof, lanes: log.identity.lanes)
    }
}

extension VerifyDocument {
    /// The document of what was found.
    ///
    /// - Parameters:
    ///   - report: About the chain.
    ///   - proof: About the signatures; nil where these were not verified.
    ///   - lanes: The ledger's lanes.
    ///   - since: The document after which the verification began.
    ///   - signers: The fingerprints of the keys that signed documents, by document.
    package init(
        _ report: VerificationReport,
        _ proof: SignatureReport?,
        lanes: LaneCount,
        since: String? = nil,
        signers: [String: String] = [:]
    ) {
        ok = report.isOK && proof?.isOK != false
        events = report.events
        commits = report.commits
        erasedEvents = report.erasedEvents
        heads = report.heads.map(ChainHead.init)
        firstMismatch = OrNull(
            report.firstMismatch.map {
                Mismatch(lane: $0.lane, commit: $0.commit, offset: $0.offset, reason: $0.reason)
            }
        )
        self.since = report.since.map {
            Mark(lane: nil, commit: nil, source: since ?? "", takenAt: $0.takenAt)
        }
        checkpoints = report.kept.map { Kept($0, signedBy: signers[$0.kept.source]) }
        storedCheckpoints = report.storedCheckpoints
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
        note = OrNull(report.note)
        signatures = proof.map { Signatures($0, lanes: lanes) }
    }
}

extension ChainHead {
    fileprivate init(_ head: VerificationReport.Head) {
        self.init(
            lane: head.lane,
            offset: head.offset,
            commit: head.commit,
            digest: head.digest.hex
        )
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
        contradicted = result.heads.filter { $0.state == .differs || $0.state == .missing }.map {
            ChainHead($0.head)
        }
    }
}

extension VerifyDocument.Signatures {
    fileprivate init(_ report: SignatureReport, lanes: LaneCount) {
        payloads = report.payloads
        verified = report.verified
        byTrust = Dictionary(
            uniqueKeysWithValues: report.byTrust.map { ($0.key.rawValue, $0.value) }
        )
        notKept = report.notKept
        firstFailure = OrNull(
            report.firstFailure.map { failure in
                VerifyDocument.Failure(
                    position: PositionValue(failure.position, lanes: lanes),
                    evidence: failure.evidence?.hex,
                    reason: failure.reason,
                    message: failure.message
                )
            }
        )
    }
}
