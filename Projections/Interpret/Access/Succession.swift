internal import Events

/// Which purchase follows which: the order in which they were bought, where it differs from the
/// order in which they begin.
///
/// Apple charges a renewal up to a day before it begins. If the customer makes another purchase in
/// that time, this purchase was bought after the renewal but begins before it: the renewal is
/// overtaken. It never takes effect, and replaces nothing (Apple's data: trap 14).
///
/// No field states when a renewal was charged. A purchase overtook a renewal that begins in its
/// period if a statement about the renewal is older than the purchase, or if the renewal begins
/// within a day of the purchase and one of these shows that it is a renewal:
///
/// 1. Apple states it as the reason;
/// 2. it begins when an earlier purchase would have ended;
/// 3. Apple marked it as upgraded, and nothing that begins after it can be the cause.
///
/// The last two count only if Apple states no reason. A purchase that was revoked by then overtakes
/// only what Apple marked.
///
/// Seats that were assigned to the owner run next to what the owner bought: they are a course of
/// their own, and neither course replaces anything of the other (Decisions: seats as one period).
struct Succession {
    private let purchases: [Purchase]
    // For each purchase whether it was assigned; empty unless the owner also bought some.
    private let areAssigned: [Bool]
    // For each purchase the one that overtook it; empty if there is none, the common case.
    private var overtakers: [Int?] = []
    // For each overtaken purchase, the one that it renews; empty as above.
    private var renewed: [Int?] = []

    init(_ purchases: [Purchase]) {
        self.purchases = purchases
        let isAnyAssigned = purchases.contains(where: \.isAssigned)
        areAssigned =
            isAnyAssigned && !purchases.allSatisfy(\.isAssigned) ? purchases.map(\.isAssigned) : []
        var expiries: [Instant: Int]?
        // Of what was bought and of what was assigned.
        var runningOf: [Int?] = [nil, nil]
        for index in purchases.indices {
            let course = self.course(of: index)
            if let last = runningOf[course], purchases[index].begins(during: purchases[last]) {
                let known = expiries ?? purchases.firstByExpiry
                expiries = known
                let overtaking = Overtaking(of: index, by: last, purchases, known)
                if overtaking.isKnown {
                    note(index, overtakenBy: last, renewing: overtaking.renewed)
                    continue
                }
            }
            if !purchases[index].isRevokedBeforeStart { runningOf[course] = index }
        }
    }

    private mutating func note(_ index: Int, overtakenBy other: Int, renewing renewed: Int?) {
        if overtakers.isEmpty {
            overtakers = [Int?](repeating: nil, count: purchases.count)
            self.renewed = overtakers
        }
        overtakers[index] = other
        self.renewed[index] = renewed ?? predecessor(of: other)
    }

    /// The purchase that overtook this one; nil if none did.
    func overtaker(of index: Int) -> Int? { overtakers.isEmpty ? nil : overtakers[index] }

    /// Whether this purchase was not overtaken.
    func tookEffect(_ index: Int) -> Bool { overtaker(of: index) == nil }

    /// Whether neither is a seat that was assigned while the other was bought.
    func areOfOneCourse(_ left: Int, _ right: Int) -> Bool { course(of: left) == course(of: right) }

    /// 0 for what the owner bought, or if all was bought or all was assigned; 1 for assigned seats.
    func course(of index: Int) -> Int { !areAssigned.isEmpty && areAssigned[index] ? 1 : 0 }

    /// Whether no other purchase of its course begins before it.
    func isFirst(_ index: Int) -> Bool {
        areAssigned.isEmpty ? index == 0 : !(0..<index).contains { areOfOneCourse($0, index) }
    }

    /// The purchase that this one follows: the one before it that was not overtaken or, for one
    /// that was, the one that it renews; nil if there is none.
    func predecessor(of index: Int) -> Int? {
        if overtakers.isEmpty, areAssigned.isEmpty { return index > 0 ? index - 1 : nil }
        guard tookEffect(index) else { return renewed[index] }
        return (0..<index).last { tookEffect($0) && areOfOneCourse($0, index) }
    }

    /// The next purchase that was not overtaken; nil if there is none.
    func successor(of index: Int) -> Int? {
        let later = (index + 1)..<max(index + 1, purchases.count)
        return later.first { tookEffect($0) && areOfOneCourse($0, index) }
    }

