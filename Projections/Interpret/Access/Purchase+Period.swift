internal import Events

/// What ends the access of a whole period: where it has several transactions, access goes on until
/// the last of them is taken back
/// (https://developer.apple.com/documentation/appstoreserverapi/revokedseatquantity).
extension Purchase {
    /// The revocation after which nothing of the period is left.
    struct Revocation {
        let date: Instant
        let reason: ActivePeriod.EndReason
        /// The transaction that it took back, by its number in `transactions`: the last one, and of
        /// several the first.
        let number: Int
        let transaction: Purchase
        /// Apple's `revocationType`; nil if not stated.
        let type: String?
    }

    /// How many seats are left of all its transactions; nil unless its owner bought seats, or if the
    /// number is not known.
    var seatQuantity: Int64? {
        guard seats != nil, sharing == nil else { return nil }
        return transactions.reduce(0 as Int64?) { sum, transaction in
            let isRevoked = transaction.state(of: .revocationDate) > .none
            guard let sum,
                let quantity = isRevoked ? 0 : transaction.seats?.remainingQuantity
            else { return nil }
            let (total, overflow) = sum.addingReportingOverflow(quantity)
            return overflow ? nil : total
        }
    }

    /// The revocation of the whole period, as last stated; nil while something of it is left.
    func periodRevocation(citing citations: inout Citations) -> Revocation? {
        var last: Revocation?
        for (number, transaction) in transactions.enumerated() {
            guard let date = transaction.instant(.revocationDate, citing: &citations) else {
                return nil
            }
            guard last.map({ $0.date < date }) ?? true else { continue }
            last = Revocation(
                date: date,
                reason: transaction.revokedReason(citing: &citations),
                number: number,
                transaction: transaction,
                type: transaction.text(.revocationType, citing: &citations)
            )
        }
        return last
    }

    /// Whether any of its transactions is marked as upgraded: an addition never marks another.
    func isPeriodUpgraded(citing citations: inout Citations) -> Bool {
        var isUpgraded = false
        for transaction in transactions {
            if transaction.boolean(.isUpgraded, citing: &citations) == true { isUpgraded = true }
        }
        return isUpgraded
    }

    /// The same without citing.
    var isPeriodUpgraded: Bool { transactions.contains(where: \.isUpgraded) }

    /// The date of the revocation of the whole period; nil while something of it is left.
    var periodRevocationDate: Instant? {
        var citations = Citations()
        return periodRevocation(citing: &citations)?.date
    }

    /// The times until reversed refunds in which nothing of the period was left.
    var periodSuspensions: [Suspension] {
        guard !additions.isEmpty else { return suspensions }
        return transactions.dropFirst().reduce(revokedTimes) { common, transaction in
            common.flatMap { one in
                transaction.revokedTimes.compactMap { one.intersection(with: $0) }
            }
        }.filter { $0.to != .endOfTime }
    }

    private func revokedReason(citing citations: inout Citations) -> ActivePeriod.EndReason {
        if isMovedToBundle(citing: &citations) { return .upgraded }
        return endedSharing(citing: &citations)?.endReason ?? .refunded
    }

    // The suspensions, and the time from a revocation that is in force.
    private var revokedTimes: [Suspension] {
        var citations = Citations()
        guard let date = instant(.revocationDate, citing: &citations) else { return suspensions }
        let reason = revokedReason(citing: &citations)
        return suspensions + [
            Suspension(
                from: max(date, purchaseDate),
                start: purchaseDate,
                to: .endOfTime,
                reason: reason,
                citations: citations
            )
        ]
    }
}

extension Cut {
    /// Whether the revocation of a period is for the rest of what was replaced here.
    func isReplacement(of revocation: Purchase.Revocation) -> Bool {
        isReplacement(
            of: revocation.transaction,
            revokedAt: revocation.date,
            type: revocation.type
        )
    }
}

extension Suspension {
    // The time in both; nil if there is none.
    fileprivate func intersection(with other: Suspension) -> Suspension? {
        let (from, to) = (max(from, other.from), min(to, other.to))
        guard from < to else { return nil }
        var citations = citations
        citations.cite(other.citations)
        return Suspension(
            from: from,
            start: min(start, other.start),
            to: to,
            reason: self.from < other.from ? other.reason : reason,
            citations: citations
        )
    }
}

extension Instant {
    fileprivate static let endOfTime = Instant(milliseconds: .max)
}
