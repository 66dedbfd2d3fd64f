internal import Events

/// The status of a customer in one group at one instant, which decides about each kind of offer.
struct GroupStanding {
    // By start; only those that had begun.
    private let purchases: [PurchaseAccess]
    private let renewals: [KnownRenewal]
    private let instant: Instant

    /// Apple tries to charge for at most sixty days (Apple's data: trap 18): after that, a renewal
    /// without a stated outcome has failed.
    static let billingRetryMax: Int64 = 60 * 86_400_000

    /// Apple tries to charge from a day before the end (Apple's data: trap 18), so a failure is
    /// stated no earlier than that.
    static let renewalAttemptsMax: Int64 = 86_400_000

    init(_ purchases: [PurchaseAccess], _ renewals: [KnownRenewal], at instant: Instant) {
        self.purchases = purchases
        self.renewals = renewals
        self.instant = instant
    }

    /// Whether anything of the group is known.
    var isKnown: Bool { !purchases.isEmpty || !renewals.isEmpty }

    /// The first rule that applies, in order of precedence.
    var introductory: IntroductoryOfferEligibility {
        guard isKnown else { return .neverSubscribed }
        if let used = introductoryUse { return .usedIntroductoryOffer(used) }
        if let refund { return .refunded(refund) }
        if let current { return .currentlySubscribed(current.blocking()) }
        if let grace { return .inGracePeriod(grace.blocking()) }
        return .lapsed
    }

    /// The first rule that applies, in order of precedence.
    var winBack: WinBackOfferEligibility {
        guard isKnown else { return .neverSubscribed }
        if let current { return .currentlySubscribed(current.blocking()) }
        if let grace { return .inGracePeriod(grace.blocking()) }
        if let winBackList { return .listedByApple(winBackList) }
        var awaiting: BlockingTransaction?
        for renewal in renewals {
            guard let last = lastPurchase(of: renewal) else { continue }
            if let offset = renewal.billingRetry(after: last.purchase) {
                return .inBillingRetry(last.blocking(citing: offset))
            }
            if let offset = renewal.autoRenewalOn, awaiting == nil {
                awaiting = last.blocking(citing: offset)
            }
        }
        return awaiting.map { .awaitingRenewal($0) } ?? .churned
    }

    // If several subscriptions have one, the list that was signed last; at the same instant by
    // subscription.
    private var winBackList: WinBackList? {
        renewals.compactMap { renewal in
            let last = purchases.last { $0.access.period.stream == renewal.stream }
            return renewal.winBackList(lane: renewal.lane, lastPurchase: last?.purchase)
        }.max { left, right in
            guard left.asOf == right.asOf else { return left.asOf < right.asOf }
            return byBytes(left.originalTransactionId, right.originalTransactionId) ?? false
        }
    }

    var subscriber: SubscriberKind {
        guard isKnown else { return .new }
        return current != nil || grace != nil ? .existing : .expired
    }

    private var introductoryUse: BlockingTransaction? {
        for access in purchases where access.access.period.kind != .grace {
            guard let decision = access.purchase.assertions.decision(on: .offerType),
                decision.state == .value(.integer(1))
            else { continue }
            return access.blocking(citing: decision.offset)
        }
        return nil
    }

    private var refund: BlockingTransaction? {
        for access in purchases where access.access.period.kind != .grace {
            guard let date = access.access.revocationDate, date <= instant,
                let decision = access.purchase.assertions.decision(on: .revocationDate)
            else { continue }
            return access.blocking(citing: decision.offset)
        }
        return nil
    }

    // By the purchase's own end (Apple's data: offer eligibility): a purchase marked as upgraded
    // gives no access, but a customer who upgraded is subscribed; once the purchase that replaced
    // it is known, that one decides. A revoked one counts as never bought.
    private var current: PurchaseAccess? {
        purchases.filter { access in
            access.access.period.kind != .grace && access.purchase.expiresDate > instant
                && !isTakenBack(access) && !isReplaced(access)
        }.max { $0.purchase.expiresDate < $1.purchase.expiresDate }
    }

    private var grace: PurchaseAccess? {
        purchases.filter { access in
            access.access.period.kind == .grace && access.access.isActive(at: instant)
        }.max { $0.access.period.validTo < $1.access.period.validTo }
    }

    private func isTakenBack(_ access: PurchaseAccess) -> Bool {
        access.access.revocationDate.map { $0 <= instant } ?? false
    }

    // One that begins while it still gives access did not replace it: it was revoked before.
    private func isReplaced(_ access: PurchaseAccess) -> Bool {
        access.access.period.endReason == .upgraded
            && purchases.contains { other in
                other.access.period.stream == access.access.period.stream
                    && other.purchase.purchaseDate > access.purchase.purchaseDate
                    && other.purchase.purchaseDate >= access.access.period.validTo
                    && other.purchase.purchaseDate < access.purchase.expiresDate
            }
    }

    // For a subscription that may still be renewed: revoked ones may not.
    private func lastPurchase(of renewal: KnownRenewal) -> PurchaseAccess? {
        let own = purchases.filter { $0.access.period.stream == renewal.stream }
        guard let last = own.last(where: { !$0.access.period.neverTookEffect }) ?? own.last,
            !isTakenBack(last),
            instant.milliseconds - last.purchase.expiresDate.milliseconds
                < GroupStanding.billingRetryMax
        else { return nil }
        return last
    }
}

extension KnownRenewal {
    /// The offset of the event that states that the renewal after this purchase is retried.
    fileprivate func billingRetry(after purchase: Purchase) -> Int64? {
        let earliest = purchase.expiresDate.milliseconds - GroupStanding.renewalAttemptsMax
        let later = assertions.sorted.drop { $0.asOf.milliseconds < earliest }
        guard let decision = Assertions(inOrder: later).decision(on: .isInBillingRetryPeriod),
            decision.state == .value(.boolean(true))
        else { return nil }
        return decision.offset
    }

    /// The offset of the event that states that auto-renewal is on.
    fileprivate var autoRenewalOn: Int64? {
        guard let decision = assertions.decision(on: .autoRenewStatus),
            decision.state == .value(.integer(1))
        else { return nil }
        return decision.offset
    }
}

extension PurchaseAccess {
    /// The purchase as a blocking transaction, with the event that makes it one.
    fileprivate func blocking(citing offset: Int64? = nil) -> BlockingTransaction {
        var citations = Citations()
        citations.cite(purchase.datesOffset)
        if let offset { citations.cite(offset) }
        let isGrace = access.period.kind == .grace
        return BlockingTransaction(
            originalTransactionId: access.period.stream.originalTransactionId,
            transactionIds: purchase.transactionIds,
            productId: purchase.productId,
            purchaseDate: purchase.purchaseDate,
            expiresDate: purchase.expiresDate,
            positions: isGrace ? access.period.positions : citations.positions(lane: lane)
        )
    }
}
