internal import Events

/// Every purchase of a timeline with its meaning within its subscription.
public struct TransactionRows: Sendable {
    /// One row per purchase, including additions of seats and one-time purchases, by start.
    public let rows: [TransactionRow]

    /// The rows of a timeline, with its products described by these catalogs.
    public init(_ timeline: Timeline, _ catalogs: CatalogHistory) {
        let course = TransactionCourse(timeline, catalogs)
        var rows: [TransactionRow] = []
        rows.reserveCapacity(timeline.purchases.count + timeline.oneTimePurchases.count)
        var known: [TransactionCourse.Predecessor] = []
        known.reserveCapacity(timeline.purchases.count)
        for index in timeline.purchases.indices {
            let before = timeline.succession.predecessor(of: index).map { known[$0] }
            var paidPeriods = before?.paidPeriods ?? 0
            let row = course.row(ofSubscription: index, after: before, &paidPeriods)
            known.append(
                TransactionCourse.Predecessor(
                    row,
                    paidPeriods: paidPeriods,
                    datesOffset: timeline.purchases[index].datesOffset
                )
            )
            rows.append(row)
            for addition in timeline.purchases[index].additions.indices {
                rows.append(course.row(ofAddition: addition, to: index, row))
            }
        }
        for index in timeline.oneTimePurchases.indices {
            rows.append(course.row(ofOneTime: index))
        }
        self.rows = rows.ordered { $0.time.start < $1.time.start }
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
    // The cases in force.
    private let refunds: [RefundCase]

    init(_ timeline: Timeline, _ catalogs: CatalogHistory) {
        self.timeline = timeline
        self.catalogs = catalogs
        continuity = timeline.asAppleDid.continuity
        cuts = timeline.cuts
        graces = timeline.graces
        signals = RenewalSignals(timeline)
        refunds = Refunds(timeline).rows.filter {
            $0.isNet && ($0.state == .refunded || $0.state == .revoked)
        }
    }

    /// The cases that decide the current state of a purchase's refund; nearly always none or one.
    func refunds(of subject: RefundCase.Subject) -> [RefundCase] {
        refunds.isEmpty ? [] : refunds.filter { $0.subject == subject }
    }

    /// What a row states about the previous purchase.
    struct Predecessor {
        let productId: String
        let renewalNumber: Int?
        let isTrialPeriod: Bool
        /// The paid periods of its chain so far.
        let paidPeriods: Int
        let datesOffset: Int64

        init(_ row: TransactionRow, paidPeriods: Int, datesOffset: Int64) {
            self.paidPeriods = paidPeriods
            self.datesOffset = datesOffset
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
        let refunds = refunds(of: .subscription(index))
        let kind = purchase.kind(citing: &citations)
        let terms = terms(of: purchase, kind, isOneTime: false, &citations)
        let money = money(of: purchase, refunds, &citations)
        let time = time(of: purchase, in: index, &citations)
        let place = place(of: index, money, terms, after: before, &paidPeriods, &citations)

        return TransactionRow(
            stream: timeline.stream,
            subject: .subscription(index),
            ids: identifiers(of: purchase, &citations),
            product: product(of: purchase, &citations),
            time: time,
            terms: terms,
            money: money,
            place: place,
            seats: TransactionRow.SeatTerms(of: purchase),
            bundle: purchase.bundle,
            fate: fate(
                of: purchase,
                refunds,
                unsubscribeDetected: signals.unsubscribed(after: index, of: timeline, &citations),
                // A replaced purchase has no renewal that could fail.
                billingIssuesDetected: cuts[index] == nil
                    ? signals.billingIssue(after: index, of: timeline, &citations) : nil
            ),
            firstPosition: Position(lane: timeline.lane, offset: purchase.firstOffset),
            positions: citations.positions(lane: timeline.lane)
        )
    }

    /// The row of an addition of seats to a purchase with that row.
    func row(ofAddition number: Int, to index: Int, _ first: TransactionRow) -> TransactionRow {
        let addition = timeline.purchases[index].additions[number]
        var citations = Citations()
        citations.cite(addition.datesOffset)
        let refunds = refunds(of: .addition(number, of: index))
        let kind = addition.kind(citing: &citations)
        let money = money(of: addition, refunds, &citations)

        return TransactionRow(
            stream: timeline.stream,
            subject: .addition(number, of: index),
            ids: identifiers(of: addition, &citations),
            product: product(of: addition, &citations),
            time: time(of: addition, in: index, &citations),
            terms: terms(of: addition, kind, isOneTime: false, &citations),
            money: money,
            place: TransactionRow.Place(
                renewalNumber: first.place.renewalNumber,
                consecutivePaidPeriods: first.place.consecutivePaidPeriods
            ),
            seats: TransactionRow.SeatTerms(of: addition, addedTo: first.time.start),
            bundle: addition.bundle,
            fate: fate(
                of: addition,
                refunds,
                unsubscribeDetected: first.fate.unsubscribeDetected,
                billingIssuesDetected: first.fate.billingIssuesDetected
            ),
            firstPosition: Position(lane: timeline.lane, offset: addition.firstOffset),
            positions: citations.positions(lane: timeline.lane)
        )
    }

    func row(ofOneTime index: Int) -> TransactionRow {
        let purchase = timeline.oneTimePurchases[index]
        var citations = Citations()
        citations.cite(purchase.datesOffset)
        let refunds = refunds(of: .oneTime(index))
        let revoked = refunds.last?.revocation.map { max($0, purchase.purchaseDate) }

        return TransactionRow(
            stream: timeline.stream,
            subject: .oneTime(index),
            ids: identifiers(of: purchase, &citations),
            product: product(of: purchase, &citations),
            time: TransactionRow.Time(start: purchase.purchaseDate, effectiveEnd: revoked),
            terms: terms(of: purchase, .paid, isOneTime: true, &citations),
            money: money(of: purchase, refunds, &citations),
            place: TransactionRow.Place(renewalNumber: nil, consecutivePaidPeriods: 0),
            seats: nil,
            bundle: nil,
            fate: fate(of: purchase, refunds),
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
            appAccountToken: purchase.text(.appAccountToken, citing: &citations).flatMap {
                $0.isPlaceholder ? nil : $0
            },
            continuedOriginalTransactionId: purchase.continuation(Continuation.continues)
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
            isTrialPeriod: !isOneTime && purchase.isFreeTrial(citing: &citations),
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

    private func fate(
        of purchase: Purchase,
        _ refunds: [RefundCase],
        unsubscribeDetected: Instant? = nil,
        billingIssuesDetected: Instant? = nil
    ) -> TransactionRow.Fate {
        let undated: [RefundCase.Kind] = [.replaced, .bundled, .assignmentEnded]
        let dated = refunds.filter { row in row.kind.map { !undated.contains($0) } ?? true }
        return TransactionRow.Fate(
            refunded: dated.compactMap(\.refunded).max(),
            revocationReason: refunds.last?.reason,
            revocationPercentage: refunds.last?.percentageMilli,
            isUpgraded: purchase.isUpgraded && !purchase.neverExpires,
            unsubscribeDetected: unsubscribeDetected,
            billingIssuesDetected: billingIssuesDetected
        )
    }

    private func money(
        of purchase: Purchase,
        _ refunds: [RefundCase],
        _ citations: inout Citations
    ) -> TransactionRow.Money {
        let gross = purchase.amount(citing: &citations)
        var net = gross
        for refund in refunds
        where refund.kind?.isWithoutMoney != true && purchase.sharing == nil {
            citations.cite(refund.positions)
            net = net.flatMap { net in
                refund.refundedMilliunits.map { net.subtractingReportingOverflow($0) }
                    .flatMap { $0.overflow ? nil : $0.partialValue }
            }
        }
        return TransactionRow.Money(
            currency: purchase.text(.currency, citing: &citations),
            grossMilliunits: gross,
            netMilliunits: net
        )
    }

    // A transaction that is taken back ends then, while its period may go on.
    private func time(
        of purchase: Purchase,
        in index: Int,
        _ citations: inout Citations
    ) -> TransactionRow.Time {
        let period = timeline.purchases[index]
        let policy = timeline.policy
        let end = PeriodEnd(
            of: period,
            among: timeline.purchases,
            cut: cuts[index],
            under: policy,
            citing: &citations
        )

        let served =
            end.isNatural ? graces?.end(after: index, under: policy, citing: &citations) : nil
        // A grace that was revoked when it began does not count.
        let grace = served.map(\.validTo).flatMap { $0 > period.expiresDate ? $0 : nil }
        var accessEnd = (policy.graceCounts ? grace : nil) ?? end.validTo
        if !period.additions.isEmpty {
            let own = purchase.instant(.revocationDate, citing: &citations)
            let last = own.map { policy.refundIsRetroactive ? purchase.purchaseDate : $0 }
            accessEnd = max(purchase.purchaseDate, min(accessEnd, last ?? accessEnd))
        }

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
            money.grossMilliunits == 0 || terms.isTrialPeriod || purchase.sharing != nil
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
            citations.cite(before.datesOffset)
        }

        return TransactionRow.Place(
            renewalNumber: (chained?.renewalNumber ?? 0) + 1,
            consecutivePaidPeriods: isFree ? 0 : paidPeriods,
            isTrialConversion: chained?.isTrialPeriod == true && !terms.isTrialPeriod,
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
