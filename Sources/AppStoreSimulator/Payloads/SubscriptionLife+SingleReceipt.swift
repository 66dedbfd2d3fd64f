package import Events
internal import FoundationEssentials

/// What `verifyReceipt` answered at the time of iOS 6, when one receipt was one transaction
/// (Apple's data: iOS 6 response).
extension SubscriptionLife {
    /// The answer at an instant about the receipt of one purchase, numbered from 0; nil if it was
    /// not bought yet.
    ///
    /// `receipt` is that purchase, with the real milliseconds of its instants (…612). The newest
    /// purchase follows in whole seconds: as `latest_receipt_info` with status 0 while it runs,
    /// otherwise as `latest_expired_receipt_info` with status 21006, without a `latest_receipt`.
    package func verifyReceiptResponse(
        ofPurchase number: Int,
        asOf instant: Instant,
        style: ReceiptStyle = []
    ) -> [UInt8]? {
        guard let state = state(asOf: instant), state.purchases.indices.contains(number),
            let newest = state.newest
        else { return nil }
        let content = ReceiptContent(life: self, style: style)
        let sent = ReceiptContent(life: self, style: style.union(.subsecondDates))
        let latest = content.singleObject(of: state.purchases.count - 1, in: state)
        let isOver = newest.expiresDate <= instant || newest.revocation != nil

        var json = content.writer()
        json.value("receipt", json: sent.singleObject(of: number, in: state))
        if isOver {
            json.value("latest_expired_receipt_info", json: latest)
        } else {
            json.value("latest_receipt_info", json: latest)
            let last = state.purchases.count - 1
            json.plain("latest_receipt", content.singleReceiptBase64(ofPurchase: last, in: state))
        }

        json.number("auto_renew_status", state.isAutoRenewOn ? 1 : 0)
        json.text("auto_renew_product_id", (state.renewalProduct ?? newest.product).id)
        let billing = PendingBilling(state)
        json.text("expiration_intent", billing.expirationIntent.map { String($0) })
        json.text("is_in_billing_retry_period", billing.isRetried.map { $0 ? "1" : "0" })
        json.text("cancellation_reason", newest.revocation.map { String($0.reason) })
        json.number("status", isOver ? 21_006 : 0)
        return json.object
    }

    /// Apple's number of a product: ten digits that are derived from its id.
    static func adamId(of productId: String) -> Int64 {
        var seed: UInt64 = 0
        for byte in productId.utf8 { seed = seed &* 131 &+ UInt64(byte) }
        var generator = SeededGenerator(seed: seed)
        return generator.integer(in: 1_000_000_000...6_999_999_999)
    }
}

extension ReceiptContent {
    /// The transaction receipt of one purchase as iOS 6 gave it to the app: base64 of a property
    /// list whose `purchase-info` is base64 of another one (Apple's data: app receipts).
    ///
    /// The signature is real RSA over SHA-1 with the receipt key, but not in Apple's own format.
    func singleReceiptBase64(ofPurchase number: Int, in state: LifeState) -> [UInt8] {
        let row = row(ofPurchase: number, in: state)
        let facts = ReceiptFacts(life)
        let purchase = shifted(row.purchaseDate)
        let original = shifted(row.originalPurchaseDate)
        let expiry = row.subscription.map { shifted($0.expiresDate) }

        let info = propertyList([
            ("original-purchase-date-pst", AppleDateText.pacific(original)),
            ("quantity", String(row.quantity)),
            ("unique-vendor-identifier", facts.uniqueVendorIdentifier),
            ("bvrs", facts.version),
            ("expires-date-formatted", expiry.map { AppleDateText.gmt($0) }),
            ("purchase-date-ms", String(purchase.milliseconds)),
            ("expires-date-formatted-pst", expiry.map { AppleDateText.pacific($0) }),
            ("unique-identifier", facts.uniqueIdentifier),
            ("original-transaction-id", row.originalTransactionId),
            ("expires-date", expiry.map { String($0.milliseconds) }),
            ("transaction-id", row.transactionId),
            ("original-purchase-date-ms", String(original.milliseconds)),
            ("web-order-line-item-id", row.subscription?.lineItemId),
            ("item-id", String(SubscriptionLife.adamId(of: row.productId))),
            ("bid", life.store.bundleId),
            ("product-id", row.productId),
            ("purchase-date", AppleDateText.gmt(purchase)),
            ("original-purchase-date", AppleDateText.gmt(original)),
            ("purchase-date-pst", AppleDateText.pacific(purchase)),
        ])

        let signature = life.store.pki.receipts.oldSignature(over: info)
        let receipt = propertyList([
            ("signature", Data(signature).base64EncodedString()),
            ("purchase-info", Data(info).base64EncodedString()),
            ("environment", life.store.environment == .sandbox ? "Sandbox" : nil),
            ("pod", "100"),
            ("signing-status", "0"),
        ])
        return Array(Data(receipt).base64EncodedData())
    }

    /// One purchase as an object of the iOS 6 generation; also used in V1 bodies before 2021.
    func singleObject(of number: Int, in state: LifeState) -> [UInt8] {
        let row = row(ofPurchase: number, in: state)
        let facts = ReceiptFacts(life)
        var json = writer()

        json.digits("quantity", row.quantity)
        json.text("product_id", row.productId)
        json.digits("transaction_id", row.transactionId)
        json.digits("original_transaction_id", row.originalTransactionId)
        json.digits("item_id", SubscriptionLife.adamId(of: row.productId))
        json.digits("app_item_id", facts.appItemId)
        json.digits("version_external_identifier", facts.versionExternalId)
        json.text("bid", life.store.bundleId)
        json.text("bvrs", facts.version)
        json.text("unique_identifier", facts.uniqueIdentifier)
        json.text("unique_vendor_identifier", facts.uniqueVendorIdentifier)
        json.dates("purchase_date", row.purchaseDate)
        json.dates("original_purchase_date", row.originalPurchaseDate)
        if let cancellation = row.cancellation {
            json.dates("cancellation_date", cancellation.date)
        } else if style.contains(.emptyTexts) {
            json.text("cancellation_date", "")
        }

        guard let subscription = row.subscription else { return json.object }
        if !style.contains(.withoutLineItemIds) {
            json.digits("web_order_line_item_id", subscription.lineItemId)
        }
        json.expiry(subscription.expiresDate)
        json.flag("is_trial_period", subscription.isTrial)
        json.flag("is_in_intro_offer_period", subscription.isIntroductory)
        return json.object
    }

    private func shifted(_ instant: Instant) -> Instant {
        instant.advanced(by: life.identity.subsecond)
    }

    // The old property list format, as NeXTSTEP wrote it.
    private func propertyList(_ entries: [(name: String, value: String?)]) -> [UInt8] {
        let lines = entries.compactMap { entry in
            entry.value.map { "\t\"\(entry.name)\" = \"\($0)\";\n" }
        }
        return Array(("{\n" + lines.joined() + "}").utf8)
    }
}