    /// The last of the first purchases that was not overtaken; nil if there is none.
    ///
    /// Not an assigned seat that began while a purchase of the owner ran: that one renews.
    func newest(among first: Int) -> Int? {
        let last = (0..<first).last(where: tookEffect)
        guard let last, course(of: last) == 1 else { return last }
        let bought = (0..<last).last { tookEffect($0) && course(of: $0) == 0 }
        return bought.flatMap {
            purchases[$0].expiresDate > purchases[last].purchaseDate ? $0 : nil
        } ?? last
    }
}

/// Whether one purchase overtook another that begins after it.
private struct Overtaking {
    /// The longest time before its start at which Apple charges a renewal, in milliseconds: a day
    /// (Apple's data: trap 14).
    private static let earlyChargeMax: Int64 = 86_400_000

    /// Whether it is known to have overtaken the other.
    let isKnown: Bool
    /// The purchase that the overtaken one renews, if its dates show that.
    let renewed: Int?

    init(of index: Int, by other: Int, _ purchases: [Purchase], _ expiries: [Instant: Int]) {
        let (late, early) = (purchases[index], purchases[other])
        let start = late.purchaseDate
        renewed = expiries[start].flatMap { first in
            purchases[first].purchaseDate < early.purchaseDate ? first : nil
        }
        // A renewal of the other purchase follows it, even if the other was extended since.
        guard !early.everExpired(on: start), !late.isRevoked(longBefore: early) else {
            isKnown = false
            return
        }

        let isRunning = early.periodRevocationDate.map { $0 >= start } ?? true
        let isMarked = late.isPeriodUpgraded
        if late.firstAsOf < min(early.firstAsOf, early.purchaseDate) {
            isKnown = isRunning || isMarked
            return
        }
        // Two rows for one purchase may differ by some seconds (Apple's data: trap 6): they overlap
        // with the next renewal, and do not overtake it.
        let overlap = early.expiresDate.milliseconds - start.milliseconds
        let lead = start.milliseconds - early.purchaseDate.milliseconds
        guard isRunning || isMarked, overlap > Cut.refundWindow,
            lead <= Overtaking.earlyChargeMax, late.reason != .purchase
        else {
            isKnown = false
            return
        }
        isKnown =
            late.reason == .renewal || renewed != nil
            || !early.isPeriodUpgraded && late.isMarked(beforeAnyOf: purchases[(index + 1)...])
    }
}

extension Timeline {
    private static let successionKey = FoldMemo.Key<Succession>()

    /// Which purchase follows which.
    var succession: Succession {
        once(Timeline.successionKey) { Succession(purchases) }
    }
}

extension [Purchase] {
    // For every expiry that a purchase ever had, the first purchase with it.
    fileprivate var firstByExpiry: [Instant: Int] {
        var first: [Instant: Int] = [:]
        for index in indices.reversed() {
            first[self[index].expiresDate] = index
            for moved in self[index].extensions { first[moved.from] = index }
        }
        return first
    }
}

extension Purchase {
    fileprivate var isAssigned: Bool {
        if case .value(.text(let type)) = state(of: .inAppOwnershipType) {
            type == Sharing.assignedOwnership
        } else {
            false
        }
    }

    /// Whether it was revoked before it began, and so counts as never made (Apple's data: trap 10).
    var isRevokedBeforeStart: Bool {
        transactions.allSatisfy { $0.revocationDate.map { $0 < purchaseDate } ?? false }
    }

    /// Apple's date of the first statement about it.
    fileprivate var firstAsOf: Instant { assertions.sorted.first?.asOf ?? purchaseDate }

    fileprivate enum Reason {
        case purchase, renewal
    }

    fileprivate var reason: Reason? {
        switch state(of: .transactionReason) {
        case .value(.text("PURCHASE")): .purchase
        case .value(.text("RENEWAL")): .renewal
        default: nil
        }
    }

    fileprivate func begins(during other: Purchase) -> Bool {
        other.purchaseDate < purchaseDate && purchaseDate < other.expiresDate
    }

    // Whether it was revoked before its start, and not because of that purchase.
    fileprivate func isRevoked(longBefore other: Purchase) -> Bool {
        guard isRevokedBeforeStart, let date = periodRevocationDate else { return false }
        return date.milliseconds < other.purchaseDate.milliseconds - Cut.refundWindow
    }

    // Whether it is marked as upgraded, by a statement older than all of these.
    fileprivate func isMarked(beforeAnyOf later: ArraySlice<Purchase>) -> Bool {
        guard isPeriodUpgraded, let mark = transactions.compactMap(\.firstUpgradeMark?.asOf).min()
        else { return false }
        return later.first.map { mark < $0.purchaseDate } ?? true
    }
}
