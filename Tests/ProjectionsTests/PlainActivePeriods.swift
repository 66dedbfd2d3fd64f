import Events
import Projections

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
        for (subject, facts) in subjects {
            let family = lineItems.filter { other in
                other.value != .unknown && other.key.name.utf8.elementsEqual(subject.name.utf8)
                    && other.key.purchaseDate == subject.purchaseDate
            }
            let own = lineItems[subject] ?? .unknown
            let lineItem = own != .unknown ? own : family.values.min() ?? .unknown
            let isOfSeats = subjects.contains { other in
                other.key.purchaseDate == subject.purchaseDate
                    && other.key.name.utf8.elementsEqual(subject.name.utf8)
                    && other.value.contains { $0.statedSeats != nil }
            }
            let key =
                lineItem == .unknown || isOfSeats
                ? GroupKey(lineItem: lineItem, second: subject.purchaseDate, name: subject.name)
                : GroupKey(lineItem: lineItem, second: Instant(milliseconds: 0), name: "")
            groups[key, default: []] += facts
        }
        let transactions = groups.map {
            PlainPurchase(facts: $0.value, lineItem: $0.key.lineItem)
        }
        purchases = PlainPurchase.periods(of: transactions)
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
            if isNatural, let graceEnd = graceEnd(of: purchase) {
                let taken = purchase.revocation.flatMap { $0 < graceEnd ? $0 : nil }
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
        let others = purchases.filter { $0 != purchase }
        let sameSecond = others.filter { $0.start == purchase.start && purchase.isReplaced(by: $0) }
        let later = others.filter { $0.start > purchase.start }
        let candidates = sameSecond.isEmpty ? later : sameSecond
        var cut = candidates.map(\.start).min().flatMap { $0 < purchase.expiry ? $0 : nil }
        let successor = candidates.filter { $0.start == cut }.first { candidate in
            candidates.allSatisfy { $0.start != cut || !candidate.isReplaced(by: $0) }
        }
        let upgraded = purchase.isUpgraded
        if upgraded, cut == nil {
            cut = purchase.allFacts.filter { $0.content.boolean(.isUpgraded) == true }.map(\.asOf)
                .min().flatMap { $0 < purchase.expiry ? $0 : nil }
        }
        let end = cut ?? purchase.expiry
        let revocation = purchase.revocation
        let isReplaced = revocation.map { revocation in
            guard let cut, let successor else { return false }
            let isOther = FieldValue.text(successor.product) != .text(purchase.product)
            let isUntyped = purchase.text(.revocationType) == nil
            return abs(revocation.milliseconds - cut.milliseconds) <= 60_000
                && (purchase.isMarked || isOther && isUntyped)
        }
        let taken = isReplaced == true ? nil : revocation
        let validTo = max(purchase.start, min(end, taken ?? end))
        if upgraded { return (validTo, .upgraded, false) }
        if let taken, taken < end { return (validTo, purchase.takingReason, false) }
        if let successor, FieldValue.text(successor.product) != .text(purchase.product) {
            return (validTo, .upgraded, false)
        }
        return (validTo, nil, cut == nil)
    }

    private func graceEnd(of purchase: PlainPurchase) -> Instant? {
        let renewals = facts.filter { $0.kind == .renewal }
        let about = Set(renewals.map(\.asOf)).sorted().filter { asOf in
            let fresh = renewals.filter { $0.asOf == asOf }
            if case .value(.instant(let date)) = state(of: .renewalDate, in: fresh) {
                return date.flooredToSecond == purchase.expiry
            }
            return purchases.map(\.expiry).filter { $0 <= asOf }.max() == purchase.expiry
        }
        func grace(_ asOf: Instant) -> Knowledge.State {
            state(of: .gracePeriodExpiresDate, in: renewals.filter { $0.asOf == asOf })
        }
        let carrying = about.filter { if case .value = grace($0) { true } else { false } }
        guard let first = carrying.first, let last = carrying.last,
            case .value(.instant(var end)) = grace(last)
        else { return nil }
        let ending = about.first { asOf in
            let status = state(of: .autoRenewStatus, in: renewals.filter { $0.asOf <= asOf })
            let isOff = status == .value(.integer(0)) && signedStatus(at: asOf) != 4
            return asOf > first && (grace(asOf) == .none || isOff)
        }
        if let ending { end = min(end, ending) }
        for other in purchases where other != purchase && other.start >= purchase.expiry {
            end = min(end, other.start)
        }
        return end > purchase.expiry ? end : nil
    }

    // The lowest of the statuses first signed at that instant, within a second before it, or later.
    private func signedStatus(at instant: Instant) -> Int64? {
        let told = facts.compactMap { fact -> (Instant, Int64)? in
            guard fact.kind == .notification, let status = fact.content.integer(.status),
                (1...5).contains(status), fact.asOf.milliseconds >= instant.milliseconds - 1000
            else { return nil }
            return (fact.asOf, status)
        }
        let first = told.map(\.0).min()
        return told.filter { $0.0 == first }.map(\.1).min()
    }
}

