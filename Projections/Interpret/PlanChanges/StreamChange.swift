public import Events

extension PlanChanges {
    /// A change of product for which Apple opened a new subscription: bought while the old one was in
    /// billing retry, or after it had ended (Apple's data: trap 3), or a move between a subscription sold
    /// alone and one in a bundle, in either direction.
    public struct StreamChange: Codable, Hashable, Sendable {
        /// The old subscription.
        public let fromOriginalTransactionId: String
        /// The new subscription.
        public let toOriginalTransactionId: String
        /// The bundle that the old one was part of; nil if it was sold alone.
        public let fromBundleProductId: String?
        /// The bundle that the new one is part of; nil if it is sold alone.
        public let toBundleProductId: String?
        /// The last product of the old one.
        public let fromProductId: String
        /// The first product of the new one.
        public let toProductId: String
        /// Start of the new one's first purchase, in whole seconds.
        public let effective: Instant
        /// The status of the old one just before: in billing retry, expired or revoked; for a move to
        /// or from a bundle any.
        public let previousStatus: SubscriptionStatus
        /// The class of the change by the levels of the catalog.
        public let changeClass: PlanChangeClass
        /// Whether both products have periods of the same length; nil if the catalog does not know.
        public let hasSameDuration: Bool?
        /// The version of the catalog that classified it; nil if there is none.
        public let catalogVersion: Int?
        /// The events that caused it, from both subscriptions, ascending, without duplicates.
        public let positions: [Position]

        private enum CodingKeys: String, CodingKey {
            case fromOriginalTransactionId, toOriginalTransactionId, fromBundleProductId
            case toBundleProductId, fromProductId, toProductId, effective, previousStatus
            case changeClass = "class"
            case hasSameDuration = "sameDuration"
            case catalogVersion, positions
        }

        // By instant, then by the new subscription.
        fileprivate static func areInOrder(
            _ left: PlanChanges.StreamChange,
            _ right: PlanChanges.StreamChange
        ) -> Bool {
            if left.effective != right.effective { return left.effective < right.effective }
            return byBytes(left.toOriginalTransactionId, right.toOriginalTransactionId) ?? false
        }
    }
}

extension PlanChanges {
    /// The changes of one customer from a subscription that was not running to a new one of the
    /// same group, by instant, then by subscription.
    ///
    /// There is none if a subscription of the group runs in parallel (Apple's data: trap 36), or if
    /// neither Apple nor the catalog names the group.
    ///
    /// - Parameters:
    ///   - timelines: All subscriptions of the customer, in any order; each at most once.
    ///   - catalogs: Classify the changes, and name the group if Apple did not.
    /// - Returns: At most one change per subscription: the one it began with.
    public static func acrossStreams(
        _ timelines: [Timeline],
        _ catalogs: CatalogHistory
    ) -> [PlanChanges.StreamChange] {
        let known = timelines.sorted { $0.stream < $1.stream }
            .filter { !$0.purchases.isEmpty }
            .map { RunningStream($0) }
        return known.compactMap { $0.change(from: known, catalogs) }
            .sorted(by: PlanChanges.StreamChange.areInOrder)
    }
}

/// A subscription with its states.
private struct RunningStream {
    let timeline: Timeline
    let states: RenewalStates
    let periods: [ActivePeriod]

    init(_ timeline: Timeline) {
        self.timeline = timeline
        states = RenewalStates(timeline)
        periods = ActivePeriods(timeline).rows
    }

    // The old subscription is the one that ended last before this one began.
    func change(
        from others: [RunningStream],
        _ catalogs: CatalogHistory
    ) -> PlanChanges.StreamChange? {
        guard let new = timeline.purchases.first else { return nil }
        if let moved = moved(from: others, new, catalogs) { return moved }
        guard let group = catalogs.group(of: new)
        else { return nil }
        let before = Instant(milliseconds: new.purchaseDate.milliseconds - 1)
        var left: (stream: RunningStream, old: Purchase, status: SubscriptionStatus)?
        var leftEnd: Instant?
        for other in others where other.isCandidate(for: timeline.stream) {
            let old = other.timeline.purchases.last { $0.purchaseDate < new.purchaseDate }
            guard let old, let theirs = catalogs.group(of: old), byBytes(group, theirs) == nil
            else { continue }
            // If Apple made no later statement, it ended at the announced end.
            let status = other.states.state(at: before)?.status ?? .expired
            if status.isEntitled { return nil }
            let end = other.periods.filter { $0.validFrom < new.purchaseDate }
                .reduce(old.purchaseDate) { max($0, $1.validTo) }
            if leftEnd.map({ $0 < end }) ?? true { (left, leftEnd) = ((other, old, status), end) }
        }
        guard let left, !left.old.productId.isEmpty, !new.productId.isEmpty,
            byBytes(left.old.productId, new.productId) != nil
        else { return nil }
        return change(from: left.stream, left.old, left.status, to: new, catalogs)
    }

    // Apple names the subscription that this one replaced when the customer moved between a bundle
    // and a subscription sold alone
    // (developer.apple.com/documentation/storekit/transaction/previousoriginaltransactionid).
    private func moved(
        from others: [RunningStream],
        _ new: Purchase,
        _ catalogs: CatalogHistory
    ) -> PlanChanges.StreamChange? {
        guard
            case .value(.text(let id)) = new.assertions.state(of: .previousOriginalTransactionId),
            let other = others.first(where: {
                $0.isCandidate(for: timeline.stream)
                    && byBytes($0.timeline.stream.originalTransactionId, id) == nil
            }),
            let old = other.timeline.purchases.last(where: {
                $0.purchaseDate <= new.purchaseDate
            }), old.bundle != nil || new.bundle != nil
        else { return nil }
        let before = Instant(milliseconds: new.purchaseDate.milliseconds - 1)
        return change(
            from: other,
            old,
            other.states.state(at: before)?.status ?? .expired,
            to: new,
            catalogs
        )
    }

    private func isCandidate(for stream: StreamID) -> Bool {
        timeline.stream != stream && timeline.stream.environment == stream.environment
    }

    private func change(
        from left: RunningStream,
        _ old: Purchase,
        _ status: SubscriptionStatus,
        to new: Purchase,
        _ catalogs: CatalogHistory
    ) -> PlanChanges.StreamChange {
        let judged = CatalogVerdict(
            from: old.productId,
            to: new.productId,
            at: new.purchaseDate,
            catalogs
        )
        let positions = [
            Position(lane: left.timeline.lane, offset: old.datesOffset),
            Position(lane: timeline.lane, offset: new.datesOffset),
        ].sorted()
        return PlanChanges.StreamChange(
            fromOriginalTransactionId: left.timeline.stream.originalTransactionId,
            toOriginalTransactionId: timeline.stream.originalTransactionId,
            fromBundleProductId: old.bundle?.productId,
            toBundleProductId: new.bundle?.productId,
            fromProductId: old.productId,
            toProductId: new.productId,
            effective: new.purchaseDate,
            previousStatus: status,
            changeClass: judged.changeClass,
            hasSameDuration: judged.hasSameDuration,
            catalogVersion: judged.version,
            positions: positions.first == positions.last
                ? Array(positions.prefix(1)) : positions
        )
    }
}

extension CatalogHistory {
    fileprivate func group(of purchase: Purchase) -> String? {
        if case .value(.text(let group)) = purchase.assertions.state(
            of: .subscriptionGroupIdentifier
        ), !group.isEmpty {
            return group
        }
        return version(at: purchase.purchaseDate)?.subscription(purchase.productId)?
            .subscriptionGroupIdentifier
    }
}
