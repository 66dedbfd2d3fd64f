package import Events

/// An interval of access that a customer has through one of their subscriptions.
package struct AccessPeriod: Hashable, Sendable {
    /// The interval, with its product and its causes.
    package let period: ActivePeriod
    /// The group of the product.
    package let group: SubscriptionGroup
    /// Who else pays for it; nil if the owner does.
    ///
    /// It gives access all the same (Apple's data: trap 33, seats).
    package let sharing: Sharing?
    /// When Apple revoked the purchase, even after its end; nil if it did not, or if that only
    /// refunded the rest of a period that another one replaced (Apple's data: traps 9, 10).
    package let revocationDate: Instant?

    /// Whether another family member pays for it.
    package var isFamilyShared: Bool { sharing == .family }

    /// Whether it gives access at an instant: from its start, up to but excluding its end.
    package func isActive(at instant: Instant) -> Bool {
        period.validFrom <= instant && instant < period.validTo
    }
}

extension AccessPeriod {
    /// The remaining part if it gives no access from an instant on; nil if it begins then or later.
    func ending(by end: Instant) -> AccessPeriod? {
        period.ending(by: end).map { period in
            AccessPeriod(
                period: period,
                group: group,
                sharing: sharing,
                revocationDate: revocationDate
            )
        }
    }

    /// The longest time, in milliseconds, between the change to another product and the date on
    /// which Apple refunds the rest; two seconds were seen (Apple's data: trap 9).
    static let replacementMax: Int64 = 60_000

    // By time, then by everything that distinguishes two of them, so the order of arrival has no
    // effect.
    static func areInOrder(_ left: AccessPeriod, _ right: AccessPeriod) -> Bool {
        if left.period.validFrom != right.period.validFrom {
            return left.period.validFrom < right.period.validFrom
        }
        if left.period.stream != right.period.stream {
            return left.period.stream < right.period.stream
        }
        if ActivePeriod.areInOrder(left.period, right.period) { return true }
        if ActivePeriod.areInOrder(right.period, left.period) { return false }
        if left.group != right.group { return left.group < right.group }
        if left.sharing != right.sharing {
            return (left.sharing?.rawValue ?? "") < (right.sharing?.rawValue ?? "")
        }
        let none = Instant(milliseconds: .max)
        return (left.revocationDate ?? none) < (right.revocationDate ?? none)
    }
}

/// An interval of access with its purchase.
struct PurchaseAccess {
    let access: AccessPeriod
    let purchase: Purchase
    let lane: Lane

    /// All of one subscription, in no particular order.
    static func all(of timeline: Timeline, _ catalogs: CatalogHistory) -> [PurchaseAccess] {
        let groups = GroupFinder(timeline, catalogs)
        return timeline.periodsOfPurchases.map { period, index in
            let purchase = timeline.purchases[index]
            let access = AccessPeriod(
                period: period,
                group: groups.group(of: purchase),
                sharing: purchase.sharing,
                revocationDate: purchase.revocationDate(endingAs: period)
            )
            return PurchaseAccess(access: access, purchase: purchase, lane: timeline.lane)
        }
    }
}

extension Purchase {
    fileprivate func revocationDate(endingAs period: ActivePeriod) -> Instant? {
        var citations = Citations()
        guard let revocation = periodRevocation(citing: &citations), revocation.reason != .upgraded
        else { return nil }
        let date = revocation.date
        let delay = date.milliseconds - period.validTo.milliseconds
        let isReplaced =
            period.isReplaced && abs(delay) <= AccessPeriod.replacementMax
        return isReplaced ? nil : date
    }
}

extension ActivePeriod {
    /// The remaining part if it gives no access from an instant on; nil if it begins then or later.
    func ending(by end: Instant) -> ActivePeriod? {
        guard end < validTo else { return self }
        guard validFrom < end else { return nil }
        return ActivePeriod(
            stream: stream,
            productId: productId,
            purchaseDate: purchaseDate,
            expiresDate: expiresDate,
            validFrom: validFrom,
            validTo: end,
            kind: kind,
            endReason: endReason,
            positions: positions
        )
    }
}
