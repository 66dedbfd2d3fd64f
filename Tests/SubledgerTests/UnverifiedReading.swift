import AppStoreSimulator
import Events

@testable import AppStore

/// The facts of a simulated payload without any proof: what the verifier would translate, at a
/// fraction of the cost of its signatures.
///
/// Only for payloads that a test has created itself; a separate test checks that the verifier reads
/// the same from signed ones.
struct UnverifiedReading {
    private(set) var facts: [Fact] = []

    /// Reads a version 2 notification or an answer of the App Store Server API.
    init(_ delivery: Delivery) throws {
        guard case .signed(let envelope) = try PayloadForm(delivery.payload) else {
            throw Unreadable(channel: delivery.channel)
        }
        for part in envelope.parts {
            switch part {
            case .any: throw Unreadable(channel: delivery.channel)
            case .notification(let compact): try readNotification(compact)
            case .transaction(let compact): try readTransaction(compact)
            case .status(_, let status):
                if let transaction = status.transaction { try readTransaction(transaction) }
                if let renewal = status.renewal {
                    try readRenewal(renewal, bundleId: facts.last?.bundleId)
                }
            }
        }
    }

    /// A payload in a format that this does not read.
    struct Unreadable: Error {
        let channel: Delivery.Channel
    }

    private mutating func readNotification(_ compact: ArraySlice<UInt8>) throws {
        let claims = try JWS(compact).unverifiedClaims()
        let parts = try NotificationParts(claims)
        let first = facts.count
        if let transaction = parts.transaction { try readTransaction(transaction) }
        if let renewal = parts.renewal { try readRenewal(renewal, bundleId: parts.bundleId) }
        let provenance = Provenance(
            environment: parts.environment ?? .production,
            bundleId: parts.bundleId ?? "",
            asOf: try signedDate(claims)
        )
        facts.append(
            try Translation.notification(claims, provenance, nested: Array(facts[first...]))
        )
    }

    private mutating func readTransaction(_ compact: ArraySlice<UInt8>) throws {
        let claims = try JWS(compact).unverifiedClaims()
        let provenance = Provenance(
            environment: try Claims.environment(claims) ?? .production,
            bundleId: try Claims.bundleId(claims) ?? "",
            asOf: try signedDate(claims)
        )
        facts.append(try Translation.transaction(claims, provenance))
    }

    // Renewal info names no app (Apple's data: JWS verification).
    private mutating func readRenewal(_ compact: ArraySlice<UInt8>, bundleId: String?) throws {
        let claims = try JWS(compact).unverifiedClaims()
        let provenance = Provenance(
            environment: try Claims.environment(claims) ?? .production,
            bundleId: bundleId ?? "",
            asOf: try signedDate(claims)
        )
        facts.append(try Translation.renewal(claims, provenance))
    }

    private func signedDate(_ claims: JSON.Value) throws -> Instant {
        guard let asOf = try AppleClock.instant(claims, "signedDate") else {
            throw Rejection(.dateMissing, "A simulated payload has no signedDate.")
        }
        return asOf
    }
}
