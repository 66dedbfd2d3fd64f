internal import Events

/// An interval in which a subscription had one customer by a link, and one token.
struct CustomerHolding {
    /// The customer by the link in force; nil if there was none.
    let customer: String?
    /// The token at that time; nil if Apple signed none.
    let appAccountToken: String?
    /// Its first instant; the epoch stands for the first purchase.
    let from: Instant
    /// Its end, exclusive; nil if none is known.
    var to: Instant?
    /// The events it is based on.
    let positions: [Position]
}

extension StreamClaims {
    /// Who had it, from the first purchase on, by start; intervals without an owner are left out.
    var holdings: [CustomerHolding] {
        let held = links.filter { !$0.isContested }
        let changes = Set(
            held.map(\.from) + held.compactMap(\.to) + tokens.dropFirst().map(\.from)
        ).filter { $0 > .epoch }.sorted()
        var found: [CustomerHolding] = []
        let starts = [Instant.epoch] + changes
        for (index, start) in starts.enumerated() {
            let end = index + 1 < starts.count ? starts[index + 1] : nil
            let link = held.first { $0.from <= start && ($0.to.map { start < $0 } ?? true) }
            let token = tokens.last { $0.from <= start } ?? tokens.first
            guard link != nil || token != nil else { continue }
            var citations = Citations()
            citations.cite(link?.offset)
            citations.cite(token?.offset)
            let holding = CustomerHolding(
                customer: link?.customer,
                appAccountToken: token?.token,
                from: start,
                to: end,
                positions: citations.positions(lane: lane)
            )
            if let last = found.last, last.to == start, last.isSame(as: holding) {
                found[found.count - 1].to = end
            } else {
                found.append(holding)
            }
        }
        return found
    }
}

extension CustomerHolding {
    fileprivate func isSame(as other: CustomerHolding) -> Bool {
        func areEqual(_ left: String?, _ right: String?) -> Bool {
            guard let left, let right else { return left == nil && right == nil }
            return byBytes(left, right) == nil
        }
        return areEqual(customer, other.customer)
            && areEqual(appAccountToken, other.appAccountToken)
    }
}
