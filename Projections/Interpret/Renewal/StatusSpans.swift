internal import Events

/// The statuses of a subscription, one after the other: ascending, and never overlapping.
///
/// Access comes from `ActivePeriods`; between its intervals a subscription is revoked, in billing
/// retry or expired (Apple's data: status values).
///
/// A grace whose renewal is retried implies what follows it: Apple continues for 60 days after the
/// expiry (GRACE_PERIOD_EXPIRED, status 3:
/// https://developer.apple.com/documentation/appstoreservernotifications/notificationtype), so the
/// retry is known beyond Apple's last statement, until it states otherwise.
struct StatusSpans {
    private(set) var spans: [StatusSpan] = []

    private let timeline: Timeline
    private let retries: BillingRetries?
    private let horizon: Instant

    init(_ timeline: Timeline) {
        self.timeline = timeline
        retries = BillingRetries(timeline, timeline.renewalStatements)
        horizon = timeline.horizon ?? Instant(milliseconds: 0)
        let rows = ActivePeriods(timeline).rows
        spans.reserveCapacity(rows.count)
        var last: (row: Int, end: Instant)?
        for row in rows.indices {
            let (start, end) = (rows[row].validFrom, rows[row].validTo)
            if let last {
                if rows[row].neverTookEffect { continue }
                if last.end < start { appendGap(after: rows[last.row], last.end, to: rows[row]) }
            } else if let charged = firstStatement(ofRenewalAt: start) {
                append(charged.asOf, start, .active, charged.offset)
            }
            append(rows[row], from: max(start, last?.end ?? start))
            // Of rows that end together the later one counts: it may be a renewal revoked before it
            // began.
            if end >= last?.end ?? end { last = (row, end) }
        }
        guard let last else { return }
        if last.end <= horizon {
            appendGap(after: rows[last.row], last.end, to: nil)
        } else if rows[last.row].kind == .grace, rows[last.row].endReason == .open {
            appendRetry(afterGrace: rows[last.row])
        }
    }

    // A grace that had not ended by Apple's last statement; without a retry nothing is known after
    // it.
    private mutating func appendRetry(afterGrace grace: ActivePeriod) {
        var citations = Citations()
        citations.cite(grace.positions)
        let from = grace.validTo
        let gap = BillingRetries.Gap(from: from, to: nil, expiresDate: grace.expiresDate)
        guard let retry = retries?.end(in: gap, citing: &citations), retry.isRetry,
            retry.end.map({ from < $0 }) ?? true
        else { return }
        append(retry, in: gap, citations)
    }

    // A purchase that was charged in grace covers the grace from its beginning; until Apple stated
    // it, the subscription was in grace (Apple's data: trap 21).
    private mutating func append(_ row: ActivePeriod, from start: Instant) {
        guard row.kind != .grace else {
            append(start, row.validTo, .gracePeriod, row.positions)
            return
        }
        guard start == row.purchaseDate, let recovered = recovery(at: start) else {
            append(start, row.validTo, .active, row.positions)
            return
        }
        let end = min(recovered.end, row.validTo)
        append(start, end, .gracePeriod, recovered.citations.positions(lane: timeline.lane))
        append(end, row.validTo, .active, row.positions)
    }

    // The end of the grace in which the renewal with that start was charged; nil if it was not.
    private func recovery(at start: Instant) -> (end: Instant, citations: Citations)? {
        guard let graces = timeline.graces else { return nil }
        let statements = timeline.purchases[startingAt: start].compactMap {
            $0.assertions.sorted.first
        }
        guard let first = statements.map(\.asOf).min(), first > start else { return nil }
        var citations = Citations()
        guard let grace = graces.statedEnd(of: start, before: first, citing: &citations) else {
            return nil
        }
        for assertion in statements where assertion.asOf == first {
            citations.cite(assertion.offset)
        }
        return (min(grace, first), citations)
    }

    private mutating func append(
        _ from: Instant,
        _ to: Instant,
        _ status: SubscriptionStatus,
        _ positions: [Position]
    ) {
        guard from < to else { return }
        var citations = Citations()
        citations.cite(positions)
        spans.append(StatusSpan(from: from, to: to, status: status, citations: citations))
    }

    private mutating func append(
        _ from: Instant,
        _ to: Instant,
        _ status: SubscriptionStatus,
        _ offset: Int64
    ) {
        append(from, to, status, [Position(lane: timeline.lane, offset: offset)])
    }

    // The status of a gap depends on why the access before it ended, then on Apple's statements
    // about it.
    private mutating func appendGap(
        after last: ActivePeriod,
        _ from: Instant,
        to next: ActivePeriod?
    ) {
        var citations = Citations()
        citations.cite(last.positions)
        if last.endReason.isRevocation {
            spans.append(
                StatusSpan(from: from, to: next?.validFrom, status: .revoked, citations: citations)
            )
            return
        }
        // A renewal charged before it starts followed a purchase that never reached us.
        let charged = next.flatMap { firstStatement(ofRenewalAt: $0.validFrom) }
        let to = charged.map { max($0.asOf, from) } ?? next?.validFrom
        let gap = BillingRetries.Gap(from: from, to: to, expiresDate: last.expiresDate)
        appendUnpaid(gap, citations)
        if let charged, let next, let to {
            append(to, next.validFrom, .active, charged.offset)
        }
    }

    private mutating func appendUnpaid(_ gap: BillingRetries.Gap, _ citations: Citations) {
        if let to = gap.to, to <= gap.from { return }
        var citations = citations
        guard let retry = retries?.end(in: gap, citing: &citations),
            retry.isRetry
        else {
            spans.append(
                StatusSpan(from: gap.from, to: gap.to, status: .expired, citations: citations)
            )
            return
        }
        append(retry, in: gap, citations)
    }

    // The retry, and the expiry after its end.
    private mutating func append(
        _ retry: (end: Instant?, isRetry: Bool),
        in gap: BillingRetries.Gap,
        _ citations: Citations
    ) {
        if retry.end.map({ gap.from < $0 }) ?? true {
            spans.append(
                StatusSpan(
                    from: gap.from,
                    to: retry.end,
                    status: .billingRetry,
                    citations: citations
                )
            )
        }
        guard let end = retry.end, gap.to.map({ end < $0 }) ?? true else { return }
        spans.append(StatusSpan(from: end, to: gap.to, status: .expired, citations: citations))
    }

    // When a renewal was first stated, if before its start; nil if there is none at that instant.
    private func firstStatement(ofRenewalAt start: Instant) -> (asOf: Instant, offset: Int64)? {
        var first: (asOf: Instant, offset: Int64)?
        for purchase in timeline.purchases[startingAt: start] {
            guard purchase.isRenewal, let statement = purchase.assertions.sorted.first,
                statement.asOf < start
            else { continue }
            if first.map({ statement.asOf < $0.asOf }) ?? true {
                first = (statement.asOf, statement.offset)
            }
        }
        return first
    }
}