/// A purchase in the plain model: the facts about it.
struct PlainPurchase: Equatable {
    let facts: [Fact]
    let lineItem: Knowledge.State
    /// The transactions that added seats to it.
    var additions: [PlainPurchase] = []

    private var latest: Fact? {
        facts.max {
            ($0.asOf, $0.expiresDate, $0.purchaseDate) < ($1.asOf, $1.expiresDate, $1.purchaseDate)
        }
    }

    var start: Instant { latest?.purchaseDate ?? Instant(milliseconds: 0) }
    var expiry: Instant { additions.isEmpty ? ownExpiry : lastExpiry }
    var ownExpiry: Instant { latest?.expiresDate ?? Instant(milliseconds: 0) }
    var product: String { text(.productId) ?? "" }
    /// Whether Apple marked this transaction.
    var isMarked: Bool { state(of: .isUpgraded, in: facts) == .value(.boolean(true)) }
    /// Whether Apple marked any transaction of its period.
    var isUpgraded: Bool { ([self] + additions).contains(where: \.isMarked) }

    var kind: ActivePeriod.Kind {
        if text(.inAppOwnershipType) == "FAMILY_SHARED" { return .family }
        if text(.inAppOwnershipType) == "ASSIGNED" { return .assigned }
        guard case .value(.integer(let type)) = state(of: .offerType, in: facts) else {
            return .paid
        }
        guard type == 1 else { return .offer }
        if let discount = text(.offerDiscountType) {
            return discount == "FREE_TRIAL" ? .trial : .intro
        }
        return state(of: .price, in: facts) == .value(.integer(0)) ? .trial : .intro
    }

    var takingReason: ActivePeriod.EndReason { lastTaken?.ownReason ?? .refunded }

    private var ownReason: ActivePeriod.EndReason {
        if state(of: .revocationReason, in: facts) == .value(.integer(2)) { return .upgraded }
        switch (text(.inAppOwnershipType), text(.revocationType)) {
        case ("FAMILY_SHARED", _): return .revoked
        case ("ASSIGNED", _): return .assignmentEnded
        case (_, "FAMILY_REVOKE"): return .revoked
        case (_, "ASSIGNMENT_REVOKE"): return .assignmentEnded
        default: return .refunded
        }
    }

    /// The date of its revocation; nil while one transaction is left.
    var revocation: Instant? { lastTaken?.instant(.revocationDate) }

    // The transaction that was taken back last, the earlier one of two; nil while one is left.
    private var lastTaken: PlainPurchase? {
        var last: PlainPurchase?
        for transaction in [self] + additions {
            guard let date = transaction.instant(.revocationDate) else { return nil }
            if let known = last?.instant(.revocationDate), known >= date { continue }
            last = transaction
        }
        return last
    }

    func isReplaced(by other: PlainPurchase) -> Bool {
        if lineItem != other.lineItem { return lineItem < other.lineItem }
        if isMarked != other.isMarked { return isMarked }
        return product.utf8.lexicographicallyPrecedes(other.product.utf8)
    }

    func text(_ field: Field) -> String? {
        if case .value(.text(let text)) = state(of: field, in: facts) { text } else { nil }
    }

    func instant(_ field: Field) -> Instant? {
        if case .value(.instant(let date)) = state(of: field, in: facts) { date } else { nil }
    }
}

extension PlainPurchase {
    var allFacts: [Fact] { facts + additions.flatMap(\.facts) }

