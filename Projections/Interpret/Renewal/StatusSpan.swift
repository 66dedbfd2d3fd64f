internal import Events

/// A stretch of time with one status, before it is known what else changes within.
struct StatusSpan {
    let from: Instant
    /// Nil until further notice; only the last span of a subscription has none.
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
    /// Whether the App Store made it, and not the customer (Apple's data: transactions).
    var isRenewal: Bool {
        state(of: .transactionReason) == .value(.text("RENEWAL"))
    }
}

extension [Purchase] {
    /// Those of one second; by binary search, for purchases are in the order of their start.
    subscript(startingAt start: Instant) -> ArraySlice<Purchase> {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].purchaseDate < start { low = middle + 1 } else { high = middle }
        }
        return self[low...].prefix { $0.purchaseDate == start }
    }
}
