/// The smallest piece that belongs together and proves itself, kept with how it was verified.
///
/// For example a JWS with those nested in it, an app receipt, an element of a statuses response, an
/// unsigned body. What surrounded it, such as a page of a response, an array or white space, is not
/// kept.
package struct Evidence: Hashable, Sendable {
    /// The bytes as they arrived; for an app receipt, the PKCS #7 that its base64 encodes.
    package let payload: [UInt8]
    /// The SHA-256 of those bytes: the evidence's address.
    package let digest: Digest
    /// What the piece is.
    package let kind: PayloadKind
    /// The channel it arrived by: `file`, `notification`, `history` …, as the operator names it.
    package let source: String
    /// Whether it arrived live or by an import.
    package let arrival: Arrival
    /// How it was verified.
    package let verification: Verification
    /// The unsigned values around it that were used; nil if it needed none.
    package let context: EvidenceContext?
    /// When it reached us, on our clock.
    package let receivedAt: Instant

    /// Evidence for a piece; computes its digest.
    package init(
        payload: [UInt8],
        kind: PayloadKind,
        source: String,
        arrival: Arrival = .live,
        verification: Verification,
        context: EvidenceContext? = nil,
        receivedAt: Instant
    ) {
        self.init(
            payload: payload,
            digest: Digest.of(payload),
            kind: kind,
            source: source,
            arrival: arrival,
            verification: verification,
            context: context,
            receivedAt: receivedAt
        )
    }

    /// Evidence for a piece whose digest is already known; `digest` must be that of the payload.
    package init(
        payload: [UInt8],
        digest: Digest,
        kind: PayloadKind,
        source: String,
        arrival: Arrival,
        verification: Verification,
        context: EvidenceContext?,
        receivedAt: Instant
    ) {
        self.payload = payload
        self.digest = digest
        self.kind = kind
        self.source = source
        self.arrival = arrival
        self.verification = verification
        self.context = context
        self.receivedAt = receivedAt
    }
}

/// How a payload reached the ledger.
///
/// The raw value is stored with the evidence and printed: add cases, never rename them.
public enum Arrival: String, CaseIterable, Sendable {
    /// Live, soon after it was signed: over HTTP, from stdin, by a poll.
    case live
    /// By an import of files, at any time later.
    case imported = "import"
}

/// What a piece of evidence is.
package enum PayloadKind: String, CaseIterable, Sendable {
    /// A signed transaction: a JWS.
    case signedTransaction = "signed-transaction"
    /// Signed renewal info: a JWS.
    case signedRenewalInfo = "signed-renewal-info"
    /// A version 2 notification: a JWS with those nested in it.
    case signedNotification = "signed-notification"
    /// An element of `lastTransactions` of a statuses response: a signed transaction and the signed
    /// renewal info of one subscription.
    case subscriptionStatus = "subscription-status"
    /// An app receipt: PKCS #7.
    case appReceipt = "app-receipt"
    /// A verifyReceipt response of either generation, or an array `latest_receipt_info` of one.
    case verifyReceiptResponse = "verify-receipt-response"
    /// A version 1 notification, without its `password`.
    case statusUpdateNotification = "status-update-notification"
    /// The claims of a transaction without the JWS, as a program decoded them.
    case decodedTransaction = "decoded-transaction"
    /// The claims of renewal info without the JWS, as a program decoded them.
    case decodedRenewalInfo = "decoded-renewal-info"
    /// The operator's statement of who owns a subscription.
    case customerLink = "customer-link"
    /// The operator's import of a version of the product catalog.
    case catalogVersion = "catalog-version"
    /// The operator's statement that a part of the log was erased.
    case erasureStatement = "erasure-statement"
}

/// How a payload was verified.
public struct Verification: Hashable, Sendable {
    /// Why the payload is believed.
    package let trust: Trust
    /// SHA-256 of the DER of the root certificate the signature leads to; nil if nothing is
    /// signed.
    package let root: Digest?

    /// The verification of a signed payload, ending at that root.
    package static func signed(root: Digest) -> Verification {
        Verification(trust: .signed, root: root)
    }

    /// A verification of that trust; only `signed` has a root.
    package init(trust: Trust, root: Digest?) {
        precondition((trust == .signed) == (root != nil), "\(trust) with root \(root as Any)")
        self.trust = trust
        self.root = root
    }

    /// Why a payload is believed, the strongest reason first (Concepts: trust).
    ///
    /// The raw value is stored with the evidence and printed: add cases, never rename them.
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
/// `EventLog.append` accepts nothing else, and only the verifiers in `AppStore` create one: the
/// initialiser is not visible outside the package, and a test checks the sources for other callers.
package struct Verified<Value: Sendable>: Sendable {
    /// What was proven.
    package let value: Value
    /// The payload that proves it.
    package let evidence: Evidence

    /// For verifiers only.
    package init(_ value: Value, evidence: Evidence) {
        self.value = value
        self.evidence = evidence
    }
}
