internal import Events

/// The JSON that Apple signs, for one life: transactions and renewal info as of a signing date.
///
/// Field names, units and presence follow Apple's data: transactions, renewal info; a field that
/// Apple introduced after the signing date is left out.
struct PayloadContent {
    let identity: LifeIdentity
    let store: SimulatedStore
    let signedAt: Instant

    // When Apple added fields that old payloads lack (Apple's data: transactions).
    private static let offerPeriodSince = Instant(milliseconds: 1_738_368_000_000)  // 2025-02-01
    static let revocationTypeSince = Instant(milliseconds: 1_764_547_200_000)  // 2025-12-01

    /// A transaction; `number` may be that of a restore instead of its own.
    func transaction(
        _ purchase: LifeState.Purchase,
        of state: LifeState,
        number: Int64? = nil
    ) -> [UInt8] {
        var json = JSONWriter(store.pace)
        json.add("transactionId", identity.transactionId(number ?? purchase.transactionNumber))
        json.add("originalTransactionId", identity.originalTransactionId)
        json.add("webOrderLineItemId", identity.webOrderLineItemId(purchase.lineItemNumber))
        json.add("bundleId", store.bundleId)
        json.add("productId", purchase.product.id)
        json.add("subscriptionGroupIdentifier", purchase.product.group)
        json.add("purchaseDate", purchase.purchaseDate)
        json.add("originalPurchaseDate", identity.originalPurchaseDate(of: state))
        json.add("expiresDate", purchase.expiresDate)
        json.add("quantity", purchase.seats?.tiers.quantity ?? 1)
        json.add("type", "Auto-Renewable Subscription")
        json.add("appAccountToken", state.appAccountToken ?? identity.appAccountToken)
        json.add("inAppOwnershipType", identity.ownership.rawValue)
        json.add("signedDate", signedAt: signedAt)
        add(purchase.revocation, to: &json)
        if purchase.isUpgraded { json.add("isUpgraded", true) }
        if let offer = purchase.offer { add(offer, to: &json) }
        addBillingPlan(of: purchase, state, to: &json)
        json.add("environment", store.environment.word)
        json.add("transactionReason", purchase.isRenewal ? "RENEWAL" : "PURCHASE")
        json.add("storefront", identity.storefront.country)
        json.add("storefrontId", identity.storefront.id)
        if !identity.isFamilyShared {
            json.add("price", purchase.seats?.tiers.average ?? purchase.price)
            json.add("currency", identity.storefront.currency)
        }
        addSeats(of: purchase, state, to: &json)
        addBundle(of: purchase, to: &json)
        addAppTransactionId(to: &json)
        return json.object
    }

    /// A one-time purchase, which is a separate stream and never expires.
    func transaction(_ purchase: LifeState.OneTimePurchase) -> [UInt8] {
        let id = identity.transactionId(purchase.transactionNumber)
        var json = JSONWriter(store.pace)
        json.add("transactionId", id)
        json.add("originalTransactionId", id)
        json.add("bundleId", store.bundleId)
        json.add("productId", purchase.productId)
        json.add("purchaseDate", purchase.purchaseDate)
        json.add("originalPurchaseDate", purchase.purchaseDate)
        json.add("quantity", purchase.quantity)
        json.add("type", purchase.kind.rawValue)
        json.add("appAccountToken", identity.appAccountToken)
        json.add("inAppOwnershipType", "PURCHASED")
        json.add("signedDate", signedAt: signedAt)
        add(purchase.revocation, to: &json)
        json.add("environment", store.environment.word)
        json.add("transactionReason", "PURCHASE")
        json.add("storefront", identity.storefront.country)
        json.add("storefrontId", identity.storefront.id)
        json.add("price", identity.storefront.milliunitsPerDollar * purchase.quantity)
        json.add("currency", identity.storefront.currency)
        addAppTransactionId(to: &json)
        return json.object
    }

