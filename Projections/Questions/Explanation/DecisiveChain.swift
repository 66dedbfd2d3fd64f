internal import Events

/// Finds the shortest chain of events behind an answer: those that changed the answer as Apple
/// stated more, as far as they are about the purchases that decide it now or decided it then.
///
/// It follows Apple's clock rather than ours, so the order of delivery does not affect the choice
/// of events.
struct DecisiveChain {
    /// The chain, in the order of Apple's dates.
    private(set) var events: [DecisiveEvent] = []

    private let accesses: [KnownAccess]
    private let at: Instant

    /// The chain of an answer.
    ///
    /// - Parameters:
    ///   - accesses: The subscriptions by what Apple had stated at each instant.
    ///   - instant: The instant asked about.
    ///   - entitled: The answer with everything known.
    ///   - served: The answer as known then.
    init(
        _ accesses: [KnownAccess],
        at instant: Instant,
        entitled: AccessAnswer,
        served: AccessAnswer
    ) {
        self.accesses = accesses
        at = instant
        let deciding = [entitled.period, served.period].compactMap { $0 }
        var before = AccessAnswer.none(.notKnownYet, nil)
        for stated in KnowledgeCourse(accesses).answers(at: instant) {
            let after = stated.answer
            if let row = after.period, before.isOther(than: after),
                deciding.contains(where: row.isOfSamePurchase)
            {
                take(Turn(before: before, after: after, row: row, stated: stated.knownFrom))
            }
            before = after
        }
        if let row = entitled.period { addOpening(of: row) }
        if case .none(.expired, let row?) = entitled { addMissingRenewal(after: row) }
        if let purchase = entitled.oneTimePurchase ?? served.oneTimePurchase {
            addOneTimePurchase(purchase)
        }
        sort()
    }

    /// A change of the answer at one instant of Apple's clock.
    struct Turn {
        let before: AccessAnswer
        let after: AccessAnswer
        let row: ActivePeriod
        let stated: Instant
    }

    private mutating func take(_ turn: Turn) {
        let all = accesses.entries(of: turn.row.stream).filter { $0.asOf <= turn.stated }
        let entries = all.filter { $0.asOf == turn.stated }
        let role = role(of: turn)
        // The deciding event may have been stated before it affected the answer.
        let chosen =
            entries.first { $0.does(role, to: turn.row) } ?? all.last {
                $0.does(role, to: turn.row)
            }
            ?? entries.first { turn.row.positions.contains($0.event.position) } ?? entries.first
        guard let chosen else { return }
        // A purchase that became known only with its end was opened by an event of its own.
        if role == .ended, turn.before.period.map({ !$0.isOfSamePurchase(as: turn.row) }) ?? true,
            let opening = entries.first(where: { $0.isAbout(turn.row) }),
            opening.event.position != chosen.event.position
        {
            let row = opened(turn.row, stated: turn.stated)
            append(opening, openingRole(of: row, stated: turn.stated), row)
        }
        append(chosen, role, turn.row, before: turn.before.period)
    }

    private func role(of turn: Turn) -> DecisiveEvent.Role {
        let known = turn.before.period.flatMap { $0.isOfSamePurchase(as: turn.row) ? $0 : nil }
        switch (turn.before, turn.after) {
        case (_, .none(.refunded, _)), (_, .none(.revoked, _)), (_, .none(.upgraded, _)):
            return .ended
        case (.access, .none) where known != nil:
            return .ended
        case (.none(let reason, _), .access) where known != nil && reason != .expired:
            return .restored
        case (.none(.refunded, _), .none), (.none(.revoked, _), .none):
            if known != nil { return .restored }
            return openingRole(of: turn.row, stated: turn.stated)
        case (_, .access(let row)) where row.isGrace:
            return .grace
        case (_, .access(let row)):
            if let known, known.expiresDate < row.expiresDate { return .extended }
            return openingRole(of: row, stated: turn.stated)
        case (_, .none(_, let row?)) where row.isGrace:
            return .grace
        case (_, .none), (_, .owned), (_, .notOwned):
            return openingRole(of: turn.row, stated: turn.stated)
        }
    }

    private func openingRole(of row: ActivePeriod, stated: Instant) -> DecisiveEvent.Role {
        row.continues(oneOf: accesses.rows(knownAt: stated)) ? .renewed : .opened
    }

    /// The period that a purchase opened, even if its grace decides the answer.
    private func opened(_ row: ActivePeriod, stated: Instant) -> ActivePeriod {
        guard row.isGrace else { return row }
        let rows = accesses.rows(knownAt: stated)
        return rows.first { !$0.isGrace && $0.isOfSamePurchase(as: row) } ?? row
    }

    // If another purchase decided while this one became known, its beginning is still missing.
    private mutating func addOpening(of row: ActivePeriod) {
        let isThere = events.contains {
            $0.period?.isOfSamePurchase(as: row) == true
                && ($0.role == .opened || $0.role == .renewed)
        }
        let entries = accesses.entries(of: row.stream)
        guard !isThere, let first = entries.first(where: { $0.isAbout(row) }), !has(first) else {
            return
        }
        let period = opened(row, stated: first.asOf)
        append(first, openingRole(of: period, stated: first.asOf), period)
    }

