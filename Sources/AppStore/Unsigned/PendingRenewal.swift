import Events

/// What old formats state about the next renewal of a subscription.
enum PendingRenewal {
    /// The fact of an element of `pending_renewal_info` (Apple's data: verifyReceipt response).
    static func fact(_ element: JSON.Value, _ provenance: Provenance) throws(Rejection) -> Fact {
        guard let id = element["original_transaction_id"], !id.isBlank else {
            throw Rejection(
                .claimMalformed,
                "It names no original_transaction_id, so its subscription is unknown."
            )
        }
        var reader = Reader(format: .pendingRenewalInfo)
        for (name, value) in element.members { try reader.take(name, value, keepingUnknown: true) }
        let streamId = try Claims.transactionId(id, named: "original_transaction_id")
        let content = try reader.finished(byteCount: element.bytes.count)
        return provenance.fact(.renewal, about: streamId, content)
    }

    /// Throws if no fact can be made of an element.
    static func check(_ element: JSON.Value) throws(Rejection) {
        let epoch = Instant(milliseconds: 0)
        _ = try fact(element, Provenance(environment: .production, bundleId: "", asOf: epoch))
    }

    /// The fact that a subscription has no element: no retry and no grace.
    ///
    /// Apple removes the element of a customer who cancels in grace
    /// (Apple's data: verifyReceipt response).
    static func absence(of id: String, _ provenance: Provenance) -> Fact {
        provenance.fact(.renewal, about: id, Content(format: .pendingRenewalInfo))
    }

    /// The fact in the top level of an iOS 6 response or version 1 notification; nil if it states
    /// nothing about a renewal (Apple's data: iOS 6 response, version 1 body).
    static func topLevel(
        of body: JSON.Value,
        about id: String,
        _ provenance: Provenance
    ) throws(Rejection) -> Fact? {
        var reader = Reader(format: .topLevelRenewalInfo)
        for (name, value) in body.members { try reader.take(name, value, keepingUnknown: false) }
        guard reader.hasTaken else { return nil }
        return provenance.fact(.renewal, about: id, try reader.finished(byteCount: 0))
    }

    /// Whether an element, or the top level, states what Apple states only after an expiry: that
    /// the charge is retried, that grace is running, or why the subscription ended.
    static func isAfterExpiry(_ element: JSON.Value) -> Bool {
        if element["is_in_billing_retry_period"]?.looseFlag == true { return true }
        return afterExpiry.contains { element[$0].map { !$0.isBlank } ?? false }
    }

    private static let afterExpiry: [StaticString] = [
        "expiration_intent", "grace_period_expires_date_ms", "grace_period_expires_date",
    ]
}

extension PendingRenewal {
    /// Collects the members; at the top level, a member's name decides whether it belongs here.
    private struct Reader {
        private var content: ContentBuilder
        private var offer = ReceiptOffer()
        private var hasGraceMilliseconds = false
        private(set) var hasTaken = false

        init(format: Format) {
            content = ContentBuilder(format: format)
        }

        mutating func take(
            _ name: JSON.Value,
            _ value: JSON.Value,
            keepingUnknown isKeeping: Bool
        ) throws(Rejection) {
            guard !value.isBlank, !Reader.leftOut.contains(where: { name.equals($0) }) else {
                return
            }
            if try takeKnown(name, value) {
                hasTaken = true
            } else if isKeeping {
                content.keep(name, value)
            }
        }

        mutating func finished(byteCount: Int) throws(Rejection) -> Content {
            content.take(offer)
            return try content.finished(byteCount: byteCount)
        }

        private mutating func takeKnown(
            _ name: JSON.Value,
            _ value: JSON.Value
        ) throws(Rejection) -> Bool {
            if let (_, field) = Reader.texts.first(where: { name.equals($0.name) }) {
                content.set(field, .text(try Claims.looseId(value, named: name.text ?? "an id")))
            } else if let (_, field) = Reader.integers.first(where: { name.equals($0.name) }) {
                // Version 1 writes "true" where others write "1".
                let number = value.looseInteger ?? value.looseFlag.map { $0 ? 1 : 0 }
                guard let number else { return false }
                content.set(field, .integer(number))
            } else if name.equals("is_in_billing_retry_period") {
                guard let flag = value.looseFlag else { return false }
                content.set(.isInBillingRetryPeriod, .boolean(flag))
            } else if name.equals("grace_period_expires_date_ms") {
                hasGraceMilliseconds = true
                try setGrace(value)
            } else if name.equals("grace_period_expires_date") {
                if !hasGraceMilliseconds { try setGrace(value) }
            } else if name.equals("promotional_offer_id") {
                offer.promotionalOfferId = try Claims.looseId(value, named: "promotional_offer_id")
            } else if name.equals("offer_code_ref_name") {
                offer.offerCodeName = try Claims.looseId(value, named: "offer_code_ref_name")
            } else {
                return false
            }
            return true
        }

        private mutating func setGrace(_ value: JSON.Value) throws(Rejection) {
            let date = try AppleClock.looseInstant(value, named: "grace_period_expires_date")
            content.set(.gracePeriodExpiresDate, .instant(date))
        }

        private static let texts: [(name: StaticString, field: Field)] = [
            ("product_id", .productId), ("auto_renew_product_id", .autoRenewProductId),
            ("subscription_group_identifier", .subscriptionGroupIdentifier),
        ]

        // Price consent status is the older name of price increase status.
        private static let integers: [(name: StaticString, field: Field)] = [
            ("auto_renew_status", .autoRenewStatus), ("expiration_intent", .expirationIntent),
            ("price_consent_status", .priceIncreaseStatus),
            ("price_increase_status", .priceIncreaseStatus),
        ]

        private static let leftOut: [StaticString] = [
            "original_transaction_id", "grace_period_expires_date_pst",
        ]
    }
}
