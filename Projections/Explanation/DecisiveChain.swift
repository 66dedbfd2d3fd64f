internal import Events

/// Finds the shortest chain of events behind an answer: those by which, while knowledge grew, the
/// answer turned, as far as they are about the purchases that decide it in the end or decided it
/// then.
struct DecisiveChain {
    /// The chain, in the order in which the log learnt of it.
    private(set) var events: [DecisiveEvent] = []

    private let accesses: [KnownAccess]
    private let at: Instant

    init(_ accesses: [KnownAccess], at instant: Instant, served: AccessAnswer) {
        self.accesses = accesses
        at = instant
        let instants = accesses.instants
        guard let end = instants.last else { return }
        let entitled = accesses.answer(at: instant, knownAt: max(end, instant))
        let deciding = [entitled.period, served.period].compactMap { $0 }
        var before = AccessAnswer.none(.notKnownYet, nil)
        for known in instants {
            let after = accesses.answer(at: instant, knownAt: known)
            if let row = after.period, before.isOther(than: after),
                deciding.contains(where: row.isOfSamePurchase)
            {
                take(Turn(before: before, after: after, row: row, known: known))
            }
            before = after
        }
        if let row = entitled.period { addOpening(of: row) }
        if case .none(.expired, let row?) = entitled { addMissingRenewal(after: row) }
        addOneTimePurchases([entitled.oneTimePurchase, served.oneTimePurchase].compactMap { $0 })
    }

    /// A change of the answer at one instant of knowledge.
    struct Turn {
        let before: AccessAnswer
        let after: AccessAnswer
        let row: ActivePeriod
        let known: Instant
    }

    private mutating func take(_ turn: Turn) {
        let told = accesses.entries(of: turn.row.stream, knownAt: turn.known)
        let role = role(of: turn)
        let chosen =
            told.first { $0.does(role, to: turn.row) }
            ?? told.first { turn.row.positions.contains($0.event.position) } ?? told.first
        guard let chosen else { return }
        // What was not known before its end became known began by an event of its own.
        if role == .ended, turn.before.period.map({ !$0.isOfSamePurchase(as: turn.row) }) ?? true,
            let opening = told.first(where: { $0.isAbout(turn.row) }),
            opening.event.position != chosen.event.position
        {
            append(opening, openingRole(of: turn.row, knownAt: turn.known), turn.row)
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
        case (_, .access(let row)) where row.isGrace:
            return .grace
        case (_, .access(let row)):
            if let known, known.expiresDate < row.expiresDate { return .extended }
            return openingRole(of: row, knownAt: turn.known)
        case (_, .none), (_, .owned), (_, .notOwned):
            return openingRole(of: turn.row, knownAt: turn.known)
        }
    }

    private func openingRole(of row: ActivePeriod, knownAt: Instant) -> DecisiveEvent.Role {
        row.continues(oneOf: accesses.rows(knownAt: knownAt)) ? .renewed : .opened
    }

    // Where another purchase decided while this one became known, its beginning is still missing.
    private mutating func addOpening(of row: ActivePeriod) {
        let isThere = events.contains {
            $0.period?.isOfSamePurchase(as: row) == true
                && ($0.role == .opened || $0.role == .renewed)
        }
        let told = accesses.entries(of: row.stream, knownAt: nil)
        guard !isThere, let first = told.first(where: { $0.isAbout(row) }),
            !events.contains(where: { $0.position == first.event.position })
        else { return }
        append(first, openingRole(of: row, knownAt: first.recordedAt), row)
        sort()
    }

