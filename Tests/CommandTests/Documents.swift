import Foundation

/// The JSON of `ingest`; decoding fails if a property has another name or type.
struct IngestDocument: Decodable {
    let payloads: Int
    let appended: Int
    let duplicates: Int
    let rejected: Int
    let streams: Int
    let skipped: Int
    let positions: [String: Int64]
    let leftOut: Int
    let leftOutByReason: [ReasonGroup]
    let rejectedByReason: [ReasonGroup]
    let bodiesNotKept: Int
    let rejections: [Rejected]
    let notices: [Notice]

    struct Notice: Decodable, Hashable {
        let path: String
        let notice: String
        let message: String
        let leftOut: Int
    }

    struct Rejected: Decodable, Hashable {
        let path: String
        let reason: String
        let message: String
    }
}

struct ReasonGroup: Decodable, Hashable {
    let reason: String
    let payloads: Int
    let facts: Int
    let example: String
    let message: String
    let advice: String?
}

/// The JSON of `ingest --plan`.
struct IngestPlanDocument: Decodable {
    let payloads: Int
    let byteCount: Int64
    let facts: Int
    let streams: Int
    let skipped: Int
    let from: Int64?
    let to: Int64?
    let forms: [Count]
    let bundleIds: [Count]
    let environments: [Count]
    let leftOut: Int
    let leftOutByReason: [ReasonGroup]
    let rejected: Int
    let rejectedByReason: [ReasonGroup]
    let wasStopped: Bool
    let readingSeconds: Double
    let estimatedSeconds: Double

    struct Count: Decodable, Hashable {
        let word: String
        let count: Int
    }
}

struct RebuildLine: Decodable {
    let name: String
    let version: Int
    let rows: Int
    let events: Int
    let streams: Int
    let digest: String
    let positions: [String: Int64]
}

struct VerifyDocument: Decodable {
    let ok: Bool
    let events: Int64
    let commits: Int64
    let heads: [Head]
    let firstMismatch: Mismatch?
    let since: Mark?
    let storedCheckpoints: Int64
    let asItWas: [Mark]
    let rewritten: [Rewritten]
    let note: String?
    let signatures: Signatures?

    struct Mark: Decodable {
        let lane: Int?
        let commit: Int64?
        let source: String
    }

    struct Rewritten: Decodable {
        let lane: Int
        let after: Mark?
        let upTo: Mark
        let isMissing: Bool
    }

    struct Signatures: Decodable {
        let payloads: Int64
        let verified: Int64
        let byTrust: [String: Int64]
        let firstFailure: Failure?
    }

    struct Failure: Decodable {
        let position: Int64
        let evidence: String?
        let reason: String
        let message: String
    }

    struct Head: Decodable {
        let lane: Int
        let offset: Int64
        let commit: Int64
        let digest: String
    }

    struct Mismatch: Decodable {
        let lane: Int
        let commit: Int64
        let offset: Int64?
        let reason: String
    }
}

struct PeriodsDocument: Decodable, Hashable {
    let originalTransactionId: String
    let environment: String
    let periods: [Row]
    let active: [[Int64]]

    // Without positions, which the simulator's truth does not contain.
    struct Row: Decodable, Hashable {
        let productId: String
        let purchaseDate: Int64
        let expiresDate: Int64
        let validFrom: Int64
        let validTo: Int64
        let kind: String
        let endReason: String
    }
}

struct StreamLine: Decodable {
    let originalTransactionId: String
    let environment: String
    let lane: Int
    let events: Int64
    let productIds: [String]
}

/// The member names of a JSON object, or of an array's first element.
func members(_ text: String, _ path: String...) throws -> Set<String> {
    var value = try JSONSerialization.jsonObject(with: Data(text.utf8))
    for name in path { value = (value as? [String: Any])?[name] ?? [:] }
    if let array = value as? [Any] { value = array.first ?? [:] }
    return Set((value as? [String: Any] ?? [:]).keys)
}

struct RejectionsDocument: Decodable {
    let count: Int64
    let rejections: [Line]

    struct Line: Decodable {
        let digest: String
        let reason: String
        let message: String
        let source: String
        let location: String
        let byteCount: Int
        let bodyByteCount: Int?
        let receivedAt: Int64
        let takenAt: Int64?
    }
}

struct IngestQualityDocument: Decodable {
    let sources: [Line]
    let total: Line
    let aliases: [Aliases]

    struct Line: Decodable {
        let source: String?
        let runs: Int64
        let payloads: Int64
        let rejected: Int64
        let rejectedByReason: [String: Int64]
        let facts: Int64
        let appended: Int64
        let duplicates: Int64
        let duplicatePercent: Double?
        let restored: Int64
        let restoredPercent: Double?
        let streamsOfOneRunMax: Int64
    }

    struct Aliases: Decodable {
        let evidenceKind: String
        let purchases: Int64
        let aliases: Int64
        let aliasPercent: Double?
    }
}

/// What `history` shows about the evidence of an event.
struct HistoryTrust: Decodable {
    let events: [Line]

    struct Line: Decodable, Hashable {
        let trust: String
        let source: String
        let evidenceKind: String
    }
}
