public import Events

/// What a customer has access to, over all their subscriptions and one-time purchases in one
/// environment.
///
/// A union: a subscription that ends does not affect another one (Apple's data: traps 3, 36). Other
/// environments are left out: a sandbox purchase never gives access in production.
public struct Entitlement: Sendable {
    /// The environment it covers.
    public let environment: StoreEnvironment
    /// Every interval of access, past or present, by start, then by subscription; includes empty
    /// ones (revoked before they began).
    public let periods: [AccessPeriod]
    /// Every purchase that does not renew and has no end of its own, by date, then by stream.
    public let oneTimePurchases: [OneTimePurchase]

    private let catalogs: CatalogHistory

    /// The entitlement of these subscriptions of one customer, in any order, each once; those of
    /// other environments do not count.
    ///
    /// `tenureEnds` names when subscriptions stop being the customer's: they give no access from
    /// then on.
    public init(
        _ timelines: [Timeline],
        environment: StoreEnvironment = .production,
        catalogs: CatalogHistory = .none,
        tenureEnds: [StreamID: Instant] = [:]
    ) {
        self.environment = environment
        self.catalogs = catalogs
        let own = timelines.filter { $0.stream.environment == environment }
        periods =
            own.flatMap { timeline in
                let all = PurchaseAccess.all(of: timeline, catalogs).map(\.access)
                return tenureEnds[timeline.stream].map { end in
                    all.compactMap { $0.ending(by: end) }
                } ?? all
            }
            .sorted(by: AccessPeriod.areInOrder)
        oneTimePurchases = own.flatMap { OneTimePurchase.all(of: $0, catalogs) }
            .sorted(by: OneTimePurchase.areInOrder)
    }

    /// The groups in which there is access at an instant, each with the period that counts.
    public func groups(at instant: Instant) -> [GroupAccess] {
        let active = periods.filter { $0.isActive(at: instant) }.sorted { left, right in
            left.group != right.group
                ? left.group < right.group : outranks(left, right, at: instant)
        }
        var groups: [GroupAccess] = []
        for period in active {
            if let last = groups.last, last.group == period.group {
                groups[groups.count - 1].others.append(period)
            } else {
                groups.append(GroupAccess(counting: period))
            }
        }
        return groups
    }

    /// Everything that gives access at an instant, by group; in each group the period that counts
    /// comes first.
    public func active(at instant: Instant, to scope: AccessScope = .anything) -> [AccessPeriod] {
        groups(at: instant).flatMap(\.active).filter { scope.contains($0) }
    }

    /// The non-consumables that are owned at an instant: these give access too, in no group and
    /// without end (developer.apple.com/documentation/storekit/transaction/currententitlements).
    public func owned(at instant: Instant, to scope: AccessScope = .anything) -> [OneTimePurchase] {
        oneTimePurchases.filter { scope.contains($0) && $0.isOwned(at: instant) }
    }

    /// The one-time purchases made by an instant for which only the app knows what they still give.
    public func notJudged(
        at instant: Instant,
        to scope: AccessScope = .anything
    ) -> [OneTimePurchase] {
        oneTimePurchases.filter { purchase in
            scope.contains(purchase) && !purchase.isJudged && purchase.purchaseDate <= instant
                && !purchase.isRevoked(at: instant)
        }
    }

    /// The one-time purchases of any type that Apple had revoked by an instant.
    public func revoked(
        at instant: Instant,
        to scope: AccessScope = .anything
    ) -> [OneTimePurchase] {
        oneTimePurchases.filter { purchase in
            scope.contains(purchase) && purchase.purchaseDate <= instant
                && purchase.isRevoked(at: instant) && !purchase.isOwned(at: instant)
        }
    }

    /// The times with access through subscriptions: half-open, ascending, adjacent ones merged,
    /// none empty.
    public func intervals(of scope: AccessScope = .anything) -> [Range<Instant>] {
        merged(periods.lazy.filter { scope.contains($0) }.map(\.period))
    }

    // The highest level by the catalog of the time, products it does not know after those it knows;
    // otherwise the one that began last, that the customer pays for, that lasts longest. The rest
    // only makes the answer unique.
    private func outranks(
        _ left: AccessPeriod,
        _ right: AccessPeriod,
        at instant: Instant
    ) -> Bool {
        let levels = (level(of: left, at: instant), level(of: right, at: instant))
        if levels.0 != levels.1 { return levels.0 < levels.1 }
        if left.period.validFrom != right.period.validFrom {
            return left.period.validFrom > right.period.validFrom
        }
        if (left.sharing == nil) != (right.sharing == nil) { return left.sharing == nil }
        if left.period.validTo != right.period.validTo {
            return left.period.validTo > right.period.validTo
        }
        return AccessPeriod.areInOrder(left, right)
    }

    private func level(of access: AccessPeriod, at instant: Instant) -> Int {
        catalogs.version(at: instant)?.subscription(access.period.productId)?.level ?? .max
    }
}

/// The access in one subscription group at one instant.
public struct GroupAccess: Hashable, Sendable {
    /// The one period that counts: the highest level, otherwise the latest start.
    public let counting: AccessPeriod
    /// The other active periods, by the same rank: subscriptions of one group bought separately, as
    /// while the older one was retried (Apple's data: trap 3).
    public fileprivate(set) var others: [AccessPeriod] = []

    fileprivate init(counting: AccessPeriod) {
        self.counting = counting
    }

    /// The group.
    public var group: SubscriptionGroup { counting.group }

    /// All active periods, starting with the one that counts.
    public var active: [AccessPeriod] { [counting] + others }
}

/// The union of periods ordered by start: half-open, adjacent ones merged, none empty.
func merged(_ periods: some Sequence<ActivePeriod>) -> [Range<Instant>] {
    var merged: [Range<Instant>] = []
    for period in periods where period.validFrom < period.validTo {
        if let last = merged.last, period.validFrom <= last.upperBound {
            let end = max(last.upperBound, period.validTo)
            merged[merged.count - 1] = last.lowerBound..<end
        } else {
            merged.append(period.validFrom..<period.validTo)
        }
    }
    return merged
}
