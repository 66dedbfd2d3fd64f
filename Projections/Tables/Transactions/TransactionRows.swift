internal import Events

/// Every purchase of a timeline with its meaning within its subscription.
public struct TransactionRows: Sendable {
    /// One row per purchase, including one-time purchases, by start.
    public let rows: [TransactionRow]

    /// The rows of a timeline, with its products described by these catalogs.
    public init(_ timeline: Timeline, _ catalogs: CatalogHistory) {
        let course = TransactionCourse(timeline, catalogs)
        var rows: [TransactionRow] = []
        rows.reserveCapacity(timeline.purchases.count + timeline.oneTimePurchases.count)
        var before: TransactionCourse.Predecessor?
        var paidPeriods = 0
        for index in timeline.purchases.indices {
            let row = course.row(ofSubscription: index, after: before, &paidPeriods)
            before = TransactionCourse.Predecessor(row)
            rows.append(row)
        }
        for index in timeline.oneTimePurchases.indices {
            rows.append(course.row(ofOneTime: index))
        }
        guard !timeline.purchases.isEmpty, !timeline.oneTimePurchases.isEmpty else {
            self.rows = rows
            return
        }
        self.rows = rows.enumerated().sorted { left, right in
            (left.element.time.start, left.offset) < (right.element.time.start, right.offset)
        }.map(\.element)
    }
}

/// What the rows of one timeline share.
private struct TransactionCourse {
    let timeline: Timeline
    let catalogs: CatalogHistory
    let continuity: Continuity
    let cuts: [Cut?]
    let graces: GracePeriods?
    let signals: RenewalSignals
    // For each purchase, the case that decides the current state of its refund.
    let refunds: [RefundCase?]
    let oneTimeRefunds: [RefundCase?]

    init(_ timeline: Timeline, _ catalogs: CatalogHistory) {
        self.timeline = timeline
        self.catalogs = catalogs
        continuity = timeline.asAppleDid.continuity
        cuts = timeline.cuts
        graces = timeline.graces
        signals = RenewalSignals(timeline)
        var refunds = [RefundCase?](repeating: nil, count: timeline.purchases.count)
        var oneTime = [RefundCase?](repeating: nil, count: timeline.oneTimePurchases.count)
        for row in Refunds(timeline).rows where row.isNet && row.state == .refunded {
            switch row.subject {
            case .subscription(let index): refunds[index] = row
            case .oneTime(let index): oneTime[index] = row
            }
        }
        (self.refunds, oneTimeRefunds) = (refunds, oneTime)
    }

    /// What a row states about the previous purchase.
    struct Predecessor {
        let productId: String
        let renewalNumber: Int?
        let isTrialPeriod: Bool

        init(_ row: TransactionRow) {
            productId = row.product.productId
            renewalNumber = row.place.renewalNumber
            isTrialPeriod = row.terms.isTrialPeriod
        }
    }

    func row(
        ofSubscription index: Int,
        after before: Predecessor?,
        _ paidPeriods: inout Int
    ) -> TransactionRow {
        let purchase = timeline.purchases[index]
        var citations = Citations()
        citations.cite(purchase.datesOffset)
        let refund = refunds[index]
        let kind = purchase.kind(citing: &citations)
        let terms = terms(of: purchase, kind, isOneTime: false, &citations)
        let money = money(of: purchase, refund, &citations)
        let time = time(of: index, &citations)
        let place = place(of: index, kind, money, terms, after: before, &paidPeriods, &citations)
        return TransactionRow(
            stream: timeline.stream,
            ids: identifiers(of: purchase, &citations),
            product: product(of: purchase, &citations),
            time: time,
            terms: terms,
            money: money,
            place: place,
            fate: TransactionRow.Fate(
                refunded: refund.flatMap { $0.kind == .replaced ? nil : $0.refunded },
                revocationReason: refund?.reason,
                revocationPercentage: refund?.percentageMilli,
                isUpgraded: purchase.isUpgraded,
                unsubscribeDetected: signals.unsubscribed(after: index, of: timeline, &citations),
                // A replaced purchase has no renewal that could fail.
                billingIssuesDetected: cuts[index] == nil
                    ? signals.billingIssue(after: index, of: timeline, &citations) : nil
            ),
            firstPosition: Position(lane: timeline.lane, offset: purchase.firstOffset),
            positions: citations.positions(lane: timeline.lane)
        )
    }

