import Events
@testable import Projections

/// The rules of active periods, as slow and plain as possible: straight from the facts, without a
/// log, and every "earliest" and "next" found by checking all candidates.
struct PlainActivePeriods {
    let facts: [Fact]
    let purchases: [PlainPurchase]

    init(_ facts: [Fact]) {
        self.facts = facts
        let bought = facts.filter {
            $0.kind == .transaction && $0.expiresDate != Instant(milliseconds: 0)
        }
        let subjects = Dictionary(grouping: bought, by: \.subject)
        let lineItems = subjects.mapValues { facts in
            let usable = facts.filter { !["", "0"].contains($0.content.text(.webOrderLineItemId)) }
            return state(of: .webOrderLineItemId, in: usable)
        }
        var groups: [GroupKey: [Fact]] = [:]
        var seats: [[Fact]] = []
        for (subject, facts) in subjects {
            let isOfFamily = { (other: Subject) in
                other.name.utf8.elementsEqual(subject.name.utf8)
                    && other.purchaseDate == subject.purchaseDate
            }
            let all = subjects.filter { isOfFamily($0.key) }
            if all.contains(where: { $0.value.contains(where: \.isOfSeats) }) {
                // Each family once.
                guard all.keys.allSatisfy({ $0.expiresDate >= subject.expiresDate }) else {
                    continue
                }
                seats += PlainPurchase.seatTransactions(all.values.flatMap { $0 })
                continue
            }
            let family = lineItems.filter { $0.value != .unknown && isOfFamily($0.key) }
            let own = lineItems[subject] ?? .unknown
            let lineItem = own != .unknown ? own : family.values.min() ?? .unknown
            let key =
                lineItem == .unknown
                ? GroupKey(lineItem: lineItem, second: subject.purchaseDate, name: subject.name)
                : GroupKey(lineItem: lineItem, second: Instant(milliseconds: 0), name: "")
            groups[key, default: []] += facts
        }
        let transactions = groups.map {
            PlainPurchase(facts: $0.value, lineItem: $0.key.lineItem)
        }
        let ofSeats = seats.map { facts in
            PlainPurchase(
                facts: facts,
                lineItem: state(
                    of: .webOrderLineItemId,
                    in: facts.filter { !["", "0"].contains($0.content.text(.webOrderLineItemId)) }
                )
            )
        }
        purchases = PlainPurchase.periods(of: transactions + ofSeats)
    }

    private struct GroupKey: Hashable {
        let lineItem: Knowledge.State
        let second: Instant
        let nameBytes: [UInt8]

        init(lineItem: Knowledge.State, second: Instant, name: String) {
            (self.lineItem, self.second, nameBytes) = (lineItem, second, Array(name.utf8))
        }
    }

    /// The rows in no particular order, each as its canonical bytes.
    func rowValues(of stream: StreamID) -> Set<[ColumnValue]> {
        var drafts:
            [(PlainPurchase, ActivePeriod.Kind, Instant, Instant, ActivePeriod.EndReason?)] = []
        for purchase in purchases {
            let (end, reason, isNatural) = end(of: purchase)
            drafts.append((purchase, purchase.kind, purchase.start, end, reason))
            if isNatural, let (graceEnd, isDated) = graceEnd(of: purchase) {
                let taken = purchase.revocation.flatMap {
                    $0 < graceEnd || $0 == graceEnd && !isDated ? $0 : nil
                }
                let end = taken.map { max($0, purchase.expiry) } ?? graceEnd
                let reason = taken == nil ? nil : purchase.takingReason
                drafts.append((purchase, .grace, purchase.expiry, end, reason))
            }
        }
        let last = drafts.map(\.3).max()
        let horizon = facts.map(\.asOf).max()
        return Set(
            drafts.map { purchase, kind, from, to, reason in
                let isOpen = to == last && horizon.map { $0 < to } == true
                return ActivePeriod(
                    stream: stream,
                    productId: purchase.product,
                    purchaseDate: purchase.start,
                    expiresDate: purchase.expiry,
                    validFrom: from,
                    validTo: to,
                    kind: kind,
                    endReason: reason ?? (isOpen ? .open : .expired),
                    positions: []
                ).values
            }
        )
    }

