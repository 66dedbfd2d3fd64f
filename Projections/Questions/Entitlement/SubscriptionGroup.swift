public import Events

/// The products of which a customer has at most one at a time, as far as it is known.
///
/// Groups run in parallel (Apple's data: trap 36). Payloads of old formats do not name the group.
public enum SubscriptionGroup: Sendable {
    /// Apple's `subscriptionGroupIdentifier`.
    case identified(String)
    /// No format named the group of this stream, so it is a group of its own.
    case ofStream(StreamID)
}

// Identifiers are equal if their bytes are; Swift treats more texts as equal than that.
extension SubscriptionGroup: Comparable, Hashable {
    /// Identified groups by their bytes, then streams by theirs.
    public static func < (left: SubscriptionGroup, right: SubscriptionGroup) -> Bool {
        switch (left, right) {
        case (.identified(let one), .identified(let other)): byBytes(one, other) ?? false
        case (.identified, .ofStream): true
        case (.ofStream, .identified): false
        case (.ofStream(let one), .ofStream(let other)): one < other
        }
    }

    /// Whether neither sorts before the other.
    public static func == (left: SubscriptionGroup, right: SubscriptionGroup) -> Bool {
        !(left < right) && !(right < left)
    }

    /// Hashes the bytes of the identifier.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .identified(let identifier): for byte in identifier.utf8 { hasher.combine(byte) }
        case .ofStream(let stream):
            for byte in stream.originalTransactionId.utf8 { hasher.combine(byte) }
        }
    }
}

extension SubscriptionGroup: CustomStringConvertible {
    /// The identifier, or the id of the stream that stands for an unnamed group.
    public var description: String {
        switch self {
        case .identified(let identifier): identifier
        case .ofStream(let stream): "of \(stream.originalTransactionId)"
        }
    }
}

/// Finds the group of each purchase of one stream.
///
/// Apple's statement about the purchase counts; otherwise its statements about the others, if they
/// name a single group, because a subscription stays in its group (Apple's data: traps 2, 23);
/// otherwise the catalog's entry for the product; otherwise the stream is its own group.
struct GroupFinder {
    private let stream: StreamID
    private let common: SubscriptionGroup?
    private let catalogs: CatalogHistory

    init(_ timeline: Timeline, _ catalogs: CatalogHistory) {
        stream = timeline.stream
        self.catalogs = catalogs
        var named: SubscriptionGroup?
        var isOne = true
        for purchase in timeline.purchases {
            guard let group = purchase.namedGroup else { continue }
            if let named, named != group { isOne = false }
            named = group
        }
        common = isOne ? named : nil
    }

    /// The group of a purchase of the stream.
    func group(of purchase: Purchase) -> SubscriptionGroup {
        purchase.namedGroup ?? common
            ?? group(ofProduct: purchase.productId, at: purchase.purchaseDate)
    }

    /// The group of a stream without a known purchase, by the product it renews.
    func group(ofProduct productId: String, at instant: Instant) -> SubscriptionGroup {
        catalogs.version(at: instant)?.subscription(productId)
            .map { .identified($0.subscriptionGroupIdentifier) } ?? .ofStream(stream)
    }
}

extension Purchase {
    fileprivate var namedGroup: SubscriptionGroup? {
        guard
            case .value(.text(let identifier)) = assertions.state(of: .subscriptionGroupIdentifier),
            !identifier.isEmpty
        else { return nil }
        return .identified(identifier)
    }
}
