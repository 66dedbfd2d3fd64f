import Events
import Projections

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

    var start: Instant { facts.map(\.purchaseDate).min() ?? Instant(milliseconds: 0) }
    var expiry: Instant { additions.isEmpty ? ownExpiry : lastExpiry }
    var ownExpiry: Instant { latest?.expiresDate ?? Instant(milliseconds: 0) }
    var product: String { text(.productId) ?? "" }
    /// Whether Apple marked this transaction.
    var isMarked: Bool { state(of: .isUpgraded, in: facts) == .value(.boolean(true)) }
    /// Whether Apple marked any transaction of its period.
    var isUpgraded: Bool { ([self] + additions).contains(where: \.isMarked) }
    var isRevokedBeforeStart: Bool {
        ([self] + additions).allSatisfy { $0.instant(.revocationDate).map { $0 < start } ?? false }
    }
    var firstAsOf: Instant { facts.map(\.asOf).min() ?? start }

    /// Its expiry as stated at each instant at which one was stated.
    var everExpiries: Set<Instant> { Set([expiry] + periodChanges.map(\.from)) }

    // The earliest date since the last statement without one.
    private var ownRevocation: Instant? {
        func stated(_ asOf: Instant) -> Knowledge.State {
            state(of: .revocationDate, in: facts.filter { $0.asOf == asOf })
        }
        let asOfs = Set(facts.map(\.asOf))
        let denied = asOfs.filter { stated($0) == .none }.max()
        let counted = asOfs.filter { asOf in denied.map { asOf > $0 } ?? true }
        return counted.compactMap { asOf -> Instant? in
            guard case .value(.instant(let date)) = stated(asOf) else { return nil }
            return date
        }.min()
    }

    func comesBefore(_ other: PlainPurchase) -> Bool {
        start != other.start ? start < other.start : isReplaced(by: other)
    }

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
    var lastTaken: PlainPurchase? {
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
        if !product.utf8.elementsEqual(other.product.utf8) {
            return product.utf8.lexicographicallyPrecedes(other.product.utf8)
        }
        return firstId < other.firstId
    }

    // The seats of one second have ids of one length here.
    private var firstId: String { facts.compactMap { $0.content.text(.transactionId) }.min() ?? "" }

    /// Whether another party bought it for its owner.
    var isAssigned: Bool { text(.inAppOwnershipType) == "ASSIGNED" }

    func text(_ field: Field) -> String? {
        if case .value(.text(let text)) = state(of: field, in: facts) { text } else { nil }
    }

    func instant(_ field: Field) -> Instant? {
        if field == .revocationDate { return ownRevocation }
        guard case .value(.instant(let date)) = state(of: field, in: facts) else { return nil }
        return date
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
        guard period.isOfSeats, product.utf8.elementsEqual(period.product.utf8),
            period.start == start || period.start < start && seats?.isAddition ?? true,
            period.isAssigned == isAssigned,
            (period.text(.inAppOwnershipType) == "FAMILY_SHARED")
                == (text(.inAppOwnershipType) == "FAMILY_SHARED")
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
    var expiries: [Instant] { changes.map(\.from) + [ownExpiry] }

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

    // The changes of the end of a period, whichever transaction Apple states them for.
    private var periodChanges: [(asOf: Instant, from: Instant, to: Instant)] {
        if additions.isEmpty { return changes }
        var chain: [(asOf: Instant, from: Instant, to: Instant)] = []
        let all = ([self] + additions).flatMap(\.changes)
        for change in all.sorted(by: { ($0.asOf, $0.to) < ($1.asOf, $1.to) }) {
            let last = chain.last?.to
            if change.to != last, last == nil || change.from == last { chain.append(change) }
        }
        return chain
    }

    fileprivate var lastExpiry: Instant { periodChanges.last?.to ?? ownExpiry }
}

extension PlainPurchase {
    /// The facts about one product and second by transaction of seats: those that are connected by
    /// an id, or by a line item and equal terms.
    static func seatTransactions(_ facts: [Fact]) -> [[Fact]] {
        var groups: [[Fact]] = []
        for fact in facts {
            let own = groups.filter { $0.contains { $0.isOfSameTransaction(as: fact) } }
            groups.removeAll { $0.contains { $0.isOfSameTransaction(as: fact) } }
            groups.append(own.flatMap { $0 } + [fact])
        }
        return groups
    }
}

extension Fact {
    /// Whether it is of seats, as far as it states.
    var isOfSeats: Bool { statedSeats != nil || content.integer(.quantity) ?? 0 > 1 }

    fileprivate func isOfSameTransaction(as other: Fact) -> Bool {
        func agree(_ field: Field) -> Bool {
            let (left, right) = (content[field], other.content[field])
            return left == nil || right == nil || left == right
        }
        if let id = content.text(.transactionId), id == other.content.text(.transactionId) {
            return true
        }
        let (left, right) = (statedSeats?.tiers ?? [], other.statedSeats?.tiers ?? [])
        let haveSameTiers =
            left.isEmpty || right.isEmpty
            || left.map { [$0.quantity, $0.price] }.sorted { $0.lexicographicallyPrecedes($1) }
                == right.map { [$0.quantity, $0.price] }.sorted { $0.lexicographicallyPrecedes($1) }
        return agree(.webOrderLineItemId) && agree(.inAppOwnershipType) && agree(.quantity)
            && agree(.price) && haveSameTiers
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

extension Fact {
    // Stated or, before 2023-06, implied by the type.
    var plainSignedStatus: Int64? {
        if let status = content.integer(.status) { return (1...5).contains(status) ? status : nil }
        guard content.format == .signedNotification else { return nil }
        switch content.text(.notificationType) {
        case "DID_FAIL_TO_RENEW": return content.text(.subtype) == "GRACE_PERIOD" ? 4 : 3
        case "GRACE_PERIOD_EXPIRED": return 3
        case "EXPIRED": return 2
        default: return nil
        }
    }
}