    /// The statement that nothing would follow: Apple's reason, or otherwise that auto-renewal was
    /// off.
    private mutating func addMissingRenewal(after row: ActivePeriod) {
        guard let history = accesses.first(where: { $0.history.stream == row.stream })?.history
        else { return }
        let timeline = Timeline(history.latest)
        let next = timeline.purchases.first { $0.purchaseDate > row.purchaseDate }?.purchaseDate
        let renewals = Assertions(
            inOrder: timeline.renewals.sorted.prefix { renewal in
                next.map { renewal.asOf < $0 } ?? true
            }
        )
        let deciders = [Field.expirationIntent, .autoRenewStatus].compactMap { field -> Int64? in
            guard let decision = renewals.decision(on: field),
                case .value(let value) = decision.state,
                field == .expirationIntent || value == .integer(0)
            else { return nil }
            return decision.offset
        }
        let entries = accesses.entries(of: row.stream)
        guard let offset = deciders.first,
            let entry = entries.first(where: { $0.event.position.offset == offset }),
            entry.asOf >= row.purchaseDate, !has(entry)
        else { return }
        append(entry, .notRenewed, row)
    }

    private func has(_ entry: KnownEntry) -> Bool {
        events.contains { $0.position == entry.event.position }
    }

    private mutating func append(
        _ entry: KnownEntry,
        _ role: DecisiveEvent.Role,
        _ row: ActivePeriod,
        before: ActivePeriod? = nil
    ) {
        let isThere = events.contains {
            $0.position == entry.event.position && $0.signedAt == entry.asOf && $0.role == role
        }
        guard !isThere else { return }
        let occurredAt =
            switch role {
            case .opened, .renewed: row.purchaseDate
            case .grace: row.validFrom
            case .ended, .notRenewed: row.validTo
            case .extended, .restored, .corrected: before?.validTo ?? row.validFrom
            }
        append(entry, role, row.stream, occurredAt, period: row, oneTimePurchase: nil)
    }

    // The first event with the purchase; then each that revoked it, or reversed that. If the first
    // event already has the revocation, it is listed once, as the end.
    private mutating func addOneTimePurchase(_ purchase: OneTimePurchase) {
        var revocationDate: Instant?
        var isOpened = false
        for entry in accesses.entries(of: purchase.stream) where entry.isAbout(purchase) {
            guard isOpened || entry.speaks(of: .productId) else { continue }
            let revoked = entry.event.fact.content.instant(.revocationDate)
            var role: DecisiveEvent.Role?
            var occurredAt = purchase.purchaseDate
            if let revoked {
                if revoked != revocationDate { (role, occurredAt) = (.ended, revoked) }
                revocationDate = revoked
            } else if let date = revocationDate, entry.speaks(of: .revocationDate) {
                (role, occurredAt) = (.restored, date)
                revocationDate = nil
            } else if !isOpened {
                role = .opened
            }
            isOpened = true
            guard let role else { continue }
            append(entry, role, purchase.stream, occurredAt, period: nil, oneTimePurchase: purchase)
        }
    }

    private mutating func append(
        _ entry: KnownEntry,
        _ role: DecisiveEvent.Role,
        _ stream: StreamID,
        _ occurredAt: Instant,
        period: ActivePeriod?,
        oneTimePurchase: OneTimePurchase?
    ) {
        let notification = entry.notification
        events.append(
            DecisiveEvent(
                stream: stream,
                position: entry.event.position,
                isRepetition: entry.isRepetition,
                role: role,
                notificationType: notification?.content.text(.notificationType),
                subtype: notification?.content.text(.subtype),
                occurredAt: occurredAt,
                signedAt: entry.asOf,
                recordedAt: entry.recordedAt,
                period: period,
                oneTimePurchase: oneTimePurchase
            )
        )
    }

    private mutating func sort() {
        events.sort { ($0.signedAt, $0.rank, $0.position) < ($1.signedAt, $1.rank, $1.position) }
    }
}

extension DecisiveEvent {
    // At the same instant, the beginning comes before the end.
    fileprivate var rank: Int {
        switch role {
        case .opened, .renewed: 0
        case .grace, .extended, .corrected: 1
        case .ended, .notRenewed: 2
        case .restored: 3
        }
    }
}

extension AccessAnswer {
    /// Whether it differs for a reader: in yes or no, in the reason, in the purchase or its end.
    fileprivate func isOther(than other: AccessAnswer) -> Bool {
        guard hasAccess == other.hasAccess, reason == other.reason else { return true }
        guard let mine = period, let theirs = other.period else {
            return (period == nil) != (other.period == nil)
        }
        return !mine.isOfSamePurchase(as: theirs) || mine.isGrace != theirs.isGrace
            || (!hasAccess && mine.validTo != theirs.validTo)
    }
}