    /// The transactions as periods: each addition of seats with the first one that it adds to.
    static func periods(of transactions: [PlainPurchase]) -> [PlainPurchase] {
        let ordered = transactions.sorted { left, right in
            left.start != right.start ? left.start < right.start : left.isReplaced(by: right)
        }
        var periods: [PlainPurchase] = []
        for transaction in ordered {
            if let index = periods.firstIndex(where: { transaction.adds(to: $0) }) {
                periods[index].additions.append(transaction)
            } else {
                periods.append(transaction)
            }
        }
        return periods
    }

    private func adds(to period: PlainPurchase) -> Bool {
        guard period.isOfSeats, period.start < start, seats?.isAddition ?? true,
            product.utf8.elementsEqual(period.product.utf8)
        else { return false }
        let stated = ([period] + period.additions).flatMap(\.expiries)
        return expiries.contains { stated.contains($0) }
    }

    private var isOfSeats: Bool {
        if seats != nil { return true }
        if case .value(.integer(let quantity)) = state(of: .quantity, in: facts) {
            return quantity > 1
        }
        return false
    }

    /// The seats as the newest signed transaction states them.
    var seats: PlainSeats? {
        let stated = facts.filter {
            $0.content.format == .signedTransaction && $0.content[.extra] != nil
        }
        let latest = stated.map(\.asOf).max()
        return stated.filter { $0.asOf == latest }.max { left, right in
            (left.content[.extra].map(Knowledge.State.value) ?? .none)
                < (right.content[.extra].map(Knowledge.State.value) ?? .none)
        }?.statedSeats
    }

    // Every end that Apple stated for it and changed, and the last one.
    private var expiries: [Instant] { changes.map(\.from) + [ownExpiry] }

    private var changes: [(asOf: Instant, from: Instant, to: Instant)] {
        var changes: [(asOf: Instant, from: Instant, to: Instant)] = []
        var last: Instant?
        for asOf in Set(facts.map(\.asOf)).sorted() {
            let end = facts.filter { $0.asOf == asOf }.map(\.expiresDate).max()
            if let last, let end, end != last { changes.append((asOf, last, end)) }
            last = end
        }
        return changes
    }

    fileprivate var lastExpiry: Instant {
        var last: Instant?
        let all = ([self] + additions).flatMap(\.changes)
        for change in all.sorted(by: { ($0.asOf, $0.to) < ($1.asOf, $1.to) }) {
            if last == nil || change.from == last { last = change.to }
        }
        return last ?? ownExpiry
    }
}

/// The seats of a signed transaction, found in its text.
struct PlainSeats {
    let isAddition: Bool
    let taken: Int64
    let tiers: [(price: Int64, quantity: Int64)]

    var sum: Int64 {
        tiers.reduce(0) { sum, tier in
            (0..<tier.quantity).reduce(sum) { sum, _ in sum + tier.price }
        }
    }
}

extension Fact {
    /// What it states about seats; nil if it is of another purchase.
    var statedSeats: PlainSeats? {
        guard content.format == .signedTransaction, let extra = content.text(.extra),
            extra.contains("\"multiSeatInfo\":") || extra.contains("SEAT_ADDITION")
        else { return nil }
        let tiers = extra.split(separator: "{\"price\":").dropFirst().compactMap { part in
            let numbers = part.split(whereSeparator: { !$0.isNumber }).compactMap { Int64($0) }
            return numbers.count > 1 ? (price: numbers[0], quantity: numbers[1]) : nil
        }
        let taken = extra.split(separator: "\"revokedSeatQuantity\":").dropFirst().first
        return PlainSeats(
            isAddition: extra.contains("SEAT_ADDITION"),
            taken: taken.flatMap { Int64($0.prefix { $0.isNumber }) } ?? 0,
            tiers: tiers
        )
    }
}

// The latest as-of and, among equal ones, the greater state; unknown if no fact asserts the field.
func state(of field: Field, in facts: [Fact]) -> Knowledge.State {
    let speaking = facts.filter { $0.content.asserted.contains(field) }
    let latest = speaking.map(\.asOf).max()
    return speaking.filter { $0.asOf == latest }.map { fact in
        fact.content[field].map(Knowledge.State.value) ?? .none
    }.max() ?? .unknown
}
