internal import Events

/// Finds the access that billing grace adds after a purchase: an overlay from renewal snapshots.
///
/// A snapshot is about the purchases that expire on its `renewalDate`; without one, about those
/// with the greatest expiry not after its as-of. The grace ends with the date Apple set (never
/// computed), with the next purchase, or with the first later snapshot that knows no grace or no
/// auto-renewal any more (app-store.md §G-20 to §G-22).
struct GracePeriods {
    private let purchases: [Purchase]
    // By the expiry they are about, then by as-of.
    private let snapshots: [(expiresDate: Instant, snapshot: RenewalSnapshot)]

    /// Nil where no snapshot tells of any grace: the common case, at no cost.
    init?(_ timeline: Timeline) {
        guard timeline.tellsOfGrace else { return nil }
        purchases = timeline.purchases
        let expiries = purchases.map(\.expiresDate).sorted()
        snapshots = timeline.renewalSnapshots.compactMap { snapshot in
            let anchor = snapshot.renewalDate ?? expiries.last(notAfter: snapshot.asOf)
            return anchor.map { ($0, snapshot) }
        }.sorted { left, right in
            (left.0, left.1.asOf) < (right.0, right.1.asOf)
        }
    }

    /// The end of the grace after the purchase at that index, which ran out by itself; nil where
    /// there is none, or where nothing of it is left.
    func end(after index: Int, citing citations: inout Citations) -> Instant? {
        let expiresDate = purchases[index].expiresDate
        var graceOffset: Int64?
        var end = expiresDate
        var ending: (at: Instant, offset: Int64?)?
        let first = snapshots.partitioningIndex { $0.expiresDate >= expiresDate }
        for (anchor, snapshot) in snapshots[first...] {
            guard anchor == expiresDate else { break }
            if graceOffset != nil, ending == nil {
                ending = snapshot.ending.map { (snapshot.asOf, $0) }
            }
            if case .value(.instant(let date)) = snapshot.gracePeriodExpiresDate {
                (graceOffset, end) = (snapshot.gracePeriodOffset, date)
            }
        }
        guard let graceOffset else { return nil }
        citations.cite(graceOffset)
        if let ending, ending.at < end {
            end = ending.at
            ending.offset.map { citations.cite($0) }
        }
        if let next = next(after: index), next.purchaseDate < end {
            end = next.purchaseDate
            citations.cite(next.firstOffset)
        }
        return end > expiresDate ? end : nil
    }

    private func next(after index: Int) -> Purchase? {
        let expiresDate = purchases[index].expiresDate
        var next = purchases.partitioningIndex { $0.purchaseDate >= expiresDate }
        if next == index { next += 1 }
        return next < purchases.endIndex ? purchases[next] : nil
    }
}

extension Timeline {
    /// Whether Apple ever told of a billing grace period.
    var tellsOfGrace: Bool {
        renewals.sorted.contains { assertion in
            assertion.fields.contains(.gracePeriodExpiresDate)
                && assertion.content.carried.contains(.gracePeriodExpiresDate)
        }
    }
}

extension RenewalSnapshot {
    // The offset of the event by which a grace is over; nil where the snapshot does not end one.
    fileprivate var ending: Int64?? {
        if gracePeriodExpiresDate == .none { return .some(gracePeriodOffset) }
        return autoRenewStatus == 0 ? .some(autoRenewStatusOffset) : nil
    }
}

extension RandomAccessCollection where Index == Int {
    // Binary search: the first index whose element, and all after it, belong to the second part.
    fileprivate func partitioningIndex(_ belongsToSecond: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if belongsToSecond(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension [Instant] {
    fileprivate func last(notAfter instant: Instant) -> Instant? {
        let next = partitioningIndex { $0 > instant }
        return next > startIndex ? self[next - 1] : nil
    }
}
