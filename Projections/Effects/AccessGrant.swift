public import Events

/// A time in which a subscription gives access without a gap, or a non-consumable is owned, as far
/// as is known.
///
/// Periods that touch are one grant, so a renewal moves the end of a grant. What is said about it
/// beyond its time is that of the period that reaches its end.
public struct AccessGrant: Codable, Hashable, Sendable {
    /// The product.
    public let productId: String
    /// The first instant with access.
    public let from: Instant
    /// The first instant without it; nil if it has no end, as that of a non-consumable.
    public let until: Instant?
    /// Why there is access.
    public let kind: ActivePeriod.Kind
    /// Why it ended; `open` if Apple's last statement is older than its end.
    public let endReason: ActivePeriod.EndReason
    /// Whether it is that of a one-time purchase.
    public let isOneTime: Bool

    /// Whether it had not ended by Apple's last statement; `until` may have passed since.
    public var isOpen: Bool { endReason == .open }

    /// The grants of a timeline under its policy, by start; the subscription's before those of
    /// one-time purchases.
    static func all(of timeline: Timeline, _ catalogs: CatalogHistory) -> [AccessGrant] {
        var grants: [AccessGrant] = []
        // Rows are ordered by their start.
        for row in ActivePeriods(timeline).rows where row.validFrom < row.validTo {
            guard let last = grants.last, let end = last.until, row.validFrom <= end else {
                grants.append(AccessGrant(row, from: row.validFrom))
                continue
            }
            if row.validTo > end || row.validTo == end && !last.isOpen {
                grants[grants.count - 1] = AccessGrant(row, from: last.from)
            }
        }
        let bought = OneTimePurchase.all(of: timeline, catalogs).flatMap { purchase in
            purchase.owned.map { AccessGrant(purchase, $0) }
        }
        return grants + bought
    }

    private init(_ row: ActivePeriod, from start: Instant) {
        productId = row.productId
        from = start
        until = row.validTo
        kind = row.kind
        endReason = row.endReason
        isOneTime = false
    }

    private init(_ purchase: OneTimePurchase, _ owned: Range<Instant>) {
        let isOwned = owned.upperBound == Instant(milliseconds: .max)
        productId = purchase.productId
        from = owned.lowerBound
        until = isOwned ? nil : owned.upperBound
        kind = purchase.sharing?.periodKind ?? .paid
        endReason = isOwned ? .open : purchase.sharing?.endReason ?? .refunded
        isOneTime = true
    }

    /// Whether two grants are of one subscription, or of one product that was bought once, and
    /// overlap or touch.
    func meets(_ other: AccessGrant) -> Bool {
        guard isOneTime == other.isOneTime,
            !isOneTime || byBytes(productId, other.productId) == nil
        else { return false }
        return (other.until.map { from <= $0 } ?? true) && (until.map { other.from <= $0 } ?? true)
    }
}
