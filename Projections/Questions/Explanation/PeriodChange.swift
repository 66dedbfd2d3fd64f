package import Events

/// The effect of additional knowledge on one row of the active periods, or on a one-time purchase.
package struct PeriodChange: Hashable, Sendable {
    /// The effect on access.
    package let role: DecisiveEvent.Role
    /// The earlier row; nil if it is new.
    package let before: ActivePeriod?
    /// The later row; nil if it is gone.
    package let after: ActivePeriod?
    /// The one-time purchase that was bought, revoked or restored; nil if the change is about a
    /// row.
    package let oneTimePurchase: OneTimePurchase?

    private init(role: DecisiveEvent.Role, before: ActivePeriod?, after: ActivePeriod?) {
        self.role = role
        self.before = before
        self.after = after
        oneTimePurchase = nil
    }

    private init(role: DecisiveEvent.Role, _ purchase: OneTimePurchase) {
        self.role = role
        before = nil
        after = nil
        oneTimePurchase = purchase
    }

    /// The changes from some one-time purchases of a stream to later ones, by date.
    static func between(_ old: [OneTimePurchase], _ new: [OneTimePurchase]) -> [PeriodChange] {
        new.sorted(by: OneTimePurchase.areInOrder).flatMap { purchase -> [PeriodChange] in
            // A restore may have changed the date; it stays one purchase.
            let known = old.first { $0.isSame(as: purchase) }
            var changes: [PeriodChange] = []
            if known == nil { changes.append(PeriodChange(role: .opened, purchase)) }
            switch (known?.revocationDate, purchase.revocationDate) {
            case (_?, nil): changes.append(PeriodChange(role: .restored, purchase))
            case (let date, let revoked?) where date != revoked:
                changes.append(PeriodChange(role: .ended, purchase))
            default: break
            }
            return changes
        }
    }

    /// The changes from some rows of a subscription to later ones, by start.
    ///
    /// It is not a change that a period is no longer the last one, or that Apple has made no
    /// statement since.
    package static func between(_ old: [ActivePeriod], _ new: [ActivePeriod]) -> [PeriodChange] {
        var changes: [PeriodChange] = []
        // Rows that stay the same are pairs of their own; nearly all of a long history are.
        let same = zip(old, new).prefix { $0 == $1 }.count
        var rest = Array(old.dropFirst(same))
        for (row, known) in pairs(of: Array(new.dropFirst(same)), with: &rest) {
            guard let role = role(from: known, to: row, among: new) else { continue }
            changes.append(PeriodChange(role: role, before: known, after: row))
        }
        for row in rest { changes.append(PeriodChange(role: .ended, before: row, after: nil)) }
        return changes.sorted { $0.start < $1.start }
    }

    // One second may have two purchases of one product (Apple's data: trap 40): each old row is
    // matched with one new row, preferably the one with the same expiry.
    private static func pairs(
        of new: [ActivePeriod],
        with rest: inout [ActivePeriod]
    ) -> [(row: ActivePeriod, known: ActivePeriod?)] {
        var known = [ActivePeriod?](repeating: nil, count: new.count)
        for needsSameExpiry in [true, false] {
            for (index, row) in new.enumerated() where known[index] == nil {
                let found = rest.firstIndex {
                    $0.isSameRow(as: row) && (!needsSameExpiry || $0.expiresDate == row.expiresDate)
                }
                if let found { known[index] = rest.remove(at: found) }
            }
        }
        return zip(new, known).map { ($0, $1) }
    }

    private var start: Instant { (after ?? before)?.validFrom ?? Instant(milliseconds: 0) }

    private static func role(
        from old: ActivePeriod?,
        to new: ActivePeriod,
        among rows: [ActivePeriod]
    ) -> DecisiveEvent.Role? {
        guard let old else {
            if new.isGrace { return .grace }
            return new.continues(oneOf: rows) ? .renewed : .opened
        }
        if new.isTakenBack, !old.isTakenBack { return .ended }
        if old.isTakenBack, !new.isTakenBack { return .restored }
        if old.validTo < new.validTo { return .extended }
        if new.validTo < old.validTo { return .ended }
        return old.kind != new.kind || old.expiresDate != new.expiresDate ? .corrected : nil
    }
}

extension OneTimePurchase {
    fileprivate func isSame(as other: OneTimePurchase) -> Bool {
        stream == other.stream && byBytes(productId, other.productId) == nil
            && (kind == .nonConsumable || purchaseDate == other.purchaseDate)
    }
}

/// The effect of each event on a subscription's active periods and one-time purchases.
package struct EventEffects: Sendable {
    /// The changes by event, in the order of the events that were asked for.
    package let changes: [[PeriodChange]]

    /// The most events of a history whose effects are computed: they cost one fold each, a second
    /// or two for this many.
    package static let eventsMax = 2000

    /// The effects of the newest events of a history, or of all; nil if these are more than
    /// `eventsMax`.
    package init?(_ history: RecordedHistory, newestMax: Int? = nil) {
        let events = history.events.suffix(newestMax ?? .max)
        guard events.count <= EventEffects.eventsMax else { return nil }
        let bounds = [history.events.dropLast(events.count).last].compactMap(\.self) + events
        let known = bounds.mappedOnAllCores { event in
            let timeline = Timeline(history.known(upTo: event.position.offset))
            return (rows: ActivePeriods(timeline).rows, bought: OneTimePurchase.all(of: timeline))
        }
        let before = bounds.count > events.count ? known : [(rows: [], bought: [])] + known
        changes = zip(before, before.dropFirst()).map { old, new in
            PeriodChange.between(old.rows, new.rows) + PeriodChange.between(old.bought, new.bought)
        }
    }
}

extension ActivePeriod {
    fileprivate func isSameRow(as other: ActivePeriod) -> Bool {
        isGrace == other.isGrace && isOfSamePurchase(as: other)
    }

    /// Whether it begins where another purchase of the subscription ends naturally.
    func continues(oneOf rows: [ActivePeriod]) -> Bool {
        rows.contains {
            $0.stream == stream && !$0.isGrace && $0.expiresDate == purchaseDate
                && $0.purchaseDate < purchaseDate
        }
    }
}

/// The effect of additional knowledge on access.
package struct AccessDifference: Hashable, Sendable {
    /// The times with access before and without it after, ascending.
    package let lost: [Range<Instant>]
    /// The times without access before and with it after, ascending.
    package let gained: [Range<Instant>]

    /// The difference of two sets of time, given as intervals in any order.
    package init(from old: [Range<Instant>], to new: [Range<Instant>]) {
        let (before, after) = (old.merged, new.merged)
        lost = before.subtracting(after)
        gained = after.subtracting(before)
    }
}
