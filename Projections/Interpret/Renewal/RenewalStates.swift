public import Events

/// The state of a subscription at any time: its status, the next charge and how it is set to
/// renew.
public struct RenewalStates: Sendable {
    /// One row for each longest interval in which nothing changed: ascending, never overlapping.
    ///
    /// They begin with the first purchase and continue until further notice, or to the end of the
    /// access that Apple has announced: nothing is known beyond. After an announced grace whose
    /// renewal is retried they continue with the retry, which ends 60 days after the expiry.
    public let rows: [RenewalState]

    private static let kept = FoldMemo.Key<[RenewalState]>()

    /// The rows of a timeline; linear in the number of events, except for sorting.
    public init(_ timeline: Timeline) {
        rows = timeline.once(RenewalStates.kept) {
            var drafts = StateDrafts(timeline)
            for span in timeline.statusSpans { drafts.take(span) }
            return drafts.drafts.map { $0.row(in: timeline) }
        }
    }

    /// The state at an instant; nil if nothing is known about it.
    public func state(at instant: Instant) -> RenewalState? {
        rows.last { $0.validFrom <= instant }.flatMap { row in
            row.validTo.map { instant < $0 } ?? true ? row : nil
        }
    }
}

/// A row while the next ones may still extend it.
private struct StateDraft {
    let from: Instant
    var to: Instant?
    let status: SubscriptionStatus
    let charge: RenewalState.Charge
    let setting: RenewalSetting
    let isAutoRenewOn: Bool?
    let expirationReason: ExpirationReason?
    var terms: RenewalTerms?
    var citations: Citations

    func row(in timeline: Timeline) -> RenewalState {
        RenewalState(
            stream: timeline.stream,
            validFrom: from,
            validTo: to,
            status: status,
            charge: charge,
            isAutoRenewOn: isAutoRenewOn,
            autoRenewProductId: setting.autoRenewProductId,
            priceConsent: setting.priceConsent,
            expirationReason: expirationReason,
            terms: terms,
            positions: citations.positions(lane: timeline.lane)
        )
    }

    func agrees(with other: StateDraft) -> Bool {
        status == other.status && charge == other.charge
            && isAutoRenewOn == other.isAutoRenewOn
            && setting.priceConsent == other.setting.priceConsent
            && isSameProduct(setting.autoRenewProductId, other.setting.autoRenewProductId)
            && expirationReason == other.expirationReason && hasSameTerms(as: other)
    }

    private func hasSameTerms(as other: StateDraft) -> Bool {
        guard let terms, let others = other.terms else {
            return terms == nil && other.terms == nil
        }
        return terms.agrees(with: others)
    }

    // By bytes, unlike Swift's own comparison of texts.
    private func isSameProduct(_ one: String?, _ other: String?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        return byBytes(one, other) == nil
    }
}

/// An interval in which a purchase was known that starts at its end or later.
private struct EarlyCharge {
    var from: Instant
    var to: Instant
    let offset: Int64
    /// Whether it was refunded by then: no charge is due any more, and none has succeeded.
    var isRefunded = false

    /// Ascending, without overlaps.
    static func all(of timeline: Timeline) -> [EarlyCharge] {
        let purchases = timeline.purchases
        let early: [EarlyCharge] = purchases.indices.flatMap { index -> [EarlyCharge] in
            let purchase = purchases[index]
            // An overtaken renewal has no effect once the other purchase has begun.
            let overtaker = timeline.succession.overtaker(of: index).map { purchases[$0] }
            let start = min(purchase.purchaseDate, overtaker?.purchaseDate ?? purchase.purchaseDate)
            guard let first = purchase.assertions.sorted.first, first.asOf < start else {
                return []
            }
            let whole = EarlyCharge(from: first.asOf, to: start, offset: first.offset)
            guard let refunded = purchase.decision(on: .revocationDate),
                case .value(.instant(let date)) = refunded.state, date < whole.to
            else { return [whole] }
            var (charged, givenBack) = (whole, whole)
            charged.to = max(date, whole.from)
            givenBack = EarlyCharge(
                from: charged.to,
                to: whole.to,
                offset: refunded.offset,
                isRefunded: true
            )
            return [charged, givenBack].filter { $0.from < $0.to }
        }

        guard early.count > 1 else { return early }
        let ordered = early.sorted { left, right in
            if (left.from, left.to) != (right.from, right.to) {
                return (left.from, left.to) < (right.from, right.to)
            }
            return !left.isRefunded && right.isRefunded
        }
        return ordered.reduce(into: []) { merged, next in
            if let last = merged.last, next.from <= last.to, next.isRefunded == last.isRefunded {
                merged[merged.count - 1].to = max(last.to, next.to)
            } else {
                var next = next
                next.from = max(next.from, merged.last?.to ?? next.from)
                if next.from < next.to { merged.append(next) }
            }
        }
    }
}

