internal import Events

/// An assertion with the key of its fact: of a transaction, or of an announcement about one.
struct KeyedAssertion {
    let assertion: Assertion
    let purchaseDate: Instant
    let expiresDate: Instant
    let productId: String

    /// The subject of a fact.
    struct Key {
        let kind: Kind
        let purchaseDate: Instant
        let expiresDate: Instant

        init(_ fact: Fact) {
            kind = fact.kind
            purchaseDate = fact.purchaseDate
            expiresDate = fact.expiresDate
        }
    }

    /// An assertion of a fact with that key; `productBefore` is the product of the previous one,
    /// which is nearly always the same and then reused.
    init(_ assertion: consuming Assertion, _ key: Key, after productBefore: String?) {
        purchaseDate = key.purchaseDate
        expiresDate = key.expiresDate
        if let productBefore, assertion.content.carries(.productId, productBefore) {
            productId = productBefore
        } else {
            productId = assertion.content.text(.productId) ?? ""
        }
        self.assertion = assertion
    }
}

/// Groups assertions by purchase.
///
/// The unit is the subject of the log (purchase second, expiry second, product), never the single
/// fact: the log stores a repeated fact as a confirmation of fields, so only the assertions about a
/// subject are the same for every order of arrival. A subject belongs to the purchase of its
/// `webOrderLineItemId`; one without joins a subject of the same second and product; otherwise
/// second and product identify the purchase (Apple's data: traps 5 to 7).
struct PurchaseGrouping {
    /// The purchases by start, then in the order in which they replace each other.
    private(set) var purchases: [Purchase] = []

    private var ordered: [KeyedAssertion]
    private var members: [Member] = []

    /// An assertion's place: its purchase, and its index in `ordered`.
    private struct Member {
        let webOrderLineItemId: String
        let family: Int
        let index: Int
    }

    init(_ transactions: [KeyedAssertion]) {
        ordered = transactions.ordered(by: PurchaseGrouping.subjectsAreInOrder)
        members.reserveCapacity(ordered.count)
        purchases.reserveCapacity(ordered.count)
        var start = 0
        while start < ordered.count {
            var end = start + 1
            while end < ordered.count, isSameFamily(start, end) { end += 1 }
            placeFamily(start..<end)
            start = end
        }
        makePurchases()
        purchases = purchases.ordered(by: Purchase.areInOrder)
    }

    private static func subjectsAreInOrder(
        _ left: KeyedAssertion,
        _ right: KeyedAssertion
    ) -> Bool {
        if left.purchaseDate != right.purchaseDate { return left.purchaseDate < right.purchaseDate }
        if let isFirst = byBytes(left.productId, right.productId) { return isFirst }
        return left.expiresDate < right.expiresDate
    }

    private func isSameFamily(_ left: Int, _ right: Int) -> Bool {
        ordered[left].purchaseDate == ordered[right].purchaseDate
            && byBytes(ordered[left].productId, ordered[right].productId) == nil
    }

    // A family is everything asserted about one product bought in one second: one purchase, but for
    // seats, of which several transactions may be bought in it.
    private mutating func placeFamily(_ family: Range<Int>) {
        let neverExpires = ordered[family.lowerBound].expiresDate == Instant(milliseconds: 0)
        if !neverExpires, family.contains(where: { ordered[$0].assertion.isOfSeats }) {
            place(SeatTransactions(ordered[family]), family)
            return
        }
        let first = subject(at: family.lowerBound, in: family)
        if first == family {
            place(first, webOrderLineItemId(of: first), family)
            return
        }
        var subjects: [(range: Range<Int>, webOrderLineItemId: String)] = []
        var start = family.lowerBound
        while start < family.upperBound {
            let subject = subject(at: start, in: family)
            subjects.append((subject, webOrderLineItemId(of: subject)))
            start = subject.upperBound
        }
        let known = subjects.map(\.webOrderLineItemId).filter { !$0.isEmpty }
        let joined = known.min { byBytes($0, $1) ?? false } ?? ""
        for subject in subjects {
            let name = subject.webOrderLineItemId.isEmpty ? joined : subject.webOrderLineItemId
            place(subject.range, name, family)
        }
    }

    // Each transaction is a purchase; those that added seats are put together later. An addition may
    // have the line item of the purchase that it adds to, which no other purchase shares.
    private mutating func place(_ transactions: SeatTransactions, _ family: Range<Int>) {
        let numbers = transactions.numbers
        for number in 0...(numbers.max() ?? 0) {
            let own = family.filter { numbers[$0 - family.lowerBound] == number }
            let name = webOrderLineItemId(of: own)
            for index in own {
                members.append(
                    Member(
                        webOrderLineItemId: name,
                        family: family.lowerBound + number,
                        index: index
                    )
                )
            }
        }
    }

    private func subject(at start: Int, in family: Range<Int>) -> Range<Int> {
        var end = start + 1
        while end < family.upperBound, ordered[start].expiresDate == ordered[end].expiresDate {
            end += 1
        }
        return start..<end
    }

    private mutating func place(_ subject: Range<Int>, _ name: String, _ family: Range<Int>) {
        for index in subject {
            members.append(
                Member(
                    webOrderLineItemId: name,
                    family: name.isEmpty ? family.lowerBound : -1,
                    index: index
                )
            )
        }
    }

