package import Events

/// The result of verifying the stored payloads again.
package struct SignatureReport: Sendable {
    /// Payloads that were checked, in the order of the log.
    package private(set) var payloads: Int64 = 0
    /// Payloads that prove every event and every confirmation that cites them.
    package private(set) var verified: Int64 = 0
    /// The same by trust.
    package private(set) var byTrust: [Verification.Trust: Int64] = [:]
    /// Payloads that were erased, or came after an erasure and were not kept: the chain proves that
    /// they existed.
    package private(set) var notKept: Int64 = 0
    /// The events, by lane, whose payloads are not kept, and those that such payloads repeat.
    ///
    /// Memory grows with the number of their ranges.
    package private(set) var notKeptEvents: [UnkeptEvents] = []
    /// The first event without a proof, for itself or for a confirmation; nil if all are proven.
    package private(set) var firstFailure: Failure?

    /// Whether every event is proven.
    package var isOK: Bool { firstFailure == nil }

    /// An event that its evidence does not prove.
    package struct Failure: Codable, Hashable, Sendable {
        /// The event.
        package let position: Position
        /// SHA-256 of the payload; nil if the event cannot be read or the payload is missing.
        package let evidence: Digest?
        /// A machine-readable word: of `Reason`, or of the `Rejection` with which the payload is
        /// refused now.
        package let reason: String
        /// What was expected and what was found, and what to do.
        package let message: String
    }

    /// Why an event is not proven although the payload itself is not refused.
    package enum Reason: String, CaseIterable, Sendable {
        /// The payload is not in the log.
        case evidenceMissing = "evidence-missing"
        /// The payload does not match its address, or its record cannot be read.
        case evidenceDamaged = "evidence-damaged"
        /// The payload was verified against a root certificate that was not provided this time.
        case rootNotGiven = "root-not-given"
        /// The payload does not have the kind, the trust or the root that its record states.
        case evidenceDiffers = "evidence-differs"
        /// The content of the payload differs from the event.
        case eventNotProven = "event-not-proven"
        /// The payload does not repeat what the confirmation claims.
        case confirmationNotProven = "confirmation-not-proven"
        /// The columns of the event cannot be read.
        case eventMalformed = "event-malformed"
    }

    /// Creates an empty report.
    package init() {}

    mutating func take(_ result: PageResult) {
        guard isOK else { return }
        for trust in result.proven {
            payloads += 1
            verified += 1
            byTrust[trust, default: 0] += 1
        }
        notKept += Int64(result.notKept.count)
        for reason in UnkeptPayload.Reason.allCases {
            let here = result.notKept.filter { $0.reason == reason }
            guard let lane = here.first?.lane else { continue }
            // The pages come lane by lane.
            if notKeptEvents.last?.lane != lane { notKeptEvents.append(UnkeptEvents(lane: lane)) }
            notKeptEvents[notKeptEvents.count - 1].insert(here.flatMap(\.offsets), reason)
        }
        guard let failure = result.failure else { return }
        if failure.reason != Reason.eventMalformed.rawValue { payloads += 1 }
        firstFailure = failure
    }
}

/// The result for one page of payloads.
struct PageResult: Sendable {
    /// Trust of the payloads that prove their events, up to the first failure.
    var proven: [Verification.Trust] = []
    /// The payloads that are not kept.
    var notKept: [UnkeptPayload] = []
    /// The first failure.
    var failure: SignatureReport.Failure?
}

extension SignatureReport: Encodable {
    private enum CodingKeys: CodingKey {
        case payloads, verified, byTrust, notKept, notKeptEvents, firstFailure
    }

    /// Writes the report; the first failure is null if there is none.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(payloads, forKey: .payloads)
        try container.encode(verified, forKey: .verified)
        let byTrust = byTrust.map { ($0.key.rawValue, $0.value) }
        try container.encode(Dictionary(uniqueKeysWithValues: byTrust), forKey: .byTrust)
        try container.encode(notKept, forKey: .notKept)
        try container.encode(notKeptEvents, forKey: .notKeptEvents)
        try container.encode(firstFailure, forKey: .firstFailure)
    }
}
