internal import Events

/// The cause that ends a purchase before its natural end.
struct Cut {
    let at: Instant
    /// Index of the purchase that replaces it; nil if Apple marked the purchase as upgraded and the
    /// successor is not known.
    let successor: Int?

    /// The furthest distance, in milliseconds, between the date of a refund and the start of the
    /// successor at which the refund is for the rest of the replaced period: a minute.
    ///
    /// Apple dates it a few seconds after, two in a sample (Apple's data: trap 9).
    static let refundWindow: Int64 = 60_000

    /// Whether a refund with that date is for the rest of the period that was replaced here.
    func isReplacement(refundedAt date: Instant) -> Bool {
        successor != nil && abs(date.milliseconds - at.milliseconds) <= Cut.refundWindow
    }
}

extension Timeline {
    private static let cutsKey = FoldMemo.Key<[Cut?]>()

    /// For each purchase, what replaces it: the next start, or a purchase in the same second.
    var cuts: [Cut?] {
        once(Timeline.cutsKey) { foldedCuts }
    }

    private var foldedCuts: [Cut?] {
        var cuts = [Cut?](repeating: nil, count: purchases.count)
        var next: Cut?
        var last = purchases.count - 1
        for index in purchases.indices.reversed() {
            if purchases[index].purchaseDate != purchases[last].purchaseDate {
                next = Cut(at: purchases[last].purchaseDate, successor: last)
                last = index
            }
            let own = Cut(at: purchases[index].purchaseDate, successor: last)
            let cut = index == last ? next : own
            if let cut, cut.at < purchases[index].expiresDate { cuts[index] = cut }
        }
        return cuts
    }
}