    /// What told that nothing would follow: Apple's reason, else that auto-renewal was off.
    private mutating func addMissingRenewal(after row: ActivePeriod) {
        guard let history = accesses.first(where: { $0.history.stream == row.stream })?.history
        else { return }
        let timeline = Timeline(history.latest)
        let next = timeline.purchases.first { $0.purchaseDate > row.purchaseDate }?.purchaseDate
        let renewals = Assertions(
            inOrder: timeline.renewals.sorted.prefix { told in next.map { told.asOf < $0 } ?? true }
        )
        let deciders = [Field.expirationIntent, .autoRenewStatus].compactMap { field -> Int64? in
            guard let decision = renewals.decision(on: field),
                case .value(let value) = decision.state,
                field == .expirationIntent || value == .integer(0)
            else { return nil }
            return decision.offset
        }
        let told = accesses.entries(of: row.stream, knownAt: nil)
        guard let offset = deciders.first,
            let entry = told.first(where: { $0.event.position.offset == offset }),
            entry.asOf >= row.purchaseDate
        else { return }
        append(entry, .ended, row)
        sort()
    }

    private mutating func append(
        _ entry: KnownEntry,
        _ role: DecisiveEvent.Role,
        _ row: ActivePeriod,
        before: ActivePeriod? = nil
    ) {
        let isThere = events.contains {
            $0.position == entry.event.position && $0.recordedAt == entry.recordedAt
                && $0.role == role
        }
        guard !isThere else { return }
        let occurredAt =
            switch role {
            case .opened, .renewed: row.purchaseDate
            case .grace: row.validFrom
            case .ended: row.validTo
            case .extended, .restored, .corrected: before?.validTo ?? row.validFrom
            }
        let notification = entry.notification
        events.append(
            DecisiveEvent(
                stream: row.stream,
                position: entry.event.position,
                role: role,
                notificationType: notification?.content.text(.notificationType),
                subtype: notification?.content.text(.subtype),
                occurredAt: occurredAt,
                signedAt: entry.asOf,
                recordedAt: entry.recordedAt,
                period: row,
                oneTimePurchase: nil
            )
        )
    }

    // The first event that holds the purchase; then each by which it was revoked, or was not any
    // more.
    private mutating func addOneTimePurchases(_ purchases: [OneTimePurchase]) {
        for purchase in purchases.prefix(1) {
            var revocationDate: Instant?
            var isOpened = false
            for entry in accesses.entries(of: purchase.stream, knownAt: nil)
            where entry.isAbout(purchase) {
                let revoked = entry.event.fact.content.instant(.revocationDate)
                if !isOpened { append(entry, .opened, purchase, purchase.purchaseDate) }
                if let revoked, revoked != revocationDate {
                    append(entry, .ended, purchase, revoked)
                } else if revoked == nil, let revocationDate {
                    append(entry, .restored, purchase, revocationDate)
                }
                (isOpened, revocationDate) = (true, revoked)
            }
        }
        if !purchases.isEmpty { sort() }
    }

    private mutating func append(
        _ entry: KnownEntry,
        _ role: DecisiveEvent.Role,
        _ purchase: OneTimePurchase,
        _ occurredAt: Instant
    ) {
        let notification = entry.notification
        events.append(
            DecisiveEvent(
                stream: purchase.stream,
                position: entry.event.position,
                role: role,
                notificationType: notification?.content.text(.notificationType),
                subtype: notification?.content.text(.subtype),
                occurredAt: occurredAt,
                signedAt: entry.asOf,
                recordedAt: entry.recordedAt,
                period: nil,
                oneTimePurchase: purchase
            )
        )
    }

    private mutating func sort() {
        events.sort { ($0.recordedAt, $0.position) < ($1.recordedAt, $1.position) }
    }
}

extension AccessAnswer {
    /// Whether it differs for a person: in yes or no, in the reason, in the purchase or its end.
    fileprivate func isOther(than other: AccessAnswer) -> Bool {
        guard hasAccess == other.hasAccess, reason == other.reason else { return true }
        guard let mine = period, let theirs = other.period else {
            return (period == nil) != (other.period == nil)
        }
        return !mine.isOfSamePurchase(as: theirs) || mine.isGrace != theirs.isGrace
            || (!hasAccess && mine.validTo != theirs.validTo)
    }
}
