import AppStoreSimulator
import Events
import Projections

/// The written rules of `active_periods`, applied to payloads in the simplest way.
///
/// The truth of a life never reads payloads; this oracle never reads the script. If both agree, the
/// payloads contain the truth.
struct SemanticsOracle {
    private var transactions: [TransactionJSON] = []
    private var renewals: [RenewalJSON] = []
    private var horizon: Int64 = 0
    private let stream: String

    init(stream: String) {
        self.stream = stream
    }

    mutating func read(_ delivery: Delivery) throws {
        switch delivery.channel {
        case .notification:
            let notification = try ReadNotification(delivery)
            learn(notification.transaction)
            if let renewal = notification.renewal { learn(renewal) }
        case .history:
            for jws in try decode(HistoryJSON.self, json: delivery.payload).signedTransactions {
                learn(try decode(TransactionJSON.self, jws: jws))
            }
        case .statuses:
            for group in try decode(StatusesJSON.self, json: delivery.payload).data {
                for last in group.lastTransactions {
                    learn(try decode(TransactionJSON.self, jws: last.signedTransactionInfo))
                    learn(try decode(RenewalJSON.self, jws: last.signedRenewalInfo))
                }
            }
        case .verifyReceipt:
            let answer = try decode(UnifiedJSON.self, old: delivery.payload)
            try answer.transactions().forEach { learn($0) }
            if let renewal = try answer.renewal(of: stream) { learn(renewal) }
        case .appReceipt, .statusUpdate:
            throw NotAJWS()
        }
    }

    private mutating func learn(_ transaction: TransactionJSON) {
        guard transaction.originalTransactionId == stream else { return }
        transactions.append(transaction)
        horizon = max(horizon, transaction.signedDate)
    }

    private mutating func learn(_ renewal: RenewalJSON) {
        guard renewal.originalTransactionId == stream else { return }
        renewals.append(renewal)
        horizon = max(horizon, renewal.signedDate)
    }

    /// Rules 1 to 4 and 6.
    func periods() -> [SimulatedPeriod] {
        let purchases = Dictionary(
            grouping: transactions.filter { ($0.expiresDate ?? 0) != 0 },
            by: { $0.webOrderLineItemId ?? "" }
        ).values.compactMap { group in
            group.max { ($0.signedDate, end(of: $0)) < ($1.signedDate, end(of: $1)) }
        }
        var rows = purchases.map { row(of: $0, among: purchases) }
        for (number, purchase) in purchases.enumerated() where rows[number].endReason == .expired {
            if let grace = grace(after: purchase, among: purchases) { rows.append(grace) }
        }
        rows.sort()
        let last = rows.map(\.validTo).max()
        return rows.map { row in
            guard row.validTo == last, row.endReason == .expired,
                horizon < row.validTo.milliseconds
            else { return row }
            return self.row(
                row.productId,
                row.purchaseDate.milliseconds,
                row.expiresDate.milliseconds,
                from: row.validFrom.milliseconds,
                to: row.validTo.milliseconds,
                row.kind,
                .open
            )
        }
    }

    private func row(
        of purchase: TransactionJSON,
        among purchases: [TransactionJSON]
    ) -> SimulatedPeriod {
        let successor = successor(of: purchase, among: purchases)
        let cut = successor.map(\.purchaseDate)
        let limit = min(end(of: purchase), cut ?? .max)
        let revoked = purchase.revocationDate ?? .max
        let isFamily =
            purchase.inAppOwnershipType == "FAMILY_SHARED"
            || purchase.revocationType == "FAMILY_REVOKE"
        let reason: SimulatedPeriod.EndReason
        if purchase.isUpgraded == true {
            reason = .upgraded
        } else if let successor, successor.purchaseDate <= revoked,
            successor.productId != purchase.productId
        {
            reason = .upgraded
        } else if revoked < limit {
            reason = isFamily ? .revoked : .refunded
        } else if let cut, cut < end(of: purchase) {
            reason = .replaced
        } else {
            reason = .expired
        }
        return row(
            purchase.productId,
            purchase.purchaseDate,
            end(of: purchase),
            from: purchase.purchaseDate,
            to: max(purchase.purchaseDate, min(limit, revoked)),
            kind(of: purchase),
            reason
        )
    }

    private func successor(
        of purchase: TransactionJSON,
        among purchases: [TransactionJSON]
    ) -> TransactionJSON? {
        let others = purchases.filter { $0.webOrderLineItemId != purchase.webOrderLineItemId }
        let rival = others.first { $0.purchaseDate == purchase.purchaseDate }
        if let rival {
            let isFlagged = purchase.isUpgraded == true
            let isLoser =
                isFlagged != (rival.isUpgraded == true)
                ? isFlagged : purchase.webOrderLineItemId ?? "" < rival.webOrderLineItemId ?? ""
            if isLoser { return rival }
        }
        return others.filter {
            $0.purchaseDate > purchase.purchaseDate && $0.purchaseDate < end(of: purchase)
        }.min { $0.purchaseDate < $1.purchaseDate }
    }

    private func grace(
        after purchase: TransactionJSON,
        among purchases: [TransactionJSON]
    ) -> SimulatedPeriod? {
        let end = end(of: purchase)
        let about = renewals.filter { $0.renewalDate == end }
            .sorted { $0.signedDate < $1.signedDate }
        guard let first = about.first(where: { $0.gracePeriodExpiresDate != nil }),
            let granted = about.last(where: { $0.gracePeriodExpiresDate != nil })?
                .gracePeriodExpiresDate
        else { return nil }
        let next = purchases.map(\.purchaseDate).filter { $0 >= end }.min()
        let denied = about.first { snapshot in
            snapshot.signedDate > first.signedDate
                && (snapshot.autoRenewStatus == 0 || snapshot.gracePeriodExpiresDate == nil)
        }
        let to = min(granted, next ?? .max, denied?.signedDate ?? .max)
        guard to > end else { return nil }
        return row(
            purchase.productId,
            purchase.purchaseDate,
            end,
            from: end,
            to: to,
            .grace,
            .expired
        )
    }

    private func kind(of purchase: TransactionJSON) -> SimulatedPeriod.Kind {
        switch (purchase.inAppOwnershipType, purchase.offerType) {
        case ("FAMILY_SHARED", _): .family
        case ("ASSIGNED", _): .assigned
        case (_, nil): .paid
        case (_, 1): purchase.offerDiscountType == "FREE_TRIAL" ? .trial : .intro
        default: .offer
        }
    }

    private func end(of purchase: TransactionJSON) -> Int64 { purchase.expiresDate ?? 0 }

    private func row(
        _ productId: String,
        _ purchaseDate: Int64,
        _ expiresDate: Int64,
        from: Int64,
        to: Int64,
        _ kind: SimulatedPeriod.Kind,
        _ reason: SimulatedPeriod.EndReason
    ) -> SimulatedPeriod {
        SimulatedPeriod(
            productId: productId,
            purchaseDate: Instant(milliseconds: purchaseDate),
            expiresDate: Instant(milliseconds: expiresDate),
            validFrom: Instant(milliseconds: from),
            validTo: Instant(milliseconds: to),
            kind: kind,
            endReason: reason
        )
    }
}
