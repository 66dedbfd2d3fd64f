internal import Events

/// The products that version 1 notifications request.
///
/// These are undated: their as-of is the newest purchase's start as long as nothing later had
/// happened (Apple's data: version 1 repetitions).
///
/// Several with one as-of were not made at once, and are ordered by what bounds them: buying a
/// product sets it to renew, so a request for another one was made after that.
///
/// The notification at that as-of decides this, never the format of the renewal info: that may be
/// stored as a repetition of what another format stated, and which of them came first must not
/// change any row.
struct UndatedRequests {
    // By as-of, each product once, by bytes.
    private var products: [Instant: [String]] = [:]

    init(_ timeline: Timeline) {
        let undated = Set(
            timeline.announcements.lazy.filter { $0.assertion.content.format.isUndated }
                .map(\.assertion.asOf)
        )
        for assertion in timeline.renewals.sorted {
            guard assertion.fields.contains(.autoRenewProductId),
                undated.contains(assertion.asOf),
                let product = assertion.content.text(.autoRenewProductId), !product.isEmpty
            else { continue }
            var named = products[assertion.asOf, default: []]
            guard !named.contains(where: { byBytes($0, product) == nil }) else { continue }
            named.append(product)
            products[assertion.asOf] = named.ordered { byBytes($0, $1) ?? false }
        }
    }

    /// The products named at an instant, the current one first; nil if the statements at that
    /// instant are dated, or if there are none.
    func products(at asOf: Instant, after current: String?) -> [String]? {
        products[asOf].map { named in
            let isCurrent = { (product: String) in
                current.map { byBytes(product, $0) == nil } ?? false
            }
            return named.filter(isCurrent) + named.filter { !isCurrent($0) }
        }
    }
}