    /// What will happen at the next renewal; nil before anything was bought.
    func renewalInfo(of state: LifeState) -> [UInt8]? {
        guard let newest = state.newest else { return nil }
        let product = state.renewalProduct ?? newest.product
        var json = JSONWriter(store.pace)
        json.add("originalTransactionId", identity.originalTransactionId)
        json.add("autoRenewProductId", product.id)
        json.add("productId", newest.product.id)
        json.add("autoRenewStatus", state.isAutoRenewOn ? 1 : 0)
        addBilling(of: state, to: &json)
        json.add("priceIncreaseStatus", state.isPriceIncreaseAccepted.map { $0 ? 1 : 0 })
        json.add("signedDate", signedAt: signedAt)
        json.add("environment", store.environment.word)
        json.add("recentSubscriptionStartDate", state.runStart)
        json.add("renewalDate", newest.expiresDate)
        if !identity.isMember, let offers = state.winBackOfferIds {
            json.add("eligibleWinBackOfferIds", plainTexts: offers.map { Array($0.utf8) })
        }

        let offer = state.coming?.offer
        if state.isAutoRenewOn {
            if !identity.isMember {
                json.add("currency", identity.storefront.currency)
                json.add("renewalPrice", renewalPrice(of: product, state))
            }
            if let offer { add(offer, to: &json) }
        }
        addNextSeats(product, of: state, to: &json)
        addNextBundle(of: state, to: &json)
        addNextBillingPlan(product, of: state, to: &json)
        json.add("appAccountToken", state.appAccountToken ?? identity.appAccountToken)
        addAppTransactionId(to: &json)
        return json.object
    }

    private func addBilling(of state: LifeState, to json: inout JSONWriter) {
        switch state.phase {
        case .grace, .retry:
            json.add("expirationIntent", ExpiryCause.billingRetry.rawValue)
            json.add("isInBillingRetryPeriod", true)
            json.add("gracePeriodExpiresDate", state.phase.graceEnd)
        case .expired(let cause):
            json.add("expirationIntent", cause.rawValue)
            json.add("isInBillingRetryPeriod", false)
        case .neverBought, .active, .revoked:
            break
        }
    }

    private func add(_ revocation: LifeState.Revocation?, to json: inout JSONWriter) {
        guard let revocation else { return }
        json.add("revocationReason", revocation.reason)
        json.add("revocationDate", revocation.date)
        guard signedAt >= Self.revocationTypeSince else { return }
        switch revocation.cause {
        case .familySharing: json.add("revocationType", "FAMILY_REVOKE")
        case .assignment: json.add("revocationType", UnconfirmedWords.assignmentRevocation)
        case .bundle: break
        case .refund:
            let isFull = revocation.percentage == nil
            json.add("revocationType", isFull ? "REFUND_FULL" : "REFUND_PRORATED")
            json.add("revocationPercentage", revocation.percentage ?? 100_000)
        }
    }

    private func add(_ offer: SimulatedOffer, to json: inout JSONWriter) {
        json.add("offerType", offer.category.rawValue)
        json.add("offerIdentifier", offer.identifier)
        json.add("offerDiscountType", offer.discount.rawValue)
        if signedAt >= Self.offerPeriodSince { json.add("offerPeriod", offer.duration.iso8601) }
    }

    private func addAppTransactionId(to json: inout JSONWriter) {
        guard signedAt >= Self.offerPeriodSince else { return }
        json.add("appTransactionId", identity.appTransactionId)
    }
}

extension SubscriptionLife {
    /// What Apple signs about the life at an instant.
    func content(signedAt: Instant) -> PayloadContent {
        PayloadContent(identity: identity, store: store, signedAt: signedAt)
    }
}

extension LifeIdentity {
    /// The original purchase date, which is often a second or two after the first purchase date
    /// (Apple's data: trap 13).
    func originalPurchaseDate(of state: LifeState) -> Instant? {
        state.purchases.first.map { $0.purchaseDate.advanced(by: index % 3 * 1000) }
    }
}
