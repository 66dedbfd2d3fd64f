import Events

/// Decides which parts of an unsigned body to trust (Concepts: trust).
///
/// What its embedded receipt proves counts as signed. The rest counts only if it is vouched for,
/// and never where it contradicts that receipt.
struct UnsignedReading {
    let intake: Intake
    let receipts: ReceiptReading

    private var policy: VerificationPolicy { intake.policy }

    /// The facts of a body; `own` are its bytes, without their surroundings.
    func read(_ original: UnsignedBody, own: [UInt8]) throws(Rejection) -> VerifiedPayload {
        if original.isUnusable, let first = original.unusable.first { throw first.refusal }
        let password = password(in: original)
        let trust = trust(password)
        let (body, payload) = try withoutSecrets(original, own)

        var notices: [VerifiedPayload.Notice] = []
        var proven: ReceiptReading.Proven?
        do throws(Rejection) {
            proven = try body.latestReceipt.map { text throws(Rejection) in
                try receipts.read(text)
            }
        } catch {
            guard trust != nil, UnsignedReading.isDamage(error) else {
                throw UnsignedReading.unproven(body, because: error, password)
            }
            notices.append(UnsignedReading.unverified(error))
        }
        notices += (proven?.notices ?? []) + UnusableRow.notices(body.unusable)

        if let proven, let contradiction = try contradiction(of: body, to: proven) {
            return VerifiedPayload([proven.group], notices: notices + [contradiction])
        }
        guard let trust else {
            guard let proven else {
                throw UnsignedReading.unproven(body, because: nil, password)
            }
            return VerifiedPayload(
                [proven.group],
                notices: notices + leftOut(of: body, provenBy: proven, password)
            )
        }

        // Never guessed: a purchase recorded under a wrong environment is a second stream for ever.
        // If the body names none, the signed receipt in it decides: it covers the same purchases.
        let named = try intake.environment(body.environment, proven?.environment)
        try policy.checkAccepted(named.environment)
        try policy.checkBundleId(body.bundleId, of: body.kind.title)
        let facts = try body.facts(
            environment: named.environment,
            receiptDate: proven?.receiptDate
        )
        if facts.isEmpty, proven?.group.value.isEmpty ?? true, let first = body.unusable.first {
            throw first.refusal
        }
        let vouched = intake.verified(
            facts,
            by: payload,
            body.kind,
            Verification(trust: trust, root: nil),
            // Reading the body again also reads the embedded receipt.
            context: named.context ?? proven?.group.evidence.context
        )
        return VerifiedPayload([proven?.group, vouched].compactMap { $0 }, notices: notices)
    }

    // Nil if nothing vouches for the body. A password is always compared if possible, whoever
    // vouches, because a wrong one contradicts the voucher.
    private func trust(_ password: Password) -> Verification.Trust? {
        switch (password, intake.voucher) {
        case (.right, _): .sharedSecret
        case (.wrong, _): nil
        case (.notCompared, .operator): .vouched
        case (.notCompared, .client): .fetched
        case (.notCompared, .unvouched): nil
        }
    }

    /// What the password of a body shows.
    private enum Password {
        case right
        case wrong
        /// The body has none, or no secret is configured.
        case notCompared
    }

    private func password(in body: UnsignedBody) -> Password {
        // An empty secret counts as none: leaving it empty does not mean trusting empty passwords.
        let secrets = policy.sharedSecrets.filter { !$0.isEmpty }
        guard body.kind == .statusUpdateNotification, !secrets.isEmpty,
            let password = body.password, !password.isEmpty
        else { return .notCompared }
        // Compares with all of them, so that the time does not reveal which one matched.
        let matches = secrets.map { UnsignedReading.isSame($0, password) }
        return matches.contains(true) ? .right : .wrong
    }

    // Facts are derived from the stored form, so the stored payload yields the same facts again.
    private func withoutSecrets(
        _ body: UnsignedBody,
        _ payload: [UInt8]
    ) throws(Rejection) -> (UnsignedBody, [UInt8]) {
        guard let clean = SecretFreeBody.redactedAccepted(payload, secrets: policy.sharedSecrets)
        else {
            throw Rejection(
                .secretMisplaced,
                "The payload also contains a password under another name, and a secret is never"
                    + " stored; remove it and ingest the payload again."
            )
        }
        guard !ByteScan.areEqual(clean[...], payload[...]),
            case .unsigned(let again, _) = try PayloadForm(clean)
        else { return (body, payload) }
        return (again, clean)
    }

