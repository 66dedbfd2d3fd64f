import EventLog
import Events
import Subledger

/// The fixed JSON of `verify` (DESIGN §8); `signatures` is there where it was asked for.
struct VerifyDocument: Encodable {
    let ok: Bool
    let events: Int64
    let commits: Int64
    let heads: [Head]
    let firstMismatch: Mismatch?
    let signatures: Signatures?

    struct Head: Codable {
        let lane: Int
        let offset: Int64
        let commit: Int64
        let digest: String
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
        let firstFailure: Failure?

        struct Failure: Encodable {
            let position: PositionValue
            let evidence: String?
            let reason: String
            let message: String
        }

        enum CodingKeys: CodingKey {
            case payloads, verified, byTrust, firstFailure
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(payloads, forKey: .payloads)
            try container.encode(verified, forKey: .verified)
            try container.encode(byTrust, forKey: .byTrust)
            try container.encode(firstFailure, forKey: .firstFailure)
        }
    }

    enum CodingKeys: CodingKey {
        case ok, events, commits, heads, firstMismatch, signatures
    }

    init(_ report: VerificationReport, _ proof: SignatureReport?, lanes: LaneCount) {
        ok = report.isOK && proof?.isOK != false
        events = report.events
        commits = report.commits
        heads = report.heads.map {
            Head(lane: $0.lane, offset: $0.offset, commit: $0.commit, digest: $0.digest.hex)
        }
        firstMismatch = report.firstMismatch.map {
            Mismatch(lane: $0.lane, commit: $0.commit, offset: $0.offset, reason: $0.reason)
        }
        signatures = proof.map { Signatures($0, lanes: lanes) }
    }

    // `firstMismatch` is part of the contract, so null is written out.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(ok, forKey: .ok)
        try container.encode(events, forKey: .events)
        try container.encode(commits, forKey: .commits)
        try container.encode(heads, forKey: .heads)
        try container.encode(firstMismatch, forKey: .firstMismatch)
        try container.encodeIfPresent(signatures, forKey: .signatures)
    }
}

extension VerifyDocument.Signatures {
    fileprivate init(_ report: SignatureReport, lanes: LaneCount) {
        payloads = report.payloads
        verified = report.verified
        byTrust = Dictionary(
            uniqueKeysWithValues: report.byTrust.map { ($0.key.rawValue, $0.value) }
        )
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