    func row(ofOneTime index: Int) -> TransactionRow {
        let purchase = timeline.oneTimePurchases[index]
        var citations = Citations()
        citations.cite(purchase.datesOffset)
        let refund = oneTimeRefunds[index]
        let revoked = refund?.revocation.map { max($0, purchase.purchaseDate) }
        return TransactionRow(
            stream: timeline.stream,
            ids: identifiers(of: purchase, &citations),
            product: product(of: purchase, &citations),
            time: TransactionRow.Time(
                start: purchase.purchaseDate,
                end: nil,
                gracePeriodEnd: nil,
                effectiveEnd: revoked
            ),
            terms: terms(of: purchase, .paid, isOneTime: true, &citations),
            money: money(of: purchase, refund, &citations),
            place: TransactionRow.Place(
                renewalNumber: nil,
                consecutivePaidPeriods: 0,
                isTrialConversion: false,
                isResubscribe: false,
                gapSeconds: nil,
                planChange: nil,
                previousProductId: nil
            ),
            fate: TransactionRow.Fate(
                refunded: refund?.refunded,
                revocationReason: refund?.reason,
                revocationPercentage: refund?.percentageMilli,
                isUpgraded: false,
                unsubscribeDetected: nil,
                billingIssuesDetected: nil
            ),
            firstPosition: Position(lane: timeline.lane, offset: purchase.firstOffset),
            positions: citations.positions(lane: timeline.lane)
        )
    }
}

extension TransactionCourse {
    private func identifiers(
        of purchase: Purchase,
        _ citations: inout Citations
    ) -> TransactionRow.Identifiers {
        // Ids are text, but Apple assigns them in ascending order: the longer one is the later one.
        let ids = purchase.transactionIds.ordered { left, right in
            left.utf8.count != right.utf8.count
                ? left.utf8.count < right.utf8.count : byBytes(left, right) ?? false
        }
        let lineItem = purchase.webOrderLineItemId
        return TransactionRow.Identifiers(
            storeTransactionId: ids.first,
            duplicateTransactionIds: Array(ids.dropFirst()),
            webOrderLineItemId: lineItem.isEmpty ? nil : lineItem,
            appAccountToken: purchase.text(.appAccountToken, citing: &citations)
        )
    }

    private func product(
        of purchase: Purchase,
        _ citations: inout Citations
    ) -> TransactionRow.Product {
        let sold = catalogs.version(at: purchase.purchaseDate)?
            .subscription(purchase.productId)
        return TransactionRow.Product(
            productId: purchase.productId,
            duration: sold?.duration,
            subscriptionGroupIdentifier:
                purchase.text(.subscriptionGroupIdentifier, citing: &citations)
                ?? sold?.subscriptionGroupIdentifier,
            groupLevel: sold?.level
        )
    }

    private func terms(
        of purchase: Purchase,
        _ kind: ActivePeriod.Kind,
        isOneTime: Bool,
        _ citations: inout Citations
    ) -> TransactionRow.Terms {
        TransactionRow.Terms(
            isAutoRenewable: !isOneTime,
            isTrialPeriod: kind == .trial,
            isInIntroOfferPeriod: kind == .intro,
            offerType: purchase.integer(.offerType, citing: &citations),
            offerIdentifier: purchase.text(.offerIdentifier, citing: &citations),
            offerDiscountType: purchase.text(.offerDiscountType, citing: &citations),
            country: purchase.text(.storefront, citing: &citations),
            ownershipType: purchase.text(.inAppOwnershipType, citing: &citations),
            transactionReason: purchase.text(.transactionReason, citing: &citations),
            quantity: purchase.integer(.quantity, citing: &citations)
        )
    }

