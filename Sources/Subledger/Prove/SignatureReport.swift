public import Events

/// What verifying the stored payloads again came to.
public struct SignatureReport: Sendable {
    /// Payloads that were looked at, in the order of the log.
    public private(set) var payloads: Int64 = 0
    /// Payloads that prove every event and every confirmation that cites them.
    public private(set) var verified: Int64 = 0
    /// The same by trust.
    public private(set) var byTrust: [Verification.Trust: Int64] = [:]
    /// Payloads that were erased, or came after an erasure and were not kept: the chain proves that
    /// they were there.
    public private(set) var notKept: Int64 = 0
    /// The first event that is not proven, or whose confirmation is not; nil where all are.
    public private(set) var firstFailure: Failure?

    /// Whether every event is proven.
    public var isOK: Bool { firstFailure == nil }

    /// An event that its evidence does not prove.
    public struct Failure: Hashable, Sendable {
        /// The event.
        public let position: Position
        /// SHA-256 of the payload; nil where the event cannot be read or the payload is not there.
        public let evidence: Digest?
        /// A machine word: of `Reason`, or of the `Rejection` with which the payload is refused
        /// now.
        public let reason: String
        /// What was expected and what was found, and what to do.
        public let message: String
    }

    /// Why an event is not proven, where the payload itself is not refused.
    public enum Reason: String, CaseIterable, Sendable {
        /// The payload is not in the log.
        case evidenceMissing = "evidence-missing"
        /// The payload is not what its address says, or its record cannot be read.
        case evidenceDamaged = "evidence-damaged"
        /// The payload was verified against a root certificate that was not given now.
        case rootNotGiven = "root-not-given"
        /// The payload is not of the kind, the trust or the root that its record says.
        case evidenceDiffers = "evidence-differs"
        /// The payload says something else than the event.
        case eventNotProven = "event-not-proven"
        /// The payload does not repeat what the confirmation says that it repeats.
        case confirmationNotProven = "confirmation-not-proven"
        /// The columns of the event cannot be read.
        case eventMalformed = "event-malformed"
    }

    /// Nothing yet.
    public init() {}

    mutating func take(_ result: PageResult) {
        guard isOK else { return }
        for trust in result.proven {
            payloads += 1
            verified += 1
            byTrust[trust, default: 0] += 1
        }
        notKept += result.notKept
        guard let failure = result.failure else { return }
        if failure.reason != Reason.eventMalformed.rawValue { payloads += 1 }
        firstFailure = failure
    }
}

/// What became of one page of payloads.
struct PageResult: Sendable {
    /// Trust of the payloads that prove their events, up to the first that does not.
    var proven: [Verification.Trust] = []
    /// How many payloads are not kept.
    var notKept: Int64 = 0
    /// The first that does not.
    var failure: SignatureReport.Failure?
}
