import Events

/// A number with the noun it counts: `1 payload`, `2 payloads`.
func counted(_ count: some BinaryInteger, _ noun: String) -> String {
    "\(count) \(noun)" + (count == 1 ? "" : "s")
}

extension Instant {
    /// For tables: `2026-03-03 09:00:00`, milliseconds only where there are any.
    var clock: String {
        description.replacing("T", with: " ").replacing("Z", with: "")
    }

    /// Milliseconds; nil for the epoch, which stands for "none" in a key.
    var ifSet: Int64? { milliseconds == 0 ? nil : milliseconds }
}

extension Erasure.Scope {
    /// What was erased, in a few words.
    var summary: String {
        switch self {
        case .subscription: "erased: the subscription"
        case .customer: "erased: what identifies the customer"
        case .link: "erased: links to a former customer"
        case .payload: "erased: payloads shared with another subscription"
        }
    }
}

extension Fact {
    /// A fact in a few words.
    var summary: String {
        switch kind {
        case .transaction: transactionSummary
        case .renewal: renewalSummary
        case .notification:
            [content.text(.notificationType) ?? "", content.text(.subtype)]
                .compactMap { $0 }.joined(separator: "/")
        case .link: linkSummary
        case .catalog:
            "version \(content.integer(.catalogVersion) ?? 0) of the catalog from "
                + (content.instant(.effectiveFrom)?.clock ?? "?")
        case .erasure: erasureSummary
        case .erased: "erased"
        }
    }

    private var erasureSummary: String {
        guard let erasure = Erasure(content) else { return "erasure" }
        var words = [erasure.scope.summary]
        if !erasure.events.isEmpty { words.append("events \(erasure.events)") }
        if let by = content.text(.erasedBy) { words.append("by \(by)") }
        if let reason = content.text(.erasureReason) { words.append(reason) }
        return words.joined(separator: " · ")
    }

    private var linkSummary: String {
        var words = [content.text(.customerId).map { "customer \($0)" } ?? "no customer"]
        if let by = content.text(.linkedBy) { words.append("by \(by)") }
        if let reason = content.text(.linkReason) { words.append(reason) }
        return words.joined(separator: " · ")
    }

    private var transactionSummary: String {
        var words = [content.text(.productId) ?? "?"]
        if purchaseDate.milliseconds != 0 {
            let end = expiresDate.ifSet == nil ? "" : " → \(expiresDate.clock)"
            words.append(purchaseDate.clock + end)
        }
        if let price = content.integer(.price) {
            words.append(Amount.text(price, content.text(.currency)))
        }
        if let offer = content.text(.offerDiscountType) { words.append(offer) }
        if content.boolean(.isUpgraded) == true { words.append("upgraded") }
        if let revoked = content.instant(.revocationDate) {
            words.append("revoked \(revoked.clock)")
        }
        if content.text(.inAppOwnershipType) == "FAMILY_SHARED" { words.append("family") }
        return words.joined(separator: " · ")
    }

    // An element that a response leaves out, and what carries no setting, says nothing about it.
    private var autoRenewSummary: String {
        switch content.integer(.autoRenewStatus) {
        case 0: "auto-renew off"
        case 1: "auto-renew on"
        default: "auto-renew unknown"
        }
    }

    private var renewalSummary: String {
        var words = [autoRenewSummary]
        if let next = content.text(.autoRenewProductId), next != content.text(.productId) {
            words.append("next \(next)")
        }
        if content.boolean(.isInBillingRetryPeriod) == true { words.append("billing retry") }
        if let grace = content.instant(.gracePeriodExpiresDate) {
            words.append("grace until \(grace.clock)")
        }
        if let intent = content.integer(.expirationIntent) {
            words.append("expiration intent \(intent)")
        }
        return words.joined(separator: " · ")
    }
}

extension ErasedParts {
    /// The word of documents; nil for nothing.
    var word: String? {
        switch self {
        case .nothing: nil
        case .payload: "payload"
        case .person: "person"
        case .everything: "everything"
        }
    }
}
