/// The class of every change within every group of a catalog, for the operator to check the levels.
public struct PlanChangeMatrix: Hashable, Sendable {
    /// One group.
    public struct Group: Hashable, Sendable {
        /// Apple's identifier of the group.
        public let subscriptionGroupIdentifier: String
        /// Its reference name; nil if the catalog does not state it.
        public let name: String?
        /// Its subscriptions by level, then by product id.
        public let subscriptions: [ProductCatalog.Subscription]

        /// All changes from one of its subscriptions to another.
        public var changes: [Change] {
            subscriptions.flatMap { from in
                subscriptions.filter { $0 != from }.map { change(from: from, to: $0) }
            }
        }

        /// A change between two of its subscriptions.
        public func change(
            from: ProductCatalog.Subscription,
            to: ProductCatalog.Subscription
        ) -> Change {
            let sameDuration = from.duration == to.duration
            let kind = PlanChangeClass(from: from, to: to)
            let isImmediate = kind.isImmediate(sameDuration: sameDuration) ?? false
            return Change(
                subscriptionGroupIdentifier: subscriptionGroupIdentifier,
                from: from.productId,
                to: to.productId,
                kind: kind,
                sameDuration: sameDuration,
                takesEffect: isImmediate ? .now : .nextRenewal
            )
        }
    }

    /// A change from one product to another, as documents show it.
    public struct Change: Codable, Hashable, Sendable {
        /// The group of both products.
        public let subscriptionGroupIdentifier: String
        /// The old product.
        public let from: String
        /// The new product.
        public let to: String
        /// Its class.
        public let kind: PlanChangeClass
        /// Whether their periods have the same length.
        public let sameDuration: Bool
        /// When Apple carries it out.
        public let takesEffect: Effect

        /// When Apple carries out a change.
        public enum Effect: String, Codable, Sendable {
            /// At once.
            case now
            /// At the next renewal.
            case nextRenewal
        }

        private enum CodingKeys: String, CodingKey {
            case subscriptionGroupIdentifier, from, to, sameDuration, takesEffect
            case kind = "class"
        }
    }

    /// The groups, by identifier in order of UTF-8 bytes.
    public let groups: [Group]

    /// All changes, group by group.
    public var changes: [Change] { groups.flatMap(\.changes) }

    /// The changes of a catalog.
    public init(_ catalog: ProductCatalog) {
        let sorted = catalog.subscriptions.sorted { left, right in
            let order = byBytes(
                left.subscriptionGroupIdentifier,
                right.subscriptionGroupIdentifier
            )
            if let order { return order }
            if left.level != right.level { return left.level < right.level }
            return byBytes(left.productId, right.productId) ?? false
        }

        var groups: [[ProductCatalog.Subscription]] = []
        for subscription in sorted {
            if let last = groups.last?.last,
                byBytes(
                    last.subscriptionGroupIdentifier,
                    subscription.subscriptionGroupIdentifier
                ) == nil
            {
                groups[groups.count - 1].append(subscription)
            } else {
                groups.append([subscription])
            }
        }

        self.groups = groups.map { members in
            Group(
                subscriptionGroupIdentifier: members.first?.subscriptionGroupIdentifier ?? "",
                name: members.lazy.compactMap(\.groupName).first,
                subscriptions: members
            )
        }
    }
}
