package import Events

/// What Apple signs about a commitment (Apple's data: transactions, renewal info); here from the
/// beginning, although Apple has done so only since 2026.
extension PayloadContent {
    /// Adds how a purchase is paid, and its place in its commitment.
    func addBillingPlan(
        of purchase: LifeState.Purchase,
        _ state: LifeState,
        to json: inout JSONWriter
    ) {
        guard let plan = purchase.product.billingPlan else { return }
        json.add("billingPlanType", plan.word)
        guard let stage = CommitmentStage(of: purchase, state) else { return }
        var info = JSONWriter(store.pace)
        info.add("billingPeriodNumber", stage.periodNumber)
        info.add("commitmentExpiresDate", stage.expiresDate)
        if !identity.isMember {
            info.add("commitmentPrice", identity.storefront.commitmentPrice(of: purchase.product))
        }
        info.add("totalBillingPeriods", stage.periods)
        json.add("commitmentInfo", object: info.object)
    }

    /// Adds how the next period is paid, and what follows the commitment.
    func addNextBillingPlan(
        _ next: SimulatedProduct,
        of state: LifeState,
        to json: inout JSONWriter
    ) {
        if state.isAutoRenewOn { json.add("renewalBillingPlanType", next.billingPlan?.word) }
        guard let coming = SimulatedCommitment(after: state, of: identity) else { return }
        var info = JSONWriter(store.pace)
        info.add("commitmentAutoRenewProductId", coming.productId)
        info.add("commitmentAutoRenewStatus", coming.isAutoRenewOn ? 1 : 0)
        info.add("commitmentRenewalBillingPlanType", coming.billingPlan?.word)
        info.add("commitmentRenewalDate", coming.renewalDate)
        info.add("commitmentRenewalPrice", coming.priceMilliunits)
        json.add("commitmentInfo", object: info.object)
    }
}

/// What happens when a commitment ends.
package struct SimulatedCommitment: Hashable, Sendable {
    /// When the new commitment begins.
    package let renewalDate: Instant
    /// What it costs, in thousandths of the currency's unit; nil for a member of a family.
    package let priceMilliunits: Int64?
    /// Whether there will be a new commitment.
    package let isAutoRenewOn: Bool
    /// Its product.
    package let productId: String
    /// How it is paid; nil if the product is sold without a commitment.
    package let billingPlan: SimulatedProduct.BillingPlan?

    /// What follows the newest purchase; nil without a commitment.
    init?(after state: LifeState, of identity: LifeIdentity) {
        guard let newest = state.newest, let stage = CommitmentStage(of: newest, state) else {
            return nil
        }
        let next = state.renewalProduct ?? newest.product
        renewalDate = stage.expiresDate
        priceMilliunits =
            identity.isMember ? nil : identity.storefront.commitmentPrice(of: next)
        isAutoRenewOn = state.isAutoRenewOn
        productId = next.id
        billingPlan = next.billingPlan
    }
}

/// The place of a purchase among those that the customer committed to.
private struct CommitmentStage {
    /// From 1.
    let periodNumber: Int64
    let periods: Int64
    let expiresDate: Instant

    /// Nil without a commitment.
    init?(of purchase: LifeState.Purchase, _ state: LifeState) {
        guard case .monthly(let periods)? = purchase.product.billingPlan,
            let own = state.purchases.firstIndex(where: {
                $0.transactionNumber == purchase.transactionNumber
            })
        else { return nil }
        var first = own
        while first > 0, state.purchases[first].isRenewal,
            state.purchases[first - 1].product == purchase.product
        {
            first -= 1
        }
        periodNumber = Int64(own - first) % periods + 1
        self.periods = periods
        // An extension moves the end of the commitment together with that of the period.
        let isLast = periodNumber == periods
        expiresDate =
            isLast
            ? purchase.expiresDate
            : SimulatedCalendar.end(
                of: .months(periods - periodNumber),
                from: purchase.expiresDate,
                billingDay: state.billingDay
            )
    }
}

extension SimulatedStorefront {
    fileprivate func commitmentPrice(of product: SimulatedProduct) -> Int64 {
        let price = price(of: product, offer: nil)
        if case .monthly(let periods)? = product.billingPlan { return price * periods }
        return price
    }
}
