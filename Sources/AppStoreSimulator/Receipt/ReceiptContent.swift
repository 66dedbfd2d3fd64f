internal import Events

/// The objects inside `verifyReceipt` answers and V1 notifications
/// (Apple's data: verifyReceipt response).
struct ReceiptContent {
    /// The list that contains a row: some fields are only in `latest_receipt_info`.
    enum List {
        case inApp
        case latest
    }

    let life: SubscriptionLife
    let style: ReceiptStyle

    /// An empty object in this style.
    func writer() -> ReceiptWriter {
        ReceiptWriter(style: style, subsecond: life.identity.subsecond, pace: life.store.pace)
    }

    /// One transaction.
    func object(of row: ReceiptRow, in list: List) -> [UInt8] {
        var json = writer()
        json.digits("quantity", row.quantity)
        json.text("product_id", row.productId)
        json.digits("transaction_id", row.transactionId)
        json.digits("original_transaction_id", row.originalTransactionId)
        json.dates("purchase_date", row.purchaseDate)
        json.dates("original_purchase_date", row.originalPurchaseDate)
        json.dates("expires_date", row.subscription?.expiresDate)
        if !style.contains(.withoutLineItemIds) {
            json.digits("web_order_line_item_id", row.subscription?.lineItemId)
        }
        json.flag("is_trial_period", row.subscription?.isTrial ?? false)
        addCancellation(of: row, to: &json)
        if let subscription = row.subscription {
            json.flag("is_in_intro_offer_period", subscription.isIntroductory)
            json.text("promotional_offer_id", subscription.promotionalOfferId)
        }
        let isShared = life.identity.isFamilyShared && row.subscription != nil
        json.text("in_app_ownership_type", isShared ? "FAMILY_SHARED" : "PURCHASED")
        if style.contains(.emptyTexts) {
            json.text("app_item_id", "")
            json.text("version_external_identifier", "")
        }
        if list == .latest { addLatest(of: row, to: &json) }
        return json.object
    }

    /// What will happen at the next renewal: at most one element, because a life is one
    /// subscription.
    ///
    /// Empty before the first purchase, and after the customer cancelled in grace or retry until
    /// the next purchase.
    func pendingRenewals(of state: LifeState) -> [[UInt8]] {
        guard let newest = state.newest, !state.isRenewalForgotten else { return [] }
        var json = writer()
        json.digits("original_transaction_id", life.identity.originalTransactionId)
        json.text("product_id", newest.product.id)
        json.text("auto_renew_product_id", (state.renewalProduct ?? newest.product).id)
        json.bit("auto_renew_status", state.isAutoRenewOn)
        let billing = PendingBilling(state)
        json.digits("expiration_intent", billing.expirationIntent)
        json.bit("is_in_billing_retry_period", billing.isRetried)
        json.dates("grace_period_expires_date", billing.graceEnd)
        json.bit("price_consent_status", state.isPriceIncreaseAccepted)
        json.bit("price_increase_status", state.isPriceIncreaseAccepted)
        if state.isAutoRenewOn, let offer = state.coming?.offer {
            if offer.category == .promotional {
                json.text("promotional_offer_id", offer.identifier)
            }
            if offer.category == .offerCode { json.text("offer_code_ref_name", offer.identifier) }
        }
        return [json.object]
    }

    private func addCancellation(of row: ReceiptRow, to json: inout ReceiptWriter) {
        if let cancellation = row.cancellation {
            json.dates("cancellation_date", cancellation.date)
            json.digits("cancellation_reason", cancellation.reason)
        } else if style.contains(.emptyTexts) {
            json.text("cancellation_date", "")
        }
    }

    private func addLatest(of row: ReceiptRow, to json: inout ReceiptWriter) {
        json.text("app_account_token", row.appAccountToken)
        guard let subscription = row.subscription else { return }
        if subscription.isUpgraded { json.flag("is_upgraded", true) }
        json.text("offer_code_ref_name", subscription.offerCodeReferenceName)
        json.digits("subscription_group_identifier", subscription.group)
    }
}

/// The state of charging, in the values that all old formats share.
struct PendingBilling {
    /// Why the subscription ended; nil while it runs.
    let expirationIntent: Int64?
    /// Whether Apple still tries to charge; nil if no charge failed.
    let isRetried: Bool?
    /// The end of the grace period; it remains after billing failed for good, and a recovery
    /// removes it.
    let graceEnd: Instant?

    /// The state of charging in a state of the life.
    init(_ state: LifeState) {
        switch state.phase {
        case .grace, .retry:
            (expirationIntent, isRetried) = (ExpiryCause.billingRetry.rawValue, true)
            graceEnd = state.phase.graceEnd
        case .expired(let cause):
            let last = state.graces.last
            let isAboutNewest = last?.purchase == state.purchases.count - 1
            (expirationIntent, isRetried) = (cause.rawValue, false)
            graceEnd = cause == .billingRetry && isAboutNewest ? last?.to : nil
        case .neverBought, .active, .revoked:
            (expirationIntent, isRetried, graceEnd) = (nil, nil, nil)
        }
    }
}
