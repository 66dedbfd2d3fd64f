public import Events

/// What an app sells, as the operator imported it once: one version, never changed.
public struct ProductCatalogue: Hashable, Sendable {
    /// The version's number, from 1.
    public let version: Int
    /// The first instant it holds for.
    public let effectiveFrom: Instant
    /// Its subscriptions, by product id in UTF-8 bytes.
    public let subscriptions: [Subscription]

    /// A subscription product.
    public struct Subscription: Hashable, Sendable {
        /// Apple's identifier of the product.
        public let productId: String
        /// The group; a customer has at most one running subscription in each.
        public let subscriptionGroupIdentifier: String
        /// The rank in its group, 1 for the most service (app-store.md §G-23: not price, not
        /// length).
        public let level: Int
        /// The length of a period at the standard price.
        public let duration: SubscriptionPeriod

        /// A product of these values.
        public init(
            productId: String,
            subscriptionGroupIdentifier: String,
            level: Int,
            duration: SubscriptionPeriod
        ) {
            self.productId = productId
            self.subscriptionGroupIdentifier = subscriptionGroupIdentifier
            self.level = level
            self.duration = duration
        }
    }

    /// A version of these products, in whatever order they come.
    public init(version: Int, effectiveFrom: Instant, subscriptions: [Subscription]) {
        self.version = version
        self.effectiveFrom = effectiveFrom
        self.subscriptions = subscriptions.sorted {
            byBytes($0.productId, $1.productId) ?? false
        }
    }

    /// The subscription of that product id; nil where the catalogue does not know it.
    public func subscription(_ productId: String) -> Subscription? {
        var (low, high) = (subscriptions.startIndex, subscriptions.endIndex)
        while low < high {
            let middle = (low + high) / 2
            guard let isBefore = byBytes(subscriptions[middle].productId, productId) else {
                return subscriptions[middle]
            }
            if isBefore { low = middle + 1 } else { high = middle }
        }
        return nil
    }
}

/// The length of a subscription period, in Apple's units.
public struct SubscriptionPeriod: Hashable, Sendable {
    /// The unit: `P7D` and `P1W` are one length, `P12M` and `P1Y` another.
    public enum Unit: Sendable {
        /// A day; weeks are kept as seven.
        case day
        /// A month; years are kept as twelve.
        case month
    }

    /// How many units.
    public let count: Int
    /// Which unit.
    public let unit: Unit

    /// The period an ISO 8601 duration names: `P1W`, `P1M`, `P3M`, `P1Y` …; nil for anything else.
    public init?(_ text: String) {
        guard text.utf8.first == UInt8(ascii: "P"), let last = text.last,
            let count = Int(text.dropFirst().dropLast()), count > 0, count <= 1000
        else { return nil }
        switch last {
        case "D": (self.count, unit) = (count, .day)
        case "W": (self.count, unit) = (count * 7, .day)
        case "M": (self.count, unit) = (count, .month)
        case "Y": (self.count, unit) = (count * 12, .month)
        default: return nil
        }
    }
}

extension SubscriptionPeriod: CustomStringConvertible {
    /// ISO 8601, in the greatest unit that holds it: `P1W`, `P1M`, `P1Y`.
    public var description: String {
        switch unit {
        case .day: count % 7 == 0 ? "P\(count / 7)W" : "P\(count)D"
        case .month: count % 12 == 0 ? "P\(count / 12)Y" : "P\(count)M"
        }
    }
}
