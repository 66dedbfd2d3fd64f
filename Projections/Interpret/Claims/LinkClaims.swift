internal import Events

/// Interprets links as claims, one after the other on the operator's clock.
///
/// A link holds until an unlink. A link to another customer in the meantime contests it and moves
/// nothing: ownership changes only if an operator unlinks it first, not by the order of arrival
/// (Apple's data: trap 37). At the same instant the unlink sorts first, so an unlink and a link at
/// the same instant are a transfer; of several customers at the same instant, the greatest by UTF-8
/// has it, as in `Assertion.outranks`.
struct LinkClaims {
    /// All claims by start; at the same start the one in force first, then by customer.
    private(set) var claims: [LinkClaim] = []

    private var holder: Open?
    private var contests: [Open] = []

    /// A claim that has not ended yet.
    private struct Open {
        let customer: String
        let from: Instant
        let assertion: Assertion
    }

    init(_ links: Assertions) {
        let sorted = links.sorted
        var start = sorted.startIndex
        while start < sorted.endIndex {
            var end = start + 1
            while end < sorted.endIndex, sorted[end].asOf == sorted[start].asOf { end += 1 }
            take(sorted[start..<end])
            start = end
        }
        close(at: nil, offset: nil)
        claims.sort { left, right in
            if left.from != right.from { return left.from < right.from }
            if left.isContested != right.isContested { return right.isContested }
            return byBytes(left.customer, right.customer) ?? false
        }
    }

    // All statements of one instant; if one was made twice, the lowest offset is cited.
    private mutating func take(_ stated: ArraySlice<Assertion>) {
        let known = stated.filter { $0.fields.contains(.customerId) }
        let unlinks = known.filter { $0.content.text(.customerId) == nil }
        if let first = unlinks.min(by: { $0.offset < $1.offset }) {
            close(at: first.asOf, offset: first.offset)
        }
        let named = known.compactMap { assertion in
            assertion.content.identity(.customerId).map { ($0, assertion) }
        }
        let ordered = named.sorted { left, right in
            byBytes(right.0, left.0) ?? (left.1.offset < right.1.offset)
        }
        for (customer, assertion) in ordered {
            let claim = Open(customer: customer, from: assertion.asOf, assertion: assertion)
            guard let holder else {
                self.holder = claim
                continue
            }
            guard byBytes(holder.customer, customer) != nil,
                !contests.contains(where: { byBytes($0.customer, customer) == nil })
            else { continue }
            contests.append(claim)
        }
    }

    private mutating func close(at end: Instant?, offset: Int64?) {
        guard let held = holder else { return }
        func add(_ open: Open, contests: String?) {
            claims.append(
                LinkClaim(
                    customer: open.customer,
                    from: open.from,
                    to: end,
                    statedBy: open.assertion.content.text(.linkedBy) ?? "",
                    reason: open.assertion.content.text(.linkReason) ?? "",
                    offset: open.assertion.offset,
                    endOffset: offset,
                    contests: contests
                )
            )
        }
        add(held, contests: nil)
        for contest in contests { add(contest, contests: held.customer) }
        (holder, contests) = (nil, [])
    }
}
