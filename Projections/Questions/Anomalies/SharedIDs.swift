internal import Events

/// Ids that several subscriptions have although each should name one customer or one purchase.
///
/// Unlike the anomalies of one subscription, these show only when subscriptions are compared: the
/// caller finds those that share an id.
package enum SharedIDs {
    /// The anomaly of an app account token; nil unless at least `limits.tokenAccountsMin` Apple
    /// accounts have bought with it.
    ///
    /// - Parameters:
    ///   - token: The token, in any spelling.
    ///   - streams: The subscriptions that have it; others are ignored.
    ///   - limits: The thresholds of an anomaly.
    /// - Returns: The anomaly; its count is the number of accounts.
    package static func anomaly(
        ofToken token: String,
        _ streams: [CustomerStream],
        limits: AnomalyLimits
    ) -> StreamAnomaly? {
        let sharers = streams.filter { stream in
            stream.tokens.contains { TokenValue.areEqual($0, token) }
        }.sorted { $0.stream < $1.stream }
        let accounts = accountCount(of: sharers)
        guard accounts >= limits.tokenAccountsMin else { return nil }
        let claims = sharers.compactMap { stream in
            stream.claims.tokens.first { TokenValue.areEqual($0.token, token) }.map {
                (at: $0.from, position: Position(lane: stream.claims.lane, offset: $0.offset))
            }
        }
        return StreamAnomaly(.sharedToken, token, count: accounts, of: sharers, claims)
    }

    /// The anomaly of a transaction id with its line item; nil unless it is under several original
    /// ids.
    package static func anomaly(
        ofTransaction transactionId: String,
        lineItem: String,
        _ streams: [CustomerStream]
    ) -> StreamAnomaly? {
        var sharers: [CustomerStream] = []
        var statements: [(at: Instant, position: Position)] = []
        for stream in streams.sorted(by: { $0.stream < $1.stream }) {
            let purchases = stream.timeline.transactions + stream.timeline.oneTimePurchases
            let own = purchases.first { purchase in
                byBytes(purchase.webOrderLineItemId, lineItem) == nil
                    && purchase.transactionIds.contains { byBytes($0, transactionId) == nil }
            }
            guard let own else { continue }
            sharers.append(stream)
            let position = Position(lane: stream.timeline.lane, offset: own.firstOffset)
            statements.append((own.purchaseDate, position))
        }
        guard sharers.count > 1 else { return nil }
        return StreamAnomaly(
            .sharedTransaction,
            transactionId,
            count: sharers.count,
            of: sharers,
            statements
        )
    }

    /// The number of different Apple accounts that are known among subscriptions: those that share
    /// nothing but a token, in the app that has the most.
    ///
    /// An `appTransactionId` or a receipt shows an account; a subscription with neither may belong
    /// to any of them and counts for none. An account has another `appTransactionId` in each app.
    static func accountCount(of streams: [CustomerStream]) -> Int {
        let known = streams.filter { !$0.appTransactions.isEmpty || !$0.receipts.isEmpty }
        let byApp = Dictionary(grouping: known) { FieldValue.text($0.bundleId ?? "") }
        return byApp.values.map(groupCount).max() ?? 0
    }

    private static func groupCount(of streams: [CustomerStream]) -> Int {
        var groups: [Set<CustomerBond>] = []
        for stream in streams {
            var bonds = Set(stream.bonds.filter { $0.kind != CustomerBond.tokenKind })
            groups.removeAll { group in
                guard !group.isDisjoint(with: bonds) else { return false }
                bonds.formUnion(group)
                return true
            }
            groups.append(bonds)
        }
        return groups.count
    }
}

extension StreamAnomaly {
    /// Most events that a shared id cites: a token may be in a thousand subscriptions.
    static let positionsMax = 20

    fileprivate init?(
        _ kind: Kind,
        _ sharedId: String,
        count: Int,
        of sharers: [CustomerStream],
        _ statements: [(at: Instant, position: Position)]
    ) {
        let times = statements.map(\.at)
        guard let first = sharers.first, let from = times.min(), let to = times.max() else {
            return nil
        }
        self.init(
            originalTransactionId: first.stream.originalTransactionId,
            environment: first.stream.environment,
            kind: kind,
            sharedId: sharedId,
            count: count,
            givenMilliunits: nil,
            currency: nil,
            from: from,
            to: to,
            positions: statements.prefix(StreamAnomaly.positionsMax).map(\.position).sorted()
        )
    }
}
