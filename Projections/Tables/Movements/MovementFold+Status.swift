internal import Events

extension MovementFold {
    /// The movements for the transitions from one status to the next.
    mutating func takeStatuses() {
        for (before, after) in zip(spans, spans.dropFirst()) where before.to == after.from {
            // About the purchase that ended, not one that starts at this very instant.
            let earlier = Instant(milliseconds: after.from.milliseconds - 1)
            guard let index = newestPurchase(begunBy: earlier) else { continue }
            switch (before.status, after.status) {
            // An announced grace may still be paid: what follows it is recorded only after Apple's
            // next statement.
            case (.gracePeriod, .billingRetry) where isUnreached(after): break
            case (.active, .gracePeriod), (.active, .billingRetry), (.gracePeriod, .billingRetry):
                append(
                    .billingIssueEntered,
                    at: after.from,
                    about: index,
                    appleEvent: AppleEvent.billingIssue(
                        isGrace: after.status == .gracePeriod,
                        offerType: terms[index].offerType
                    ),
                    appleSubType: billingIssue(from: before, to: after, about: index),
                    citing: after.citations
                )
            case (.gracePeriod, .active), (.billingRetry, .active):
                takeRecovery(from: before, at: after)
            // After sixty days without a statement a retry is over. The end is recorded only after
            // Apple's next statement, because a row of the journal needs an event of its day: until
            // then, a payload that has not arrived yet may have recovered the renewal, and no clock
            // enters a fold.
            // A move to a bundle is a change of plan.
            case (_, .expired) where timeline.purchases[index].isMovedToBundle: break
            // Nor does a subscription end that continues under another original id.
            case (_, .expired) where isContinuedElsewhere(index, at: after.from): break
            case (_, .expired) where !isUnreached(after):
                takeChurn(from: before, to: after, about: index)
            default: break
            }
        }
    }

    private func isContinuedElsewhere(_ index: Int, at end: Instant) -> Bool {
        let purchase = timeline.purchases[index]
        return purchase.expiresDate == end && purchase.extensions.isEmpty
            && purchase.continuation(Continuation.isContinuedBy) != nil
    }

    private func billingIssue(
        from before: StatusSpan,
        to after: StatusSpan,
        about index: Int
    ) -> String {
        if before.status == .gracePeriod { return "Billing Retry from Grace Period" }
        let issue = after.status == .gracePeriod ? "Grace Period" : "Billing Retry"
        if !terms[index].hasOffer { return "\(issue) from Paid Subscription" }
        return "\(issue) from \(terms[index].isFree ? "Free Trial" : "Paid Offer")"
    }

    // Whether Apple has made no statement since the span began.
    private func isUnreached(_ span: StatusSpan) -> Bool {
        timeline.horizon.map { $0 < span.from } ?? false
    }

    // A purchase charged in grace begins where the grace began (Apple's data: trap 21).
    private mutating func takeRecovery(from before: StatusSpan, at span: StatusSpan) {
        // A resubscription is a start, and a renewal that is only implied is not a purchase.
        guard let recovered = timeline.newestPurchase(begunBy: span.from),
            continuity.isContinuing[recovered],
            case let start = timeline.purchases[recovered].purchaseDate,
            start == span.from || before.status == .gracePeriod && start == before.from
        else { return }
        append(
            .billingIssueRecovered,
            at: span.from,
            about: recovered,
            appleSubType: before.status == .gracePeriod
                ? "Recoveries from Grace Period" : "Recoveries from Billing Retry",
            citing: span.citations
        )
    }

    private mutating func takeChurn(
        from before: StatusSpan,
        to after: StatusSpan,
        about index: Int
    ) {
        var citations = after.citations
        let stated = expirations.statedReason(ending: index, from: after.from, to: after.to)
        citations.cite(stated?.offset)
        let kind = churn(from: before, to: after, stated?.reason, citing: &citations)
        append(
            kind,
            at: after.from,
            about: index,
            appleEvent: AppleEvent.churn(
                from: before.status,
                isAfterExtension: kind == .churnVoluntary
                    && timeline.purchases[index].extensions.contains { $0.from < $0.to }
            ),
            expirationReason: stated?.reason,
            citing: citations
        )
    }

    // Apple states why it ended at the end, or some time after it; a failed retry states it too. If
    // auto-renewal was off before the charge was given up, the customer ended it; of Apple's other
    // reasons only the first, and leaving a bundle, are the customer's own
    // (https://developer.apple.com/documentation/appstoreserverapi/expirationintent).
    private func churn(
        from before: StatusSpan,
        to after: StatusSpan,
        _ reason: ExpirationReason?,
        citing citations: inout Citations
    ) -> Movement.Kind {
        let setting = setting(before: after.from)
        let wasOff = setting?.isAutoRenewOn == false
        switch reason {
        case .priceIncrease: return .churnPriceIncrease
        case .productUnavailable: return .churnProductUnavailable
        case .other: return .churnUnknown
        case .unbundled: return .churnVoluntary
        case .customer, .billing:
            if wasOff { citations.cite(setting?.autoRenewOffset) }
            return reason == .billing && !wasOff ? .churnInvoluntary : .churnVoluntary
        case nil: break
        }
        let ending = settings.first { $0.from == after.from }
        if wasOff || ending?.isAutoRenewOn == false {
            citations.cite(wasOff ? setting?.autoRenewOffset : ending?.autoRenewOffset)
            return .churnVoluntary
        }
        return before.status == .billingRetry ? .churnInvoluntary : .churnUnknown
    }

