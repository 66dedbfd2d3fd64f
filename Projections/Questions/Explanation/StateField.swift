package import Events

/// One thing that is known about a subscription at an instant, and the event that is responsible.
package struct StateField: Hashable, Sendable {
    /// The field: a word of our own, or Apple's name of the property.
    package let name: String
    /// Its value.
    package let value: FieldValue
    /// The event that decides it.
    package let position: Position

    /// Whether two are the same for a reader, whichever event states them.
    package func isSame(as other: StateField) -> Bool {
        name == other.name && value == other.value
    }

    /// The state of a subscription at an instant, as far as is known.
    ///
    /// The purchase shown is the one that decides access, with everything ever stated about it; the
    /// next renewal is as Apple had stated it up to the instant.
    ///
    /// - Parameters:
    ///   - history: What is known.
    ///   - instant: The instant.
    /// - Returns: The fields, most asked-for first; empty if nothing is known.
    package static func all(of history: StreamHistory, at instant: Instant) -> [StateField] {
        StateReading(Timeline(history), at: instant).fields
    }
}

/// Collects the fields of one instant.
private struct StateReading {
    private(set) var fields: [StateField] = []
    private let lane: Lane

    init(_ timeline: Timeline, at instant: Instant) {
        lane = timeline.lane
        let rows = ActivePeriods(timeline).rows
        let answer = AccessAnswer(
            rows,
            OneTimePurchase.all(of: timeline),
            isKnown: timeline.horizon != nil,
            at: instant
        )
        if let row = answer.period,
            let purchase = timeline.purchases.first(where: { $0.isOf(row) })
        {
            read(purchase, row, answer)
        }
        if let bought = answer.oneTimePurchase,
            let purchase = timeline.oneTimePurchases.first(where: { $0.isOf(bought) })
        {
            read(purchase, answer)
        }

        let owner = StreamClaims(timeline).owners.last {
            $0.owner != nil && ($0.from.map { $0 <= instant } ?? true)
                && ($0.to.map { instant < $0 } ?? true)
        }
        if let name = owner?.owner?.name { add("owner", .text(name), owner?.offset) }

        let known = timeline.renewals.sorted.prefix { $0.asOf <= instant }
        let renewals = Assertions(inOrder: known)
        for field in [
            Field.autoRenewStatus, .autoRenewProductId, .renewalDate, .isInBillingRetryPeriod,
            .gracePeriodExpiresDate, .expirationIntent, .priceIncreaseStatus,
        ] { add(field, renewals.decision(on: field)) }
    }

    private mutating func read(
        _ purchase: Purchase,
        _ row: ActivePeriod,
        _ answer: AccessAnswer
    ) {
        let word = answer.reason?.rawValue ?? (row.isGrace ? "grace" : "active")
        add("status", .text(word), purchase.decider(of: answer, row))
        add(.productId, purchase.decision(on: .productId))
        add("expiresDate", .instant(row.expiresDate), purchase.datesOffset)
        add("accessUntil", .instant(row.validTo), row.positions.last?.offset)
        for field in [
            Field.offerType, .offerIdentifier, .price, .currency, .inAppOwnershipType, .isUpgraded,
            .revocationDate, .revocationReason,
        ] { add(field, purchase.decision(on: field)) }
        let decision = purchase.decision(on: .revocationDate)
        if decision?.state == Knowledge.State.none, purchase.wasRevoked {
            add("refund", .text("reversed"), decision?.offset)
        }
    }

    private mutating func read(_ purchase: Purchase, _ answer: AccessAnswer) {
        let revocation = purchase.decision(on: .revocationDate)?.offset
        let isTakenBack = answer.reason == .refunded || answer.reason == .revoked
        add(
            "status",
            .text(answer.reason?.rawValue ?? "owned"),
            isTakenBack ? revocation : purchase.datesOffset
        )
        for field in [
            Field.productId, .type, .price, .currency, .inAppOwnershipType, .revocationDate,
            .revocationReason,
        ] { add(field, purchase.decision(on: field)) }
    }

    private mutating func add(
        _ field: Field,
        _ decision: (state: Knowledge.State, offset: Int64)?
    ) {
        guard let decision, case .value(let value) = decision.state else { return }
        add("\(field)", value, decision.offset)
    }

    private mutating func add(_ name: String, _ value: FieldValue, _ offset: Int64?) {
        guard let offset else { return }
        fields.append(
            StateField(name: name, value: value, position: Position(lane: lane, offset: offset))
        )
    }
}

extension Purchase {
    fileprivate func isOf(_ row: ActivePeriod) -> Bool {
        purchaseDate == row.purchaseDate && byBytes(productId, row.productId) == nil
    }

    fileprivate func isOf(_ purchase: OneTimePurchase) -> Bool {
        purchaseDate == purchase.purchaseDate && byBytes(productId, purchase.productId) == nil
    }

    fileprivate func decider(of answer: AccessAnswer, _ row: ActivePeriod) -> Int64? {
        switch answer {
        case .none(.refunded, _), .none(.revoked, _):
            return decision(on: .revocationDate)?.offset
        case .none(.upgraded, _):
            return isUpgraded
                ? assertions.decision(on: .isUpgraded)?.offset : row.positions.last?.offset
        case .access where row.isGrace:
            return row.positions.last?.offset
        default:
            return datesOffset
        }
    }

    fileprivate var wasRevoked: Bool {
        assertions.sorted.contains {
            $0.fields.contains(.revocationDate) && $0.content[.revocationDate] != nil
        }
    }
}
