import CommandSupport
import EventLog
import Events
import Subledger

/// The fixed JSON of `verify` (DESIGN §8); `signatures` is there where it was asked for.
struct VerifyDocument: Encodable {
    let ok: Bool
    let events: Int64
    let commits: Int64
    let erasedEvents: Int64
    let heads: [Head]
    let firstMismatch: Mismatch?
    let since: Mark?
    let checkpoints: [Kept]
    let storedCheckpoints: Int64
    let asItWas: [Mark]
    let rewritten: [Rewritten]
    let note: String?
    let signatures: Signatures?

    struct Head: Codable {
        let lane: Int
        let offset: Int64
        let commit: Int64
        let digest: String
    }

    /// A commit, and the document that records it.
    struct Mark: Encodable {
        let lane: Int?
        let commit: Int64?
        let source: String
        let takenAt: Int64?
    }

    /// A stretch of a lane that is not what a document recorded.
    struct Rewritten: Encodable {
        let lane: Int
        let after: Mark?
        let upTo: Mark
        let isMissing: Bool
    }

    /// A document that was compared.
    struct Kept: Encodable {
        let source: String
        let takenAt: Int64?
        let signedBy: String?
        let isOfOtherLedger: Bool
        let heads: Int
        let contradicted: [Head]
    }

    struct Mismatch: Encodable {
        let lane: Int
        let commit: Int64
        let offset: Int64?
        let reason: String
    }

    /// What verifying the payloads again came to.
    struct Signatures: Encodable {
        let payloads: Int64
        let verified: Int64
        let byTrust: [String: Int64]
        let notKept: Int64
        let firstFailure: Failure?

        struct Failure: Encodable {
            let position: PositionValue
            let evidence: String?
            let reason: String
            let message: String
        }

        enum CodingKeys: CodingKey {
            case payloads, verified, byTrust, notKept, firstFailure
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(payloads, forKey: .payloads)
            try container.encode(verified, forKey: .verified)
            try container.encode(byTrust, forKey: .byTrust)
            try container.encode(notKept, forKey: .notKept)
            try container.encode(firstFailure, forKey: .firstFailure)
        }
    }

    enum CodingKeys: CodingKey {
        case ok, events, commits, erasedEvents, heads, firstMismatch, since, checkpoints
        case storedCheckpoints
        case asItWas, rewritten, note, signatures
    }

    init(
        _ report: VerificationReport,
        _ proof: SignatureReport?,
        lanes: LaneCount,
        documents: [KeptDocument],
        note: String?
    ) {
        ok = report.isOK && proof?.isOK != false
        events = report.events
        commits = report.commits
        erasedEvents = report.erasedEvents
        heads = report.heads.map {
            Head(lane: $0.lane, offset: $0.offset, commit: $0.commit, digest: $0.digest.hex)
        }
        firstMismatch = report.firstMismatch.map {
            Mismatch(lane: $0.lane, commit: $0.commit, offset: $0.offset, reason: $0.reason)
        }
        since = report.since.flatMap { since in
            documents.last { $0.checkpoint?.checkpoint == since }.map {
                Mark(
                    lane: nil,
                    commit: nil,
                    source: $0.name,
                    takenAt: since.takenAt.milliseconds
                )
            }
        }
        let signers = Dictionary(
            documents.map { ($0.name, $0.checkpoint?.signature?.publicKey.fingerprint) }
        ) { $1 }
        checkpoints = report.kept.map {
            Kept($0, signedBy: signers[$0.kept.source].flatMap { $0 })
        }
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
        self.note = note
        signatures = proof.map { Signatures($0, lanes: lanes) }
    }

    // `firstMismatch` is part of the contract, so null is written out.
    func encode(to encoder: any Encoder) throws {
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
        try container.encode(asItWas, forKey: .asItWas)
        try container.encode(rewritten, forKey: .rewritten)
        try container.encode(note, forKey: .note)
        try container.encodeIfPresent(signatures, forKey: .signatures)
    }
}

extension VerifyDocument.Mark {
    fileprivate init(_ mark: LaneEvidence.Mark, lane: Int) {
        self.lane = lane
        commit = mark.commit
        source = mark.source
        takenAt = mark.takenAt?.milliseconds
    }
}

extension VerifyDocument.Kept {
    fileprivate init(_ result: KeptHeadsResult, signedBy: String?) {
        source = result.kept.source
        takenAt = result.kept.takenAt?.milliseconds
        self.signedBy = signedBy
        isOfOtherLedger = result.isOfOtherLedger
        heads = result.kept.heads.count
        contradicted = result.heads.filter { $0.state == .differs || $0.state == .missing }.map {
            VerifyDocument.Head(
                lane: $0.head.lane,
                offset: $0.head.offset,
                commit: $0.head.commit,
                digest: $0.head.digest.hex
            )
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
        firstFailure = report.firstFailure.map { failure in
            Failure(
                position: PositionValue(failure.position, lanes: lanes),
                evidence: failure.evidence?.hex,
                reason: failure.reason,
                message: failure.message
            )
        }
    }
}
