/// A payload kept, with how it was verified.
public struct Evidence: Hashable, Sendable {
    /// The exact bytes that arrived.
    public let payload: [UInt8]
    /// The SHA-256 of those bytes: the evidence's address.
    public let digest: Digest
    /// What the payload is.
    public let kind: PayloadKind
    /// The channel it came by: `file`, `notification`, `history` …, as the operator names it.
    public let source: String
    /// How it was verified.
    public let verification: Verification
    /// When it reached us, on our clock.
    public let receivedAt: Instant

    /// Evidence for a payload; computes its digest.
    public init(
        payload: [UInt8],
        kind: PayloadKind,
        source: String,
        verification: Verification,
        receivedAt: Instant
    ) {
        self.payload = payload
        self.digest = Digest.of(payload)
        self.kind = kind
        self.source = source
        self.verification = verification
        self.receivedAt = receivedAt
    }
}

/// What a payload is, by its outermost form.
public enum PayloadKind: String, CaseIterable, Sendable {
    /// A bare signed transaction.
    case signedTransaction = "signed-transaction"
    /// Bare signed renewal info.
    case signedRenewalInfo = "signed-renewal-info"
    /// A notification, version 2: the POST body or the bare JWS.
    case signedNotification = "signed-notification"
    /// A response of the App Store Server API (history, statuses, refunds, notification history).
    case serverAPIResponse = "server-api-response"
    /// A PKCS#7 app receipt, as DER or base64.
    case appReceipt = "app-receipt"
    /// A verifyReceipt response of either generation, or an array `latest_receipt_info` of one.
    case verifyReceiptResponse = "verify-receipt-response"
    /// A version 1 notification, its `password` left out.
    case statusUpdateNotification = "status-update-notification"
    /// The operator's statement whose subscription it is.
    case customerLink = "customer-link"
}

/// How a payload was verified.
public struct Verification: Hashable, Sendable {
    /// The trust it has.
    public let trust: Trust
    /// SHA-256 of the DER of the root certificate the signature leads to; nil where nothing is
    /// signed.
    public let root: Digest?

    /// The verification of a signed payload, ending at that root.
    public static func signed(root: Digest) -> Verification {
        Verification(trust: .signed, root: root)
    }

    /// A verification of that trust; only `signed` has a root.
    public init(trust: Trust, root: Digest?) {
        precondition((trust == .signed) == (root != nil), "\(trust) with root \(root as Any)")
        self.trust = trust
        self.root = root
    }

    /// Why a payload is believed, the strongest reason first (DESIGN §5).
    ///
    /// The raw value is stored with the evidence and printed: added, never renamed.
    public enum Trust: String, CaseIterable, Sendable {
        /// Every statement taken from it is signed, and the signature leads to a pinned root.
        case signed
        /// Our own client fetched it from Apple over TLS.
        case fetched
        /// A version 1 notification that carried the shared secret.
        case sharedSecret = "shared-secret"
        /// The operator vouches for it.
        case vouched
    }
}

/// A value that a verifier has proven, with the evidence for it.
///
/// `EventLog.append` takes nothing else, and only the verifiers in `AppStore` make one (promise 9):
/// the initialiser is not visible outside the package, and a test reads the sources for it.
public struct Verified<Value: Sendable>: Sendable {
    /// What was proven.
    public let value: Value
    /// The payload that proves it.
    public let evidence: Evidence

    /// For verifiers only.
    package init(_ value: Value, evidence: Evidence) {
        self.value = value
        self.evidence = evidence
    }
}
