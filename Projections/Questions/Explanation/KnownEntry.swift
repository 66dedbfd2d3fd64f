internal import Events

/// A statement by Apple at one instant: an event, or a repetition of one.
struct KnownEntry {
    /// The event.
    let event: Event
    /// Whether it is a repetition of the event.
    var isRepetition = false
    /// Apple's date for the statement or the repetition.
    let asOf: Instant
    /// When it became known.
    let recordedAt: Instant
    /// The notification in the same payload; nil if there was none.
    let notification: Fact?

    /// Whether it is a transaction of that purchase, or one that added seats to its period.
    func isAbout(_ row: ActivePeriod) -> Bool {
        let fact = event.fact
        guard fact.kind == .transaction,
            byBytes(fact.content.text(.productId) ?? "", row.productId) == nil
        else { return false }
        return fact.purchaseDate == row.purchaseDate || addsSeats(to: row)
    }

    // Apple marks every transaction of a period that has several. Their ends may differ, because an
    // extension may have moved one of them only.
    private func addsSeats(to row: ActivePeriod) -> Bool {
        let fact = event.fact
        return row.purchaseDate < fact.purchaseDate && fact.purchaseDate < row.expiresDate
            && fact.content.seats?.isOneOfSeveral == true
    }

    /// Whether it is a transaction of that one-time purchase, whatever date it states for it.
    func isAbout(_ purchase: OneTimePurchase) -> Bool {
        let fact = event.fact
        return fact.kind == .transaction && fact.expiresDate == Instant(milliseconds: 0)
            && byBytes(fact.content.text(.productId) ?? "", purchase.productId) == nil
    }

    /// Whether its format states whether the field is set.
    func speaks(of field: Field) -> Bool { assertion.fields.contains(field) }

    private var assertion: Assertion {
        Assertion(offset: event.position.offset, asOf: asOf, content: event.fact.content)
    }

    // The status of a notification; nil for everything else.
    private var signedStatus: SubscriptionStatus? {
        event.fact.kind == .notification ? assertion.signedStatus : nil
    }

    /// Whether its content has the effect of that role.
    func does(_ role: DecisiveEvent.Role, to row: ActivePeriod) -> Bool {
        let content = event.fact.content
        switch role {
        case .opened, .renewed, .corrected:
            return isAbout(row)
        case .restored:
            return isAbout(row) && content[.revocationDate] == nil
        case .extended:
            return isAbout(row) && event.fact.expiresDate == row.expiresDate
        case .grace:
            return event.fact.kind == .renewal && content[.gracePeriodExpiresDate] != nil
                || signedStatus == .gracePeriod
        case .notRenewed: return event.fact.kind == .renewal
        case .ended:
            switch row.endReason {
            case .refunded, .revoked, .assignmentEnded:
                return isAbout(row) && content[.revocationDate] != nil
            case .upgraded, .replaced:
                return isAbout(row) && content.boolean(.isUpgraded) == true
                    || event.fact.kind == .transaction && event.fact.purchaseDate == row.validTo
            case .expired, .open:
                return event.fact.kind == .renewal
                    || row.isGrace && signedStatus.map { !$0.isEntitled } ?? false
            }
        }
    }
}

extension [KnownAccess] {
    /// All of Apple's statements about a subscription, by as-of, then by content, so the order of
    /// delivery does not affect which comes first.
    func entries(of stream: StreamID) -> [KnownEntry] {
        guard let history = first(where: { $0.history.stream == stream })?.history else {
            return []
        }

        var notifications: [Int64: [Fact]] = [:]
        var events: [Position: Event] = [:]
        for event in history.events {
            events[event.position] = event
            if event.fact.kind == .notification {
                notifications[event.evidence, default: []].append(event.fact)
            }
        }

        var entries = history.events.map { event in
            KnownEntry(
                event: event,
                asOf: event.fact.asOf,
                recordedAt: event.recordedAt,
                notification: event.fact.announcement(among: notifications[event.evidence] ?? [])
            )
        }
        for repetition in history.repetitions {
            guard let event = events[repetition.confirmation.position] else { continue }
            entries.append(
                KnownEntry(
                    event: event,
                    isRepetition: true,
                    asOf: repetition.confirmation.asOf,
                    recordedAt: repetition.recordedAt,
                    notification: event.fact.announcement(
                        among: notifications[repetition.confirmation.evidence] ?? []
                    )
                )
            )
        }
        return entries.sorted(by: KnownEntry.areInOrder)
    }
}

extension Fact {
    // A payload may contain many notifications (a page of Apple's notification history): the one
    // about the same purchase counts, and of these the one signed at the nearest instant.
    fileprivate func announcement(among notifications: [Fact]) -> Fact? {
        if kind == .notification { return self }
        let own = notifications.filter { purchaseDate == $0.purchaseDate || kind == .renewal }
        return own.min { distance(to: $0) < distance(to: $1) }
    }

    private func distance(to other: Fact) -> Int64 {
        abs(asOf.milliseconds - other.asOf.milliseconds)
    }
}

extension KnownEntry {
    fileprivate static func areInOrder(_ left: KnownEntry, _ right: KnownEntry) -> Bool {
        if left.asOf != right.asOf { return left.asOf < right.asOf }
        let (fact, other) = (left.event.fact, right.event.fact)
        if fact.kind != other.kind { return fact.kind.rank < other.kind.rank }
        if fact.purchaseDate != other.purchaseDate { return fact.purchaseDate < other.purchaseDate }
        if fact.expiresDate != other.expiresDate { return fact.expiresDate < other.expiresDate }
        let (bytes, others) = (fact.content.canonicalBytes, other.content.canonicalBytes)
        if bytes != others { return bytes.lexicographicallyPrecedes(others) }
        return left.event.position < right.event.position
    }
}

extension Events.Kind {
    // At the same as-of, the transaction has the most detail, and the notification the least.
    fileprivate var rank: Int {
        switch self {
        case .transaction: 0
        case .renewal: 1
        case .notification: 2
        case .link, .catalog, .erasure, .erased: 3
        }
    }
}