    private func money(
        of purchase: Purchase,
        _ refund: RefundCase?,
        _ citations: inout Citations
    ) -> TransactionRow.Money {
        let gross = purchase.integer(.price, citing: &citations)
        var net = gross
        if let refund {
            citations.cite(refund.positions)
            net = gross.flatMap { gross in
                refund.refundedMilliunits.map { gross.subtractingReportingOverflow($0) }
                    .flatMap { $0.overflow ? nil : $0.partialValue }
            }
        }
        return TransactionRow.Money(
            currency: purchase.text(.currency, citing: &citations),
            grossMilliunits: gross,
            netMilliunits: net
        )
    }

    private func time(of index: Int, _ citations: inout Citations) -> TransactionRow.Time {
        let purchase = timeline.purchases[index]
        let policy = timeline.policy
        let end = PeriodEnd(
            of: purchase,
            among: timeline.purchases,
            cut: cuts[index],
            under: policy,
            citing: &citations
        )
        let served =
            end.isNatural ? graces?.end(after: index, under: policy, citing: &citations) : nil
        // A grace that was revoked when it began does not count.
        let grace = served.map(\.validTo).flatMap { $0 > purchase.expiresDate ? $0 : nil }
        let accessEnd = (policy.graceCounts ? grace : nil) ?? end.validTo
        let isCounted = policy.familyCounts || !purchase.isFamilyShared
        return TransactionRow.Time(
            start: purchase.purchaseDate,
            end: purchase.expiresDate,
            gracePeriodEnd: grace,
            effectiveEnd: isCounted ? accessEnd : purchase.purchaseDate
        )
    }

    private func place(
        of index: Int,
        _ kind: ActivePeriod.Kind,
        _ money: TransactionRow.Money,
        _ terms: TransactionRow.Terms,
        after before: Predecessor?,
        _ paidPeriods: inout Int,
        _ citations: inout Citations
    ) -> TransactionRow.Place {
        let purchase = timeline.purchases[index]
        // If a first purchase is a renewal, its predecessor never reached us.
        let chained = continuity.isContinuing[index] ? before : nil
        let isAgain = before != nil && chained == nil
        let isFree =
            money.grossMilliunits == 0 || kind == .trial
            || terms.offerDiscountType == "FREE_TRIAL" || terms.ownershipType == "FAMILY_SHARED"
        // Free periods inside a chain neither count nor break it.
        paidPeriods = (chained == nil ? 0 : paidPeriods) + (isFree ? 0 : 1)
        let gap = continuity.accessEnds[index].map {
            (purchase.purchaseDate.milliseconds - $0.milliseconds) / 1000
        }
        var change: PlanChangeClass?
        if let before, !before.productId.isEmpty, !purchase.productId.isEmpty,
            byBytes(before.productId, purchase.productId) != nil
        {
            change = catalogs.change(
                from: before.productId,
                to: purchase.productId,
                at: purchase.purchaseDate
            )
            citations.cite(timeline.purchases[index - 1].datesOffset)
        }
        return TransactionRow.Place(
            renewalNumber: (chained?.renewalNumber ?? 0) + 1,
            consecutivePaidPeriods: isFree ? 0 : paidPeriods,
            isTrialConversion: chained?.isTrialPeriod == true && kind != .trial,
            isResubscribe: isAgain,
            gapSeconds: isAgain ? gap : nil,
            planChange: change,
            previousProductId: change == nil ? nil : before?.productId
        )
    }
}

extension RefundCase {
    /// When the purchase itself was revoked; nil if only an item of it was refunded.
    fileprivate var revocation: Instant? { kind == .items ? nil : revoked }
}
