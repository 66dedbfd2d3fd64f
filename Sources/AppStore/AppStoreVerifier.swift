package import Events

/// Turns payloads of the App Store into verified facts, or refuses them with a reason.
///
/// Bytes and trust anchors in, values out: no I/O and no clock. One verifier serves any number of
/// threads; it remembers only which certificate chains it has judged. A signed payload is accepted
/// or refused as a whole: if one statement in it cannot be verified, none is used.
package struct AppStoreVerifier: Sendable {
    /// What it trusts and accepts.
    package let policy: VerificationPolicy

    let opener: StatementOpener
    let receiptOpener: ReceiptOpener

    /// Largest payload accepted, in bytes: a server response has a few hundred thousand, the app
    /// receipt of a long-time customer a few million.
    package static let payloadByteCountMax = 16 << 20

    /// A verifier with that policy.
    package init(policy: VerificationPolicy) {
        self.policy = policy
        opener = StatementOpener(roots: policy.roots)
        receiptOpener = ReceiptOpener(roots: policy.roots)
    }

    /// The facts of a payload, by the units of evidence that prove them.
    ///
    /// The form is detected: a notification of either version as posted, a bare JWS, a response of
    /// the App Store Server API or of verifyReceipt, an app receipt, or the operator's statement of
    /// who owns a subscription (`CustomerLink`). Facts come in the payload's order; a notification
    /// gives its transactions, then its renewal info, then itself.
    ///
    /// A unit is the smallest piece that proves itself: a JWS with those nested in it, an element
    /// of a statuses response, the PKCS #7 of an app receipt, an unsigned body. What surrounds it,
    /// such as a page of a response, white space or a receipt's base64, is not kept. Unsigned
    /// values from there that were used become the unit's context. Units with the same bytes count
    /// as one.
    ///
    /// - Parameters:
    ///   - payload: The exact bytes that arrived, or those of a unit that is in evidence.
    ///   - source: The channel they arrived by; recorded with the evidence.
    ///   - arrival: Whether they arrived live or by an import; recorded with the evidence.
    ///   - receivedAt: Our clock; recorded with the evidence. The certificates of a statement
    ///     without any date from Apple are judged at this time, before the statement is refused for
    ///     having no date.
    ///   - voucher: Who vouches for statements that are not signed.
    ///   - context: The context of a unit that is in evidence. Its environment replaces what the
    ///     response around the unit said, and the assumed environment.
    /// - Returns: The facts with their evidence, and what was left out.
    /// - Throws: `Rejection`; then nothing of the payload is used.
    package func verify(
        payload: [UInt8],
        source: String,
        arrival: Arrival = .live,
        receivedAt: Instant,
        voucher: Voucher = .unvouched,
        context: EvidenceContext? = nil
    ) throws(Rejection) -> VerifiedPayload {
        try verify(
            RecognisedPayload(payload),
            source: source,
            arrival: arrival,
            receivedAt: receivedAt,
            voucher: voucher,
            context: context,
            known: { _ in nil }
        )
    }

    /// The same, without checking signatures of bytes that are already in evidence.
    ///
    /// `known` is called with the SHA-256 of each signed unit and returns how exactly those bytes
    /// were verified before. If that was by a signature under a root of the policy, neither the
    /// signatures of the unit nor their chains are checked again. Everything else is judged as
    /// always, so the facts are the same. A wrong answer from `known` lets a forgery in.
    package func verify(
        _ payload: RecognisedPayload,
        source: String,
        arrival: Arrival = .live,
        receivedAt: Instant,
        voucher: Voucher = .unvouched,
        context: EvidenceContext? = nil,
        known: @escaping (Digest) -> Verification?
    ) throws(Rejection) -> VerifiedPayload {
        let intake = Intake(
            policy: policy,
            source: source,
            arrival: arrival,
            receivedAt: receivedAt,
            voucher: voucher,
            context: context,
            known: known
        )
        let receipts = ReceiptReading(intake: intake, opener: receiptOpener)
        switch payload.form {
        case .signed(let envelope): return try read(envelope, intake)
        case .receipt(let bytes):
            let proven = try receipts.read(bytes)
            return VerifiedPayload([proven.group], notices: proven.notices)
        case .unsigned(let body, let own):
            return try UnsignedReading(intake: intake, receipts: receipts).read(body, own: own)
        case .decoded(let statement, let own):
            return VerifiedPayload([try statement.verified(own, intake)])
        case .link(let link, let own):
            return VerifiedPayload([try link.verified(own, intake)])
        }
    }

    private func read(
        _ envelope: Envelope,
        _ intake: Intake
    ) throws(Rejection) -> VerifiedPayload {
        guard !envelope.parts.isEmpty else {
            throw Rejection(
                .nothingSigned,
                "The server response contains no signed transaction or notification: there is "
                    + "nothing to verify or append."
            )
        }
        var groups: [Verified<[Fact]>] = []
        groups.reserveCapacity(envelope.parts.count)
        var digests: Set<Digest> = []
        for part in envelope.parts {
            let digest = part.digest
            guard digests.insert(digest).inserted else { continue }
            let hint = envelope.environmentHint
            var reading = UnitReading(part.kind, digest, hint: hint, intake, opener)
            groups.append(try reading.proven(by: part))
        }
        return VerifiedPayload(groups)
    }
}

extension AppStoreVerifier {
    /// How much a payload that was refused shows of its origin: its outermost signature decides.
    package func standing(ofRefused payload: [UInt8], receivedAt: Instant) -> Standing {
        do throws(Rejection) {
            switch try RecognisedPayload(payload).form {
            case .signed(let envelope):
                guard case .notification(let compact)? = envelope.parts.first else {
                    return .unproven
                }
                return opener.standing(of: compact, receivedAt: receivedAt)
            case .receipt, .unsigned, .decoded, .link: return .unproven
            }
        } catch {
            return .unproven
        }
    }

    /// The digests that the units of a payload would have as evidence, each once, in their order.
    ///
    /// Verifies nothing: this is for looking up which bytes are known. Omits units that cannot be
    /// read.
    package func evidenceDigests(of payload: RecognisedPayload) -> [Digest] {
        switch payload.form {
        case .signed(let envelope):
            var digests: Set<Digest> = []
            return envelope.parts.map(\.digest).filter { digests.insert($0).inserted }
        case .receipt(let bytes): return [receiptDigest(bytes)].compactMap { $0 }
        case .unsigned(let body, let own):
            let clean = SecretFreeBody.redactedAccepted(own, secrets: policy.sharedSecrets)
            return [body.latestReceipt.flatMap(receiptDigest), clean.map(Digest.of)]
                .compactMap { $0 }
        case .decoded(_, let own), .link(_, let own): return [Digest.of(own)]
        }
    }

    private func receiptDigest(_ receipt: ArraySlice<UInt8>) -> Digest? {
        do throws(Rejection) {
            return try ReceiptEncoding.decoded(receipt).withUnsafeBytes { Digest.of($0) }
        } catch {
            return nil
        }
    }
}
