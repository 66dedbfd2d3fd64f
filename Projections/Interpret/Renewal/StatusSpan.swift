internal import Events

/// An interval with one status, before it is split by other changes.
struct StatusSpan {
    let from: Instant
    /// Nil until further notice, which is possible only for the last span of a subscription.
    let to: Instant?
    let status: SubscriptionStatus
    let citations: Citations
}

extension Timeline {
    private static let spansKey = FoldMemo.Key<[StatusSpan]>()

    /// The statuses, one after the other.
    var statusSpans: [StatusSpan] {
        once(Timeline.spansKey) { StatusSpans(withEveryStatus).spans }
    }
}

extension Purchase {
    /// Whether the App Store made the purchase rather than the customer (Apple's data:
    /// transactions).
    var isRenewal: Bool {
        state(of: .transactionReason) == .value(.text("RENEWAL"))
    }
}

extension [Purchase] {
    /// The purchases of one second; uses binary search, because purchases are ordered by start.
    subscript(startingAt start: Instant) -> ArraySlice<Purchase> {
        let first = partitioningIndex { $0.purchaseDate >= start }
        return self[first...].prefix { $0.purchaseDate == start }
    }
}