    // Constant time, wherever the first difference is.
    private static func isSame(_ left: String, _ right: ArraySlice<UInt8>) -> Bool {
        let left = Array(left.utf8)
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

extension UnsignedReading {
    /// How the body contradicts the receipt it embeds; nil if they agree.
    ///
    /// A row that only one of them has is not a contradiction: a receipt shows one moment, and
    /// consumables vanish from it (Apple's data: traps 35, 42).
    private func contradiction(
        of body: UnsignedBody,
        to proven: ReceiptReading.Proven
    ) throws(Rejection) -> VerifiedPayload.Notice? {
        guard let what = try difference(between: body, and: proven) else { return nil }
        return VerifiedPayload.Notice(
            code: .receiptContradicted,
            message: "The body contradicts its embedded signed receipt: \(what). Accepted from"
                + " the receipt: \(proven.group.value.count); of the body's statements,"
                + " \(UnsignedReading.counted(body.statementCount)) left out.",
            leftOut: body.statementCount
        )
    }

    private func difference(
        between body: UnsignedBody,
        and proven: ReceiptReading.Proven
    ) throws(Rejection) -> String? {
        if let bundleId = body.bundleId, bundleId != proven.bundleId {
            return "it names the app \(bundleId), the receipt \(proven.bundleId)"
        }
        if let environment = body.environment, environment != proven.environment {
            return "it names the environment \(environment), the receipt \(proven.environment)"
        }

        let rows = Dictionary(
            proven.group.value.map { ($0.content[.transactionId], $0) },
            uniquingKeysWith: { first, _ in first }
        )
        let periods = Dictionary(
            proven.group.value.map { (PeriodKey($0), $0) },
            uniquingKeysWith: { first, _ in first }
        )
        let stated = try body.facts(
            environment: proven.environment,
            receiptDate: proven.receiptDate
        )

        for (entry, fact) in zip(body.entries, stated) {
            let row =
                fact.content[.transactionId].flatMap { rows[$0] }
                ?? periods[PeriodKey(fact)]
            guard let row,
                let what = UnsignedReading.difference(between: fact, at: entry.place, and: row)
            else { continue }
            return "transaction \(fact.content.text(.transactionId) ?? "") has another \(what)"
        }
        return nil
    }

    // Finds a row that has another transaction id, or none: a restore, or a forgery.
    private struct PeriodKey: Hashable {
        let stream: StreamID
        let purchaseDate: Instant
        let productId: FieldValue?

        init(_ fact: Fact) {
            stream = fact.stream
            purchaseDate = fact.purchaseDate
            productId = fact.content[.productId]
        }
    }

    private static func difference(
        between stated: Fact,
        at place: UnsignedBody.Place,
        and proven: Fact
    ) -> String? {
        if stated.stream != proven.stream { return "original transaction id" }
        if stated.content[.productId] != proven.content[.productId] { return "product" }
        if stated.purchaseDate != proven.purchaseDate { return "purchase date" }
        // What was sent in may predate an extension (Apple's data: trap 7).
        let isOlder = place == .sent && stated.expiresDate < proven.expiresDate
        if !isOlder, stated.expiresDate != proven.expiresDate { return "expiry" }
        if let stated = stated.content[.quantity], let proven = proven.content[.quantity],
            stated != proven
        {
            return "quantity"
        }
        let field = Field.webOrderLineItemId
        if let stated = stated.content[field], let proven = proven.content[field], stated != proven
        {
            return "web order line item id"
        }
        return nil
    }
}

extension UnsignedReading {
    private func leftOut(
        of body: UnsignedBody,
        provenBy proven: ReceiptReading.Proven,
        _ password: Password
    ) -> [VerifiedPayload.Notice] {
        let ids = Set(proven.group.value.map { $0.content[.transactionId] })
        let shown = body.entries.count { entry in
            ids.contains(entry.entry.transactionId.map(FieldValue.text))
        }
        let count = body.statementCount - shown
        guard count > 0 else { return [] }

        let left =
            "Of \(body.statementCount) statements, \(UnsignedReading.counted(count)) left out"
        let (code, reason): (VerifiedPayload.Notice.Code, String) =
            password == .wrong
            ? (
                .sharedSecretMismatch,
                "the password equals none of the shared secrets, and the embedded signed receipt"
                    + " does not contain them. If the app has, or had, another secret, add it."
            )
            : (
                .unprovenLeftOut,
                "the embedded signed receipt does not contain them, and nothing else proves them."
                    + " If you know that the payload came from Apple, vouch for it."
            )
        return [
            VerifiedPayload.Notice(code: code, message: "\(left): \(reason)", leftOut: count)
        ]
    }

    private static func counted(_ count: Int) -> String { count == 1 ? "1 was" : "\(count) were" }

    private static func unproven(
        _ body: UnsignedBody,
        because error: Rejection?,
        _ password: Password
    ) -> Rejection {
        if let error, !isDamage(error), error.code != .ios6Receipt { return error }
        // An untrusted root must be settled first: it may prove everything.
        if let error, error.code == .chainUntrusted {
            return Rejection(
                .chainUntrusted,
                "The payload is \(body.kind.title), which is not signed. Its embedded receipt:"
                    + " \(error.message)"
            )
        }
        let receipt =
            error.map { "the receipt it embeds proves nothing (\($0.code.rawValue))" }
            ?? "embeds no receipt that proves anything"
        if password == .wrong {
            return Rejection(
                .sharedSecretMismatch,
                "The version 1 notification has a password that equals none of the shared secrets,"
                    + " and \(receipt): it is for another app, the secret was changed, or it is not"
                    + " from Apple. If a secret is missing, add it."
            )
        }
        return Rejection(
            .unproven,
            "The payload is \(body.kind.title), which is not signed, and \(receipt). If you know"
                + " that it came from Apple, vouch for it." + hint(body)
        )
    }

    // What vouching alone does not solve.
    private static func hint(_ body: UnsignedBody) -> String {
        if let password = body.password, password.isEmpty {
            return
                " Its password is blank, as in every payload kept after a refusal: the shared"
                + " secret can only prove the original."
        }
        guard body.environment == nil else { return "" }
        return " It also does not name its environment: name the environment to assume."
    }

    private static func unverified(_ error: Rejection) -> VerifiedPayload.Notice {
        VerifiedPayload.Notice(
            code: .receiptUnverified,
            message: "The receipt that the payload embeds could not be verified"
                + " (\(error.code.rawValue)); its statements are accepted without proof.",
            leftOut: 0
        )
    }

    // Whether a receipt is merely unreadable, as in samples and logs that were truncated or
    // anonymised. A genuine receipt of another app or environment refuses the payload.
    private static func isDamage(_ error: Rejection) -> Bool {
        switch error.code {
        case .bundleIdMismatch, .environmentNotAccepted, .environmentUnknown, .payloadTooLarge:
            false
        default: true
        }
    }
}
