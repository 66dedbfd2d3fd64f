package import AppStore

/// Payloads that were refused, or had something left out, for one reason.
public struct ReasonGroup: Codable, Hashable, Sendable {
    /// The machine-readable reason.
    public let reason: String
    /// How many payloads.
    public let payloads: Int
    /// The number of facts in them; for refused payloads, as many as can be counted without
    /// verification.
    public let facts: Int
    /// Where the first of these payloads was found.
    public let example: String
    /// What was wrong with it, and what to do.
    public let message: String
    /// The options of `ingest` that would accept them, and when to use them; null if there are
    /// none.
    public let advice: String?
}

extension ReasonGroup {
    /// Writes the document; a member without a value that readers rely on is written as null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(reason, forKey: .reason)
        try container.encode(payloads, forKey: .payloads)
        try container.encode(facts, forKey: .facts)
        try container.encode(example, forKey: .example)
        try container.encode(message, forKey: .message)
        try container.encode(advice, forKey: .advice)
    }
}

/// A payload's place in the input: where it was found, and its number from 1.
struct InputPlace: Hashable, Sendable {
    let path: String
    let number: Int64
}

/// Counts payloads by reason, and keeps for each reason the example that comes first in the input.
struct ReasonGroups: Sendable {
    private var byReason: [String: Entry] = [:]

    private struct Entry {
        var payloads = 0
        var facts = 0
        var place: InputPlace
        var message: String
        var advice: String?
    }

    /// The groups, those with most payloads first.
    var groups: [ReasonGroup] {
        byReason.sorted { ($1.value.payloads, $0.key) < ($0.value.payloads, $1.key) }
            .map { reason, entry in
                ReasonGroup(
                    reason: reason,
                    payloads: entry.payloads,
                    facts: entry.facts,
                    example: entry.place.path,
                    message: entry.message,
                    advice: entry.advice
                )
            }
    }

    mutating func add(_ rejection: Rejection, facts: Int, at place: InputPlace) {
        add(
            rejection.code.rawValue,
            Entry(
                payloads: 1,
                facts: facts,
                place: place,
                message: rejection.message,
                advice: rejection.code.advice
            )
        )
    }

    /// Adds the notices of one payload, which counts once for each kind.
    mutating func add(_ notices: [VerifiedPayload.Notice], at place: InputPlace) {
        var seen: Set<VerifiedPayload.Notice.Code> = []
        for notice in notices {
            add(
                notice.code.rawValue,
                Entry(
                    payloads: seen.insert(notice.code).inserted ? 1 : 0,
                    facts: notice.leftOut,
                    place: place,
                    message: notice.message,
                    advice: notice.code.advice
                )
            )
        }
    }

    mutating func merge(_ other: ReasonGroups) {
        for (reason, entry) in other.byReason { add(reason, entry) }
    }

    private mutating func add(_ reason: String, _ entry: Entry) {
        guard var sum = byReason[reason] else {
            byReason[reason] = entry
            return
        }
        if entry.place.number < sum.place.number {
            (sum.place, sum.message) = (entry.place, entry.message)
        }
        sum.payloads += entry.payloads
        sum.facts += entry.facts
        byReason[reason] = sum
    }
}

extension Rejection.Code {
    /// The options of `ingest` that accept such payloads; nil if there are none.
    package var advice: String? {
        switch self {
        case .unproven:
            "--vouch, if you know that these payloads came from Apple; --shared-secret-file FILE "
                + "proves version 1 notifications that carry their password"
        case .sharedSecretMismatch:
            "--shared-secret-file FILE with the current and earlier secrets of all apps, one a line"
        case .chainUntrusted: "--root-certificate FILE, if you trust the signer"
        case .xcodeSigned:
            "--root-certificate FILE --environment Xcode, if you want to ingest Xcode tests"
        case .bundleIdMismatch: "--bundle-id ID for each app that is yours"
        case .appAppleIdMismatch: "--app-apple-id ID of your app"
        case .environmentNotAccepted: "--environment WORD for each environment that you accept"
        case .environmentUnknown:
            "--assume-environment Production (or Sandbox), if you know where they were made"
        default: nil
        }
    }
}

extension VerifiedPayload.Notice.Code {
    /// The options of `ingest` that accept what was left out; nil if there are none.
    var advice: String? {
        switch self {
        case .unprovenLeftOut:
            "--vouch, if you know that these payloads came from Apple; --shared-secret-file FILE "
                + "proves version 1 notifications that carry their password"
        case .sharedSecretMismatch:
            "--shared-secret-file FILE with the current and earlier secrets of all apps, one a line"
        case .receiptContradicted, .receiptUnverified, .rowsLeftOut, .periodsEmpty,
            .placeholderIds:
            nil
        }
    }
}
