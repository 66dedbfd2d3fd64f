internal import Events

/// The products that version 1 notifications wish for.
///
/// These are undated: their as-of is the newest purchase's start as long as nothing later had
/// happened (Apple's data: version 1 repetitions).
///
/// Several of one as-of were not made at once, and what bounds them orders them: buying a product
/// sets it to renew, so a wish for another one was made after that.
///
/// The notification at that as-of says so, never the form of the renewal info: that may be kept as
/// a repetition of what another form said, and which of them came first must change no row.
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

    /// The products named at an instant, the current one first; nil where what was said then is
    /// dated, or where nothing was.
    func products(at asOf: Instant, after current: String?) -> [String]? {
        products[asOf].map { named in
            let isCurrent = { (product: String) in
                current.map { byBytes(product, $0) == nil } ?? false
            }
            return named.filter(isCurrent) + named.filter { !isCurrent($0) }
        }
    }
}
