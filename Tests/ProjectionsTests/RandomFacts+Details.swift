import Events

/// The details in Apple's newer fields, older formats and one-time purchases.
extension RandomFacts {
    /// Refund notifications most often, because they are counted in cases.
    static let notificationTypes = [
        "DID_RENEW", "REFUND", "REFUND", "CONSUMPTION_REQUEST", "CONSUMPTION_REQUEST",
        "REFUND_DECLINED", "REFUND_DECLINED", "REFUND_REVERSED", "REFUND_REVERSED", "EXPIRED",
        "EXPIRED", "SUBSCRIBED", "REVOKE", "DID_FAIL_TO_RENEW", "GRACE_PERIOD_EXPIRED",
        "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_STATUS", "OFFER_REDEEMED",
        "PRICE_INCREASE", "RENEWAL_EXTENDED", "ONE_TIME_CHARGE", "CANCEL", "DID_RECOVER",
        "UNCLAIM_SEATS",
    ]

    static let subtypes = [
        "VOLUNTARY", "BILLING_RETRY", "PRICE_INCREASE", "PRODUCT_NOT_FOR_SALE", "GRACE_PERIOD",
        "BILLING_RECOVERY", "UPGRADE", "DOWNGRADE", "AUTO_RENEW_DISABLED", "AUTO_RENEW_ENABLED",
        "INITIAL_BUY", "RESUBSCRIBE", "PENDING", "ACCEPTED", "SEATS", "SEATS", "INCREASE_QUANTITY",
        "DECREASE_QUANTITY",
    ]

    // Signed formats most often: only they deny the fields that they do not carry.
    mutating func transactionFormat() -> Format {
        guard hasOldFormats, chance(4) else { return .signedTransaction }
        return pick([.receiptTransaction, .responseTransaction, .singleTransaction])
    }

    mutating func renewalFormat() -> Format {
        guard hasOldFormats, chance(4) else { return .signedRenewalInfo }
        return pick([.pendingRenewalInfo, .topLevelRenewalInfo])
    }

    mutating func notificationFormat() -> Format {
        hasOldFormats && chance(4) ? .statusUpdateNotification : .signedNotification
    }

    /// The owner: Apple's account, the account it came from, the app's token.
    mutating func addPerson(to content: inout Content) {
        content[.appTransactionId] = pick([nil, .text("71"), .text("72")])
        content[.appAccountToken] = pick([nil, nil, .text(RandomFacts.token), .text("")])
        if content.format == .signedTransaction {
            content[.previousOriginalTransactionId] = pick([nil, .text("900"), .text("1000")])
        }
    }

    private static let token = "0f0f0f0f-0f0f-4f0f-8f0f-0f0f0f0f0f0f"

    /// A monthly plan with a yearly commitment, or the value for paying at once.
    mutating func addBillingPlan(to content: inout Content) {
        content[.billingPlanType] = pick([
            nil, .text("MONTHLY"), .text("MONTHLY"), .text("BILLED_UPFRONT"),
        ])
        content[.commitmentInfo] = pick([nil, .text(commitment()), .text(commitment())])
    }

    private mutating func commitment() -> String {
        let end = day(pick([4, 9])).milliseconds
        return "{\"billingPeriodNumber\":\(pick([1, 2])),\"commitmentExpiresDate\":\(end),"
            + "\"commitmentPrice\":11880,\"totalBillingPeriods\":12}"
    }

    /// The price of the renewal, how it is paid, and the win-back offers.
    mutating func addNextCharge(to content: inout Content) {
        content[.renewalPrice] = pick([nil, .integer(0), .integer(990), .integer(1990)])
        content[.currency] = pick([nil, .text("EUR"), .text("USD")])
        content[.renewalBillingPlanType] = pick([
            nil, nil, .text("MONTHLY"), .text("BILLED_UPFRONT"),
        ])
        content[.commitmentInfo] = pick([
            nil, nil, .text("{\"commitmentAutoRenewStatus\":\(pick([0, 1]))}"),
        ])
        content[.eligibleWinBackOfferIds] = pick([
            nil, nil, .text("[]"), .text("[\"w1\"]"), .text("[\"w2\",\"w1\"]"),
        ])
        content[.recentSubscriptionStartDate] = pick([nil, .instant(day(0)), .instant(day(3))])
    }

    /// Advanced Commerce items, some refunded, some revoked.
    mutating func addItems(to content: inout Content) {
        let items = (0..<pick([1, 2])).map { number in
            let refund =
                "{\"refundAmount\":\(pick([100, 500])),"
                + "\"refundDate\":\(day(pick([2, 4])).milliseconds)}"
            return "{\"SKU\":\"s\(number)\",\"price\":990"
                + pick(["", ",\"refunds\":[]", ",\"refunds\":[\(refund)]"])
                + pick(["", "", ",\"revocationDate\":\(day(3).milliseconds)"]) + "}"
        }
        content[.extra] = pick([
            .text("{\"advancedCommerceInfo\":{\"items\":[\(items.joined(separator: ","))]}}"),
            .text("{\"advancedCommerceInfo\":{\"items\":[\(items.joined(separator: ","))]}}"),
            .text("{\"advancedCommerceInfo\":{}}"),
            .text("{\"isUpgraded\":\"yes\"}"),
        ])
    }

    /// A purchase without an end; a restore repeats it, in old formats with another date.
    mutating func oneTimePurchase(_ stream: StreamID) -> Fact {
        var content = Content(format: transactionFormat())
        content[.productId] = pick([.text("n"), .text("n"), .text("c"), .text("a")])
        content[.transactionId] = pick([nil, .text("t1"), .text("t2")])
        if content.format == .signedTransaction {
            content[.type] = pick([
                .text("Non-Consumable"), .text("Non-Consumable"), .text("Consumable"),
                .text("Non-Renewing Subscription"), nil,
            ])
            content[.quantity] = pick([nil, .integer(1), .integer(3)])
            content[.price] = pick([nil, .integer(0), .integer(1990)])
            content[.currency] = pick([nil, .text("EUR")])
            if chance(4) { content[.inAppOwnershipType] = .text("FAMILY_SHARED") }
        }
        if chance(3) { addRevocation(to: &content) }
        if chance(3) { addPerson(to: &content) }
        return fact(stream, .transaction, day(pick([0, 1, 3])), nil, content)
    }

    /// The rows of one app receipt, which may have several originals, as of one instant.
    mutating func receipt(_ countMax: Int) -> [Fact] {
        let made = oneTimePurchase(RandomFacts.streams[0])
        return (0..<min(pick([2, 3]), countMax)).map { _ in
            var content = Content(format: .receiptTransaction)
            content[.productId] = pick([.text("a"), .text("b"), .text("n")])
            content[.transactionId] = pick([.text("t1"), .text("t2"), .text("t3")])
            content[.webOrderLineItemId] = pick([nil, .text("1"), .text("2")])
            if chance(3) { content[.revocationDate] = .instant(day(pick([2, 4]))) }
            let (start, end) = key()
            return Fact(
                stream: pick(RandomFacts.streams),
                bundleId: made.bundleId,
                kind: .transaction,
                purchaseDate: start,
                expiresDate: content.carries(.productId, "n") ? nil : end,
                asOf: made.asOf,
                content: content
            )
        }
    }
}
