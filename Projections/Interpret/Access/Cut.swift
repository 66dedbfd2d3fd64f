internal import Events

/// The cause that ends a purchase before its natural end.
struct Cut {
    let at: Instant
    /// Index of the purchase that replaces it; nil if Apple marked the purchase as upgraded and the
    /// successor is not known.
    let successor: Int?
    /// When that purchase began: `at`, or earlier for a purchase that was overtaken.
    let replaced: Instant

    init(at: Instant, successor: Int?, replaced: Instant? = nil) {
        self.at = at
        self.successor = successor
        self.replaced = replaced ?? at
    }

    /// The furthest distance, in milliseconds, between the date of a refund and the start of the
    /// successor at which the refund is for the rest of the replaced period: a minute.
    ///
    /// Apple dates it a few seconds after, two in a sample (Apple's data: trap 9).
    static let refundWindow: Int64 = 60_000

    /// Whether a revocation only takes back the rest of the period that was replaced here: by its
    /// date, and because Apple marked the purchase as upgraded or gave the revocation no type of a
    /// refund (Apple's data: traps 9, 43).
    ///
    /// `type` is Apple's `revocationType`; nil if it was not stated.
    func isReplacement(of purchase: Purchase, revokedAt date: Instant, type: String?) -> Bool {
        let isNear = [at, replaced].contains {
            abs(date.milliseconds - $0.milliseconds) <= Cut.refundWindow
        }
        guard successor != nil, isNear else { return false }
        // The end of a sharing is not a refund.
        return purchase.isUpgraded || type.map { Sharing(revocationType: $0) != nil } ?? true
    }
}

extension Timeline {
    private static let cutsKey = FoldMemo.Key<[Cut?]>()

    /// For each purchase, what replaces it: the next start, or a purchase in the same second.
    ///
    /// A purchase that was overtaken, or revoked before it began, replaces nothing; an assigned seat
    /// replaces nothing that was bought, and the other way round.
    var cuts: [Cut?] {
        once(Timeline.cutsKey) { foldedCuts }
    }

    private var foldedCuts: [Cut?] {
        var cuts = [Cut?](repeating: nil, count: purchases.count)
        // For each course, the purchase that remains of the next second, and of the one after that.
        var later: [(last: Int?, next: Int?)] = [(nil, nil), (nil, nil)]
        let succession = self.succession
        for index in purchases.indices.reversed() {
            let course = succession.course(of: index)
            var (last, next) = later[course]
            defer { later[course] = (last, next) }
            let start = purchases[index].purchaseDate
            if let overtaker = succession.overtaker(of: index) {
                let replaced = purchases[overtaker].purchaseDate
                cuts[index] = Cut(at: start, successor: overtaker, replaced: replaced)
                continue
            }
            if let known = last, start != purchases[known].purchaseDate {
                (last, next) = (nil, known)
            }
            let cut = (last ?? next).map { Cut(at: purchases[$0].purchaseDate, successor: $0) }
            if let cut, cut.at < purchases[index].expiresDate { cuts[index] = cut }
            if last == nil, !purchases[index].isRevokedBeforeStart { last = index }
        }
        return cuts
    }
}