/// Splits the spans of a status where a setting or the next charge changes.
private struct StateDrafts {
    private(set) var drafts: [StateDraft] = []

    private let settings: [RenewalSetting]
    private let early: [EarlyCharge]
    private let expirations: Expirations
    // Both only advance, because spans ascend.
    private var setting = -1
    private var charge = 0
    // The start of the newest expiry so far.
    private var expired: Instant?

    init(_ timeline: Timeline) {
        settings = timeline.renewalSettings
        early = EarlyCharge.all(of: timeline)
        expirations = Expirations(timeline)
    }

    mutating func take(_ span: StatusSpan) {
        var from = span.from
        if span.status == .expired { expired = from }
        let expiration = expirations.statedReason(of: span)
        while span.to.map({ from < $0 }) ?? true {
            while setting + 1 < settings.count, settings[setting + 1].from <= from { setting += 1 }
            while charge < early.count, early[charge].to <= from { charge += 1 }
            let current = charge < early.count ? early[charge] : nil
            var to = span.to
            func cut(_ at: Instant?) {
                if let at, from < at { to = min(to ?? at, at) }
            }
            cut(setting + 1 < settings.count ? settings[setting + 1].from : nil)
            cut(current?.from)
            cut(current?.to)
            append(span, from, to, current.flatMap { $0.from <= from ? $0 : nil }, expiration)
            guard let next = to else { break }
            from = next
        }
    }

    private mutating func append(
        _ span: StatusSpan,
        _ from: Instant,
        _ to: Instant?,
        _ charged: EarlyCharge?,
        _ expiration: Expirations.StatedReason?
    ) {
        let setting =
            setting >= 0 ? settings[setting] : RenewalSetting(from: Instant(milliseconds: 0))
        var citations = span.citations
        setting.cite(in: &citations)
        let charge = StateDrafts.charge(span.status, setting, charged)
        if charge == .succeeded || charged?.isRefunded == true { citations.cite(charged?.offset) }
        citations.cite(expiration?.offset)
        let terms = charge == .closed ? nil : setting.terms
        if terms != nil { citations.cite(setting.termsOffset) }
        let draft = StateDraft(
            from: from,
            to: to,
            status: span.status,
            charge: charge,
            setting: setting,
            isAutoRenewOn: setting.statedAutoRenewOn(after: expired),
            expirationReason: expiration?.reason,
            terms: terms,
            citations: citations
        )

        if let last = drafts.last, last.to == from, last.agrees(with: draft) {
            drafts[drafts.count - 1].to = to
            if let terms, let known = last.terms {
                drafts[drafts.count - 1].terms = known.filled(from: terms)
            }
            drafts[drafts.count - 1].citations.cite(citations)
        } else {
            drafts.append(draft)
        }
    }

    private static func charge(
        _ status: SubscriptionStatus,
        _ setting: RenewalSetting,
        _ charged: EarlyCharge?
    ) -> RenewalState.Charge {
        let isOff = setting.isAutoRenewOn == false || charged?.isRefunded == true
        switch status {
        case .expired, .revoked: return .closed
        case .gracePeriod, .billingRetry: return isOff ? .closed : .failed
        // A successful charge stays successful when auto-renewal is turned off after it.
        case .active:
            return charged?.isRefunded == false ? .succeeded : isOff ? .closed : .waiting
        }
    }
}
