internal import Events

/// The periods and purchases that decide whether there is access at an instant.
///
/// Those of several subscriptions are put together from those of each, so that a change of one
/// subscription reads nothing of the others again.
struct AccessDeciders {
    /// Of the periods that contain the instant, the one that began last.
    private(set) var granting: ActivePeriod?
    /// Of the periods that had begun, the one that began last.
    var lastBegun: ActivePeriod? { lastEffective ?? lastReplaced }
    /// Of the one-time purchases that are owned at the instant, the last one.
    private(set) var owned: OneTimePurchase?
    /// Of the one-time purchases of the stream asked for, the last one before the instant.
    private(set) var asked: OneTimePurchase?
    /// Of all one-time purchases before the instant, the last one.
    private(set) var bought: OneTimePurchase?
    /// Whether any event is known at all.
    private(set) var isKnown: Bool
    /// Start of the first purchase, whenever it is; nil if there is none.
    private(set) var firstPurchase: Instant?

    // What was replaced before it began ended nothing, so it counts only if nothing else did.
    private var lastEffective: ActivePeriod?
    private var lastReplaced: ActivePeriod?

    /// What decides the answer of some periods and purchases.
    ///
    /// - Parameters:
    ///   - rows: What is known of each period, in any order.
    ///   - oneTime: The one-time purchases, in any order.
    ///   - isKnown: Whether any event is known at all.
    ///   - instant: The instant asked about.
    ///   - stream: The stream asked about by its own id.
    init(
        _ rows: [ActivePeriod],
        _ oneTime: [OneTimePurchase],
        isKnown: Bool,
        at instant: Instant,
        askedFor stream: StreamID?
    ) {
        self.isKnown = isKnown
        // By index: a copy of a period costs more than everything that is read from it.
        var (inForce, effective, replaced): (Int?, Int?, Int?)
        func take(_ index: Int, _ last: inout Int?) {
            if last.map({ AccessDeciders.countsLess(rows[$0], rows[index]) }) ?? true {
                last = index
            }
        }
        for index in rows.indices {
            let start = rows[index].validFrom
            firstPurchase = min(firstPurchase ?? start, start)
            guard start <= instant else { continue }
            if instant < rows[index].validTo { take(index, &inForce) }
            if rows[index].neverTookEffect {
                take(index, &replaced)
            } else {
                take(index, &effective)
            }
        }
        granting = inForce.map { rows[$0] }
        lastEffective = effective.map { rows[$0] }
        lastReplaced = replaced.map { rows[$0] }
        for purchase in oneTime {
            firstPurchase = min(firstPurchase ?? purchase.purchaseDate, purchase.purchaseDate)
            guard purchase.purchaseDate <= instant else { continue }
            bought = AccessDeciders.later(bought, purchase)
            if purchase.isOwned(at: instant) { owned = AccessDeciders.later(owned, purchase) }
            if purchase.stream == stream { asked = AccessDeciders.later(asked, purchase) }
        }
    }

    /// What decides the answer of several subscriptions.
    init(_ parts: some Sequence<AccessDeciders>) {
        isKnown = false
        for part in parts {
            isKnown = isKnown || part.isKnown
            granting = AccessDeciders.later(granting, part.granting)
            lastEffective = AccessDeciders.later(lastEffective, part.lastEffective)
            lastReplaced = AccessDeciders.later(lastReplaced, part.lastReplaced)
            owned = AccessDeciders.later(owned, part.owned)
            asked = AccessDeciders.later(asked, part.asked)
            bought = AccessDeciders.later(bought, part.bought)
            firstPurchase = [firstPurchase, part.firstPurchase].compactMap(\.self).min()
        }
    }

    // Of two in the same place the first one stays.
    private static func later(_ left: ActivePeriod?, _ right: ActivePeriod?) -> ActivePeriod? {
        guard let left, let right else { return left ?? right }
        return countsLess(left, right) ? right : left
    }

    private static func later(
        _ left: OneTimePurchase?,
        _ right: OneTimePurchase?
    ) -> OneTimePurchase? {
        guard let left, let right else { return left ?? right }
        return OneTimePurchase.areInOrder(left, right) ? right : left
    }

    // A total order, so the order of streams or rows has no effect.
    private static func countsLess(_ left: ActivePeriod, _ right: ActivePeriod) -> Bool {
        if left.purchaseDate != right.purchaseDate { return left.purchaseDate < right.purchaseDate }
        if left.validFrom != right.validFrom { return left.validFrom < right.validFrom }
        if left.validTo != right.validTo { return left.validTo < right.validTo }
        if left.stream != right.stream { return left.stream < right.stream }
        return ActivePeriod.areInOrder(left, right)
    }
}
