import Events

/// A transaction or renewal info as a program decoded it: the claims of a JWS without the JWS.
///
/// Some servers keep nothing else. It counts only if the operator vouches for it; the same
/// statement with its signature gives the same fact and proves it.
struct DecodedStatement {
    /// What it is.
    let kind: PayloadKind

    private let claims: JSON.Value

    /// Recognises an object by the claims that only such statements have; nil for other objects.
    init?(_ body: JSON.Value) {
        func has(_ names: StaticString...) -> Bool { names.contains { body[$0] != nil } }
        if has("notificationType", "notificationUUID") { return nil }
        if has("transactionId"), has("purchaseDate"), has("productId") {
            kind = .decodedTransaction
        } else if has("originalTransactionId"), has("autoRenewStatus", "autoRenewProductId") {
            kind = .decodedRenewalInfo
        } else {
            return nil
        }
        claims = body
    }

    /// The fact with the statement as its evidence; refused unless the operator vouches for it.
    func verified(_ payload: [UInt8], _ intake: Intake) throws(Rejection) -> Verified<[Fact]> {
        guard case .operator = intake.voucher else {
            throw Rejection(
                .unproven,
                "The payload is \(kind.title), which is decoded data without its signature. Give"
                    + " the JWS it came from or, if you know that Apple signed it, vouch for it."
            )
        }
        let secrets = intake.policy.sharedSecrets
        guard SecretFreeBody.redactedAccepted(payload, secrets: secrets) == payload else {
            throw Rejection(
                .secretMisplaced,
                "The payload is \(kind.title) and contains a secret, which is never stored; remove"
                    + " it and ingest the payload again."
            )
        }

        let bundleId = try Claims.bundleId(claims)
        // Renewal info names no app (Apple's data: JWS verification).
        if kind == .decodedTransaction {
            try intake.policy.checkBundleId(bundleId, of: Statement.Kind.transaction.rawValue)
        }
        let named = try intake.environment(try Claims.environment(claims))
        try intake.policy.checkAccepted(named.environment)
        guard let asOf = try AppleClock.date(of: claims) else {
            throw Rejection(
                .dateMissing,
                "The payload is \(kind.title) without signedDate or any other date from Apple, so"
                    + " it cannot be placed on Apple's clock."
            )
        }

        let provenance = Provenance(
            environment: named.environment,
            bundleId: bundleId ?? "",
            asOf: asOf
        )
        let fact =
            try kind == .decodedTransaction
            ? Translation.transaction(claims, provenance, isSigned: false)
            : Translation.renewal(claims, provenance, isSigned: false)
        let verification = Verification(trust: .vouched, root: nil)
        return intake.verified([fact], by: payload, kind, verification, context: named.context)
    }
}