    private func setting(before instant: Instant) -> RenewalSetting? {
        let begun = settings.partitioningIndex { $0.from >= instant }
        return begun > 0 ? settings[begun - 1] : nil
    }
}

extension MovementFold {
    /// Auto-renewal switched by a statement; the first known setting is not a switch.
    mutating func takeSwitches() {
        for (before, after) in zip(settings, settings.dropFirst()) {
            guard let wasOn = before.isAutoRenewOn, let isOn = after.isAutoRenewOn, wasOn != isOn,
                !after.isAutoRenewBought, let index = newestPurchase(begunBy: after.from)
            else { continue }
            var citations = Citations()
            citations.cite(after.autoRenewOffset)
            append(
                isOn ? .autoRenewOn : .autoRenewOff,
                at: after.from,
                about: index,
                citing: citations
            )
        }
    }

    /// Requests for another product, and their withdrawal.
    mutating func takePlanRequests() {
        for change in PlanChanges(timeline, catalogs).rows {
            var citations = Citations()
            citations.cite(change.positions)
            for (kind, occurred) in [
                (Movement.Kind.planChangeScheduled, change.requested),
                (.planChangeCancelled, change.withdrawn),
            ] {
                guard let occurred, let index = newestPurchase(begunBy: occurred) else { continue }
                append(
                    kind,
                    at: occurred,
                    about: index,
                    product: change.toProductId,
                    previousProduct: change.fromProductId,
                    citing: citations
                )
            }
        }
    }

    /// The changes that Apple made to the end of a period; rounding by an older format is not a
    /// change.
    mutating func takeExtensions() {
        for index in timeline.purchases.indices {
            for moved in timeline.purchases[index].extensions where moved.from < moved.to {
                var citations = Citations()
                citations.cite(moved.offset)
                append(.extension, at: moved.asOf, about: index, citing: citations)
            }
        }
    }

    /// What was refunded, requested and declined; the rest of a replaced period is part of the
    /// change that replaced it.
    mutating func takeRefunds() {
        for row in Refunds(timeline).rows where timeline.endsSomething(row) {
            let about = timeline.purchase(row.subject)
            let terms = PurchaseTerms(about)
            var citations = Citations()
            citations.cite(row.positions)
            let (exit, isMoney) = (row.exitKind, row.kind != .replaced)
            let isUndone = isMoney && row.kind != .bundled
            let amount = exit == .exitRefund ? row.givenMilliunits : 0
            let steps: [(Movement.Kind, Instant?, Int64?)] = [
                (
                    exit, isMoney ? row.refunded : nil,
                    // The least integer has no negation.
                    exit == .exitPlanChange ? nil : amount.map { -max($0, -.max) }
                ),
                (.refundReversed, isUndone ? row.reversed : nil, amount),
                (.refundRequested, row.requested, nil),
                (.refundDeclined, row.declined, nil),
            ]

            for (kind, occurred, amount) in steps {
                guard let occurred else { continue }
                append(
                    kind,
                    at: occurred,
                    about: about,
                    terms,
                    appleEvent: kind == .exitRefund ? AppleEvent.refund : nil,
                    amount: amount,
                    seatQuantity: kind == exit || kind == .refundReversed ? row.seatQuantity : nil,
                    citing: citations
                )
            }
        }
    }
}

extension Timeline {
    // Where no money moves, a period with added seats ends once, with its last transaction.
    fileprivate func endsSomething(_ row: RefundCase) -> Bool {
        guard row.kind?.isWithoutMoney == true else { return true }
        let (index, number): (Int, Int)
        switch row.subject {
        case .oneTime: return true
        case .subscription(let period): (index, number) = (period, 0)
        case .addition(let addition, let period): (index, number) = (period, addition + 1)
        }
        guard !purchases[index].additions.isEmpty else { return true }
        if row.state == .reversed { return number == 0 }
        var citations = Citations()
        return purchases[index].periodRevocation(citing: &citations)?.number == number
    }
}

extension RefundCase {
    // A refund, or the end of what another party paid for; a move to a bundle is a change of plan.
    fileprivate var exitKind: Movement.Kind {
        switch kind {
        case .familyRevoke: .familyRevoke
        case .assignmentEnded: .assignmentEnded
        case .bundled: .exitPlanChange
        default: .exitRefund
        }
    }
}
