public import Events

/// Whether any of several products and groups gives access at an instant, and what decides it.
///
/// Of several subscriptions and purchases, the best one decides: one that gives access before one
/// that does not, then the one whose access ends last.
public struct EntitlementVerdict: Sendable {
    /// The answer of the one that decides.
    public let answer: AccessAnswer
    /// The end of the access through all of them without a break; in the past if there is none;
    /// nil if it has no end, or never began.
    public let until: Instant?
}

extension Entitlement {
    /// The verdict on access to any of these.
    ///
    /// - Parameters:
    ///   - scopes: The products and groups.
    ///   - instant: The instant asked about.
    ///   - isKnown: Whether anything is known of the customer.
    /// - Returns: The verdict.
    public func verdict(
        on scopes: [AccessScope],
        at instant: Instant,
        isKnown: Bool
    ) -> EntitlementVerdict {
        let rows = periods.filter { row in scopes.contains { $0.contains(row) } }
        let purchases = oneTimePurchases.filter { purchase in
            scopes.contains { $0.contains(purchase) }
        }
        if let owned = purchases.last(where: { $0.isOwned(at: instant) }) {
            return EntitlementVerdict(answer: .owned(owned), until: nil)
        }

        let ends = Dictionary(grouping: rows.map(\.period), by: \.stream).compactMapValues {
            merged($0).first { $0.contains(instant) }?.upperBound
        }
        let active = groups(at: instant).flatMap(\.active).filter { row in
            scopes.contains { $0.contains(row) }
        }
        func end(_ row: AccessPeriod) -> Instant { ends[row.period.stream] ?? row.period.validTo }
        if let first = active.first {
            // Of those that end at the same time the one that outranks the others.
            let best = active.dropFirst().reduce(first) { end($1) > end($0) ? $1 : $0 }
            let until = merged(rows.lazy.map(\.period)).first { $0.contains(instant) }?.upperBound
            return EntitlementVerdict(answer: .access(best.period), until: until)
        }
        return lapsed(rows.map(\.period), purchases, at: instant, isKnown: isKnown)
    }

    // Without access: what ended last gives the reason.
    private func lapsed(
        _ rows: [ActivePeriod],
        _ purchases: [OneTimePurchase],
        at instant: Instant,
        isKnown: Bool
    ) -> EntitlementVerdict {
        let begun = rows.filter { $0.validFrom <= instant }
        let last = begun.dropFirst().reduce(begun.first) { last, row in
            last.map { $0.validTo < row.validTo ? row : $0 } ?? row
        }
        let revoked = purchases.compactMap { $0.isRevoked(at: instant) ? $0.revocationDate : nil }
        if let last, revoked.allSatisfy({ $0 <= last.validTo }) {
            let own = rows.filter { $0.stream == last.stream }
            let answer = AccessAnswer(own, isKnown: true, at: instant)
            return EntitlementVerdict(answer: answer, until: last.validTo)
        }
        let answer = AccessAnswer(last == nil ? rows : [], purchases, isKnown: isKnown, at: instant)
        return EntitlementVerdict(answer: answer, until: revoked.max())
    }
}