    private func end(of purchase: PlainPurchase) -> (Instant, ActivePeriod.EndReason?, Bool) {
        var (cut, successor, _) = replacement(of: purchase)
        let upgraded = purchase.isUpgraded
        if upgraded, cut == nil {
            cut = purchase.allFacts.filter { $0.content.boolean(.isUpgraded) == true }.map(\.asOf)
                .min().flatMap { $0 < purchase.expiry ? $0 : nil }
        }
        let end = cut ?? purchase.expiry
        let isReplaced = purchase.lastTaken.map { takesRestBack($0, of: purchase) } ?? false
        let taken = isReplaced ? nil : purchase.revocation
        let validTo = max(purchase.start, min(end, taken ?? end))
        if upgraded { return (validTo, .upgraded, false) }
        if let taken, taken < end { return (validTo, purchase.takingReason, false) }
        if let successor {
            let isOther = FieldValue.text(successor.product) != .text(purchase.product)
            return (validTo, isOther ? .upgraded : .replaced, false)
        }
        return (validTo, nil, cut == nil)
    }

    // What replaces a purchase, and when.
    private func replacement(
        of purchase: PlainPurchase
    ) -> (cut: Instant?, successor: PlainPurchase?, overtaker: PlainPurchase?) {
        if let overtaker = overtaker(of: purchase) { return (purchase.start, overtaker, overtaker) }
        let others = purchases.filter {
            $0 != purchase && $0.isAssigned == purchase.isAssigned && !$0.isRevokedBeforeStart
                && overtaker(of: $0) == nil
        }
        let sameSecond = others.filter { $0.start == purchase.start && purchase.isReplaced(by: $0) }
        let later = others.filter { $0.start > purchase.start }
        let candidates = sameSecond.isEmpty ? later : sameSecond
        let cut = candidates.map(\.start).min().flatMap { $0 < purchase.expiry ? $0 : nil }
        let successor = candidates.filter { $0.start == cut }.first { candidate in
            candidates.allSatisfy { $0.start != cut || !candidate.isReplaced(by: $0) }
        }
        return (cut, successor, nil)
    }

    /// Whether the revocation of a transaction only takes back what another purchase had replaced.
    func takesRestBack(_ transaction: PlainPurchase, of period: PlainPurchase) -> Bool {
        let (cut, successor, overtaker) = replacement(of: period)
        guard let cut, successor != nil, let date = transaction.instant(.revocationDate) else {
            return false
        }
        let type = transaction.text(.revocationType)
        let isRefund = type != nil && type != "FAMILY_REVOKE" && type != "ASSIGNMENT_REVOKE"
        return [cut, overtaker?.start ?? cut].contains {
            abs(date.milliseconds - $0.milliseconds) <= 60_000
        } && (transaction.isMarked || !isRefund)
    }

    // The purchase that runs when this one begins, if it was bought after it.
    private func overtaker(of late: PlainPurchase) -> PlainPurchase? {
        let before = purchases.filter {
            $0.comesBefore(late) && $0.isAssigned == late.isAssigned && !$0.isRevokedBeforeStart
                && overtaker(of: $0) == nil
        }
        let running = before.first { one in before.allSatisfy { !one.comesBefore($0) } }
        guard let early = running, early.start < late.start, late.start < early.expiry,
            !early.everExpiries.contains(late.start)
        else { return nil }
        let (start, bought) = (late.start.milliseconds, early.start.milliseconds)
        let revoked = late.revocation?.milliseconds ?? .max
        if late.isRevokedBeforeStart, revoked < bought - 60_000 { return nil }
        let isRunning = early.revocation.map { $0 >= late.start } ?? true
        guard isRunning || late.isUpgraded else { return nil }
        if late.firstAsOf < early.firstAsOf, late.firstAsOf < early.start { return early }
        let reason = late.text(.transactionReason)
        guard reason != "PURCHASE", early.expiry.milliseconds - start > 60_000,
            start - bought <= 86_400_000
        else { return nil }
        let renewsAnother = purchases.contains {
            $0.start < early.start && $0.everExpiries.contains(late.start)
        }
        if reason == "RENEWAL" || renewsAnother { return early }
        let marks = late.allFacts.filter { $0.content.boolean(.isUpgraded) == true }.map(\.asOf)
        let next = purchases.filter { late.comesBefore($0) }.map(\.start).min()
        guard late.isUpgraded, !early.isUpgraded, let mark = marks.min() else { return nil }
        return next.map { mark < $0 } ?? true ? early : nil
    }

