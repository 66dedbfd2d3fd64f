public import Events

/// Turns payloads of the App Store into verified facts, or refuses them with a reason.
///
/// Bytes and trust anchors in, values out: no I/O and no clock. One verifier serves any number of
/// threads; it remembers only which certificate chains it has judged. A signed payload counts as a
/// whole: if one statement in it cannot be verified, nothing of it is taken.
public struct AppStoreVerifier: Sendable {
    /// What is trusted and accepted.
    public let policy: VerificationPolicy

    let opener: StatementOpener
    let receiptOpener: ReceiptOpener

    /// Largest payload accepted, in bytes: a server response has some hundred thousand, an app
    /// receipt of a long customer life a few million.
    public static let payloadByteCountMax = 16 << 20

    /// A verifier with that policy.
    public init(policy: VerificationPolicy) {
        self.policy = policy
        opener = StatementOpener(roots: policy.roots)
        receiptOpener = ReceiptOpener(roots: policy.roots)
    }

    /// The facts of a payload, with the payload as their evidence.
    ///
    /// The form is recognised by itself: a notification of either version as posted, a bare JWS, a
    /// response of the App Store Server API or of verifyReceipt, an app receipt, or the operator's
    /// statement whose a subscription is (`CustomerLink`). Facts come in the
    /// payload's order, of a notification its transactions, its renewal info, then itself.
    ///
    /// - Parameters:
    ///   - payload: The exact bytes that arrived.
    ///   - source: The channel they came by; recorded with the evidence.
    ///   - receivedAt: Our clock; recorded with the evidence. The certificates of a statement
    ///     without any date of Apple's are judged at it, before the statement is refused for want
    ///     of a date.
    ///   - voucher: Who stands behind statements that are not signed.
    /// - Returns: The facts with their evidence, and what was left out.
    /// - Throws: `Rejection`; then nothing of the payload counts.
    public func verify(
        payload: [UInt8],
        source: String,
        receivedAt: Instant,
        voucher: Voucher = .nobody
    ) throws(Rejection) -> VerifiedPayload {
        let receipts = ReceiptReading(
            policy: policy,
            opener: receiptOpener,
            receivedAt: receivedAt
        )
        switch try PayloadForm(payload) {
        case .signed(let envelope):
            return try read(envelope, in: payload, source: source, receivedAt: receivedAt)
        case .receipt(let bytes):
            return VerifiedPayload([try receipts.read(bytes, source: source).group])
        case .unsigned(let body):
            let reading = UnsignedReading(
                policy: policy,
                receipts: receipts,
                voucher: voucher,
                source: source,
                receivedAt: receivedAt
            )
            return try reading.read(body, in: payload)
        case .link(let link):
            let verified = try link.verified(
                payload,
                policy: policy,
                voucher: voucher,
                source: source,
                receivedAt: receivedAt
            )
            return VerifiedPayload([verified])
        }
    }

    private func read(
        _ envelope: Envelope,
        in payload: [UInt8],
        source: String,
        receivedAt: Instant
    ) throws(Rejection) -> VerifiedPayload {
        var reading = PayloadReading(
            policy: policy,
            opener: opener,
            receivedAt: receivedAt,
            envelope: envelope
        )
        for part in envelope.parts { try reading.read(part) }
        guard let kind = reading.kind, let root = reading.root else {
            throw Rejection(
                .nothingSigned,
                "The server response holds no signed transaction or notification: there is nothing"
                    + " to verify and nothing to enter."
            )
        }
        let evidence = Evidence(
            payload: payload,
            kind: kind,
            source: source,
            verification: .signed(root: root),
            receivedAt: receivedAt
        )
        return VerifiedPayload([Verified(reading.facts, evidence: evidence)])
    }
}
