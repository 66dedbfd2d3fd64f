public import Events

/// Turns payloads of the App Store into verified facts, or refuses them with a reason.
///
/// Bytes and trust anchors in, values out: no I/O and no clock. One verifier serves any number of
/// threads; it remembers only which certificate chains it has judged. A payload counts as a whole:
/// if one statement in it cannot be verified, nothing of it is taken.
public struct AppStoreVerifier: Sendable {
    /// What is trusted and accepted.
    public let policy: VerificationPolicy

    let opener: StatementOpener

    /// Largest payload accepted, in bytes: a server response has some hundred thousand, an app
    /// receipt of a long customer life a few million.
    public static let payloadByteCountMax = 16 << 20

    /// A verifier with that policy.
    public init(policy: VerificationPolicy) {
        self.policy = policy
        opener = StatementOpener(roots: policy.roots)
    }

    /// The facts of a payload, with the payload as their evidence.
    ///
    /// The form is recognised by itself: a notification as posted, a bare JWS, or a response of the
    /// App Store Server API. Facts come in the payload's order, of a notification its transaction,
    /// its renewal info, then itself. `receivedAt` is our clock; it is recorded with the evidence,
    /// and the certificates of a statement without any date of Apple's are judged at it, before the
    /// statement is refused for want of a date. Throws `Rejection`.
    public func verify(
        payload: [UInt8],
        source: String,
        receivedAt: Instant
    ) throws(Rejection) -> Verified<[Fact]> {
        let envelope = try Envelope(payload)
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
            verification: Verification(trust: .signed, root: root),
            receivedAt: receivedAt
        )
        return Verified(reading.facts, evidence: evidence)
    }
}