    // With whether it is a date, rather than the as-of of a statement.
    private func graceEnd(of purchase: PlainPurchase) -> (Instant, isDated: Bool)? {
        let renewals = facts.filter { $0.kind == .renewal }
        let about = Set(renewals.map(\.asOf)).sorted().filter { asOf in
            let fresh = renewals.filter { $0.asOf == asOf }
            if case .value(.instant(let date)) = state(of: .renewalDate, in: fresh) {
                return date.flooredToSecond == purchase.expiry
            }
            let effective = purchases.filter { overtaker(of: $0) == nil }
            return effective.map(\.expiry).filter { $0 <= asOf }.max() == purchase.expiry
        }
        func grace(_ asOf: Instant) -> Knowledge.State {
            state(of: .gracePeriodExpiresDate, in: renewals.filter { $0.asOf == asOf })
        }
        let carrying = about.filter { if case .value = grace($0) { true } else { false } }
        func isOff(_ asOf: Instant) -> Bool {
            state(of: .autoRenewStatus, in: renewals.filter { $0.asOf <= asOf })
                == .value(.integer(0))
        }
        var (end, isDated): (Instant, Bool)
        if let first = carrying.first, let last = carrying.last,
            case .value(.instant(let date)) = grace(last)
        {
            let ending = about.first { asOf in
                asOf > first && (grace(asOf) == .none || isOff(asOf)) && signedStatus(at: asOf) != 4
            }
            (end, isDated) = (min(date, ending ?? date), ending.map { $0 >= date } ?? true)
        } else if let undated = undatedGraceEnd(after: purchase, isOff) {
            (end, isDated) = undated
        } else {
            return nil
        }
        for other in purchases
        where other != purchase && other.start >= purchase.expiry && overtaker(of: other) == nil
            && !other.isRevokedBeforeStart && other.isAssigned == purchase.isAssigned
        {
            if other.start < end { (end, isDated) = (other.start, true) }
        }
        return end > purchase.expiry ? (end, isDated) : nil
    }

    // Of a grace that was announced without a date: until Apple's next word, or for 28 days.
    private func undatedGraceEnd(
        after purchase: PlainPurchase,
        _ isOff: (Instant) -> Bool
    ) -> (Instant, Bool)? {
        let effective = purchases.filter { overtaker(of: $0) == nil }
        let announced = facts.filter { fact in
            guard fact.kind == .notification, fact.plainSignedStatus == 4 else { return false }
            let named = purchases.filter { $0.start == fact.purchaseDate }
            let last = { (some: [PlainPurchase]) in
                some.first { one in some.allSatisfy { !one.comesBefore($0) } }
            }
            if fact.content.text(.notificationType) == "DID_FAIL_TO_RENEW",
                let about = last(named.filter { $0.everExpiries.contains(fact.expiresDate) })
                    ?? last(named)
            {
                return about.expiry == purchase.expiry
            }
            let newest = effective.map(\.expiry).filter { $0 <= fact.asOf }.max()
            return newest == purchase.expiry
        }
        guard let last = announced.map(\.asOf).max() else { return nil }
        let denials = facts.filter {
            $0.kind == .notification && [2, 3, 5].contains($0.plainSignedStatus)
        }
        let renewals = facts.filter { $0.kind == .renewal }
        let stops = Set(renewals.map(\.asOf)).filter { asOf in
            let fresh = renewals.filter { $0.asOf == asOf }
            let retry = state(of: .isInBillingRetryPeriod, in: fresh)
            if case .value(.instant(let date)) = state(of: .renewalDate, in: fresh),
                date.flooredToSecond != purchase.expiry
            {
                return false
            }
            let isRetried = retry == .value(.boolean(true)) || retry == .unknown
            return (isOff(asOf) || !isRetried) && signedStatus(at: asOf) != 4
        }
        let next = (denials.map(\.asOf) + stops).filter { $0 > last }.min()
        let longest = Instant(milliseconds: purchase.expiry.milliseconds + 28 * 86_400_000)
        guard let next, next < longest else { return (longest, true) }
        return (next, false)
    }

    // The lowest of the statuses first signed at that instant, within a second before it, or later.
    private func signedStatus(at instant: Instant) -> Int64? {
        let told = facts.compactMap { fact -> (Instant, Int64)? in
            guard fact.kind == .notification, let status = fact.plainSignedStatus,
                fact.asOf.milliseconds >= instant.milliseconds - 1000
            else { return nil }
            return (fact.asOf, status)
        }
        let first = told.map(\.0).min()
        return told.filter { $0.0 == first }.map(\.1).min()
    }
}
