/// The class of every change within every group of a catalog, for the operator to check the levels.
package struct PlanChangeMatrix: Hashable, Sendable {
    /// One group.
    package struct Group: Hashable, Sendable {
        /// Apple's identifier of the group.
        package let subscriptionGroupIdentifier: String
        /// Its reference name; nil if the catalog does not state it.
        package let name: String?
        /// Its subscriptions by level, then by product id.
        package let subscriptions: [ProductCatalog.Subscription]

        /// All changes from one of its subscriptions to another.
        package var changes: [Change] {
            subscriptions.flatMap { from in
                subscriptions.filter { $0 != from }.map { change(from: from, to: $0) }
            }
        }

        /// A change between two of its subscriptions.
        package func change(
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
    package struct Change: Codable, Hashable, Sendable {
        /// The group of both products.
        package let subscriptionGroupIdentifier: String
        /// The old product.
        package let from: String
        /// The new product.
        package let to: String
        /// Its class.
        package let kind: PlanChangeClass
        /// Whether their periods have the same length.
        package let sameDuration: Bool
        /// When Apple carries it out.
        package let takesEffect: Effect

        /// When Apple carries out a change.
        package enum Effect: String, Codable, Sendable {
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
    package let groups: [Group]

    /// All changes, group by group.
    package var changes: [Change] { groups.flatMap(\.changes) }

    /// The changes of a catalog.
    package init(_ catalog: ProductCatalog) {
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