    // A placeholder, such as Xcode's "0" for every purchase (Apple's data: Xcode data), identifies
    // none.
    private func webOrderLineItemId(of subject: some Sequence<Int>) -> String {
        var best: (index: Int, id: String)?
        for index in subject {
            guard ordered[index].assertion.fields.contains(.webOrderLineItemId),
                let id = ordered[index].assertion.content.identity(.webOrderLineItemId)
            else { continue }
            if best.map({ outranks(index, $0.index, on: .webOrderLineItemId) }) ?? true {
                best = (index, id)
            }
        }
        return best?.id ?? ""
    }

    private func outranks(_ left: Int, _ right: Int, on field: Field) -> Bool {
        ordered[left].assertion.outranks(ordered[right].assertion, on: field)
    }

    private mutating func makePurchases() {
        members = members.ordered { left, right in
            if let isFirst = byBytes(left.webOrderLineItemId, right.webOrderLineItemId) {
                return isFirst
            }
            if left.family != right.family { return left.family < right.family }
            return Assertions.areInOrder(
                ordered[left.index].assertion,
                ordered[right.index].assertion
            )
        }
        let assertions = members.map { ordered[$0.index].assertion }
        var start = 0
        while start < members.count {
            var end = start + 1
            while end < members.count, members[start].family == members[end].family,
                byBytes(members[start].webOrderLineItemId, members[end].webOrderLineItemId) == nil
            { end += 1 }
            append(members[start..<end], Assertions(inOrder: assertions[start..<end]))
            start = end
        }
    }

    // The latest assertion decides the expiry, or at the same as-of the one with the later expiry.
    // The earliest start counts: a restore may repeat a purchase with a later one (Apple's data:
    // trap 15).
    private mutating func append(_ group: ArraySlice<Member>, _ assertions: Assertions) {
        guard let first = group.first else { return }
        var best = first.index
        var start = ordered[best].purchaseDate
        for member in group.dropFirst() {
            if outranks(member.index, best) { best = member.index }
            start = min(start, ordered[member.index].purchaseDate)
        }
        var productId = ordered[best].productId
        if group.count > 1, case .value(.text(let text)) = assertions.state(of: .productId) {
            productId = text
        }
        purchases.append(
            Purchase(
                purchaseDate: start,
                expiresDate: ordered[best].expiresDate,
                productId: productId,
                webOrderLineItemId: first.webOrderLineItemId,
                assertions: assertions,
                datesOffset: ordered[best].assertion.offset,
                extensions: extensions(in: group)
            )
        )
    }

    // At the same as-of the later expiry counts, as it does for the purchase.
    private func extensions(in group: ArraySlice<Member>) -> [Purchase.Extension] {
        guard let first = group.first.map({ ordered[$0.index].expiresDate }),
            group.contains(where: { ordered[$0.index].expiresDate != first })
        else { return [] }
        var extensions: [Purchase.Extension] = []
        var expiresDate: Instant?
        var start = group.startIndex
        while start < group.endIndex {
            let asOf = ordered[group[start].index].assertion.asOf
            let end = group[start...].firstIndex { ordered[$0.index].assertion.asOf != asOf }
            let tied = group[start..<(end ?? group.endIndex)].map { ordered[$0.index] }
            let decisive = tied.reduce(tied[0]) { outranksByExpiry($1, $0) ? $1 : $0 }
            if let from = expiresDate, from != decisive.expiresDate {
                extensions.append(
                    Purchase.Extension(
                        asOf: asOf,
                        from: from,
                        to: decisive.expiresDate,
                        offset: decisive.assertion.offset
                    )
                )
            }
            expiresDate = decisive.expiresDate
            start = end ?? group.endIndex
        }
        return extensions
    }

    private func outranksByExpiry(_ left: KeyedAssertion, _ right: KeyedAssertion) -> Bool {
        left.expiresDate != right.expiresDate
            ? left.expiresDate > right.expiresDate
            : left.assertion.offset < right.assertion.offset
    }

    private func outranks(_ left: Int, _ right: Int) -> Bool {
        let (mine, theirs) = (ordered[left], ordered[right])
        if mine.assertion.asOf != theirs.assertion.asOf {
            return mine.assertion.asOf > theirs.assertion.asOf
        }
        if mine.expiresDate != theirs.expiresDate { return mine.expiresDate > theirs.expiresDate }
        if mine.purchaseDate != theirs.purchaseDate {
            return mine.purchaseDate > theirs.purchaseDate
        }
        return mine.assertion.offset < theirs.assertion.offset
    }
}

extension Purchase {
    // Of two purchases in the same second, the one with Apple's later id remains; without ids the
    // one that is not marked as upgraded, then the one with the greater product name (Apple's data:
    // trap 40). The mark comes after the ids, because the remaining one may have been upgraded
    // later.
    fileprivate static func areInOrder(_ left: Purchase, _ right: Purchase) -> Bool {
        if left.purchaseDate != right.purchaseDate { return left.purchaseDate < right.purchaseDate }
        let (mine, theirs) = (left.webOrderLineItemId, right.webOrderLineItemId)
        // Ids are text, but Apple assigns them in ascending order: the longer one is the later one.
        if mine.utf8.count != theirs.utf8.count { return mine.utf8.count < theirs.utf8.count }
        if let isFirst = byBytes(mine, theirs) { return isFirst }
        if left.isUpgraded != right.isUpgraded { return left.isUpgraded }
        return byBytes(left.productId, right.productId) ?? false
    }
}
