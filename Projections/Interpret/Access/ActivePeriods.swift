public import Events

/// When a subscription gave access, and why it stopped: answers "did this customer have access
/// then?".
public struct ActivePeriods: Sendable {
    /// One row for each purchase and each grace period, by valid from, valid to, kind and product.
    ///
    /// If the policy restores access after a reversed refund only from the reversal on, there is
    /// another row for each time it was restored.
    public let rows: [ActivePeriod]

    private static let kept = FoldMemo.Key<[ActivePeriod]>()

    /// The rows of a timeline.
    public init(_ timeline: Timeline) {
        rows = timeline.once(ActivePeriods.kept) {
            let drafts = timeline.periodDrafts
            let openEnd = timeline.openEnd(of: drafts)
            let rows = drafts.map { (period: $0.row(in: timeline, openEnd: openEnd), $0.purchase) }
                .ordered { ActivePeriod.areInOrder($0.period, $1.period) }
            return timeline.givingReasons(to: rows)
        }
    }

    /// The times with access: half-open, ascending, adjacent ones merged, none empty.
    public var active: [Range<Instant>] {
        var merged: [Range<Instant>] = []
        // Rows are ordered by their start.
        for row in rows where row.validFrom < row.validTo {
            if let last = merged.last, row.validFrom <= last.upperBound {
                let end = max(last.upperBound, row.validTo)
                merged[merged.count - 1] = last.lowerBound..<end
            } else {
                merged.append(row.validFrom..<row.validTo)
            }
        }
        return merged
    }
}

/// A row before it is known which row of the stream is the last.
private struct PeriodDraft {
    let purchase: Int
    let validFrom: Instant
    let validTo: Instant
    let kind: ActivePeriod.Kind
    // Nil if the period ends naturally, or has not ended yet.
    let reason: ActivePeriod.EndReason?
    let citations: Citations

    func row(in timeline: Timeline, openEnd: Instant?) -> ActivePeriod {
        let purchase = timeline.purchases[purchase]
        var row = ActivePeriod(
            stream: timeline.stream,
            productId: purchase.productId,
            purchaseDate: purchase.purchaseDate,
            expiresDate: purchase.expiresDate,
            validFrom: validFrom,
            validTo: validTo,
            kind: kind,
            endReason: reason ?? (validTo == openEnd ? .open : .expired),
            positions: citations.positions(lane: timeline.lane)
        )
        row.take(purchase)
        return row
    }
}

extension Timeline {
    // Rows are ordered by start: the last access before a gap ended for the reason that Apple
    // states.
    fileprivate func givingReasons(
        to rows: [(period: ActivePeriod, purchase: Int)]
    ) -> [ActivePeriod] {
        let expirations = Expirations(self)
        guard !expirations.isEmpty else { return rows.map(\.period) }
        var reachedEnd: Instant?
        return rows.indices.map { index in
            var row = rows[index].period
            defer { reachedEnd = max(reachedEnd ?? row.validTo, row.validTo) }
            guard row.endReason == .expired, reachedEnd.map({ $0 <= row.validTo }) ?? true else {
                return row
            }
            let later = rows[(index + 1)...].lazy.map(\.period)
            let next = later.first { $0.validTo > row.validTo }
            if let next, next.validFrom <= row.validTo { return row }
            row.expirationReason =
                expirations.statedReason(
                    endingAccessOf: rows[index].purchase,
                    at: row.validTo,
                    before: next?.validFrom
                )?.reason
            return row
        }
    }

    /// The rows in no particular order, each with the index of its purchase.
    var periodsOfPurchases: [(period: ActivePeriod, purchase: Int)] {
        let drafts = periodDrafts
        let openEnd = openEnd(of: drafts)
        return drafts.map { ($0.row(in: self, openEnd: openEnd), $0.purchase) }
    }

    // The last end of all, if it was not reached by Apple's last statement.
    fileprivate func openEnd(of drafts: [PeriodDraft]) -> Instant? {
        guard let horizon, let lastEnd = drafts.lazy.map(\.validTo).max(), horizon < lastEnd else {
            return nil
        }
        return lastEnd
    }

    fileprivate var periodDrafts: [PeriodDraft] {
        let graces = policy.graceCounts ? self.graces : nil
        let cuts = self.cuts
        var drafts: [PeriodDraft] = []
        drafts.reserveCapacity(purchases.count)
        for index in purchases.indices {
            let purchase = purchases[index]
            guard policy.familyCounts || !purchase.isFamilyShared else { continue }
            let dated = purchase.citedDates
            var citations = dated
            let kind =
                purchase.sharing(citing: &citations)?.periodKind
                ?? purchase.kind(citing: &citations)
            // One row, and one more for each time in which the purchase had been revoked.
            func append(
                _ kind: ActivePeriod.Kind,
                _ start: Instant,
                _ end: PeriodEnd,
                _ citations: Citations
            ) {
                var from = start
                for suspension in end.suspensions {
                    drafts.append(
                        PeriodDraft(
                            purchase: index,
                            validFrom: from,
                            validTo: suspension.from,
                            kind: kind,
                            reason: suspension.reason,
                            citations: citations.citing(suspension.citations)
                        )
                    )
                    from = suspension.to
                }
                drafts.append(
                    PeriodDraft(
                        purchase: index,
                        validFrom: from,
                        validTo: end.validTo,
                        kind: kind,
                        reason: end.reason,
                        citations: citations.citing(end.suspensions.last?.citations)
                    )
                )
            }
            let end = PeriodEnd(
                of: purchase,
                among: purchases,
                cut: cuts[index],
                under: policy,
                citing: &citations
            )
            append(kind, purchase.purchaseDate, end, citations)
            guard end.isNatural, let graces else { continue }
            citations = dated
            if let end = graces.end(after: index, under: policy, citing: &citations) {
                append(.grace, purchase.expiresDate, end, citations)
            }
        }
        return drafts
    }
}

extension Purchase {
    fileprivate var citedDates: Citations {
        var citations = Citations()
        citations.cite(datesOffset)
        if assertions.sorted.count > 1, let product = assertions.decision(on: .productId) {
            citations.cite(product.offset)
        }
        return citations
    }
}
