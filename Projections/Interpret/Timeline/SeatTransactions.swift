internal import Events

/// Tells transactions of seats apart that have one product and one start, as a purchase and seats
/// added in the same second, or the seats of the owner and one assigned to them.
///
/// These are one subject of the log, but several payments. A restore repeats a transaction under
/// another id (Apple's data: trap 4), so the id alone does not tell. Two statements are about one
/// transaction if they have the same id; or the same line item, or none in one of them, and equal
/// terms: owner or member, number of seats, average price, tiers (Decisions: seats as one period).
struct SeatTransactions {
    /// For each assertion, in order, the number of its transaction.
    let numbers: [Int]

    /// The transactions of these assertions, all about one product bought in one second.
    init(_ family: ArraySlice<KeyedAssertion>) {
        var statements: [Int64: SeatStatement] = [:]
        for keyed in family where statements[keyed.assertion.offset] == nil {
            statements[keyed.assertion.offset] = SeatStatement(keyed.assertion)
        }
        let transactions = SeatTransactions.divided(Array(statements.values))
        guard transactions.count > 1 else {
            numbers = family.map { _ in 0 }
            return
        }
        var ofOffset: [Int64: Int] = [:]
        for (number, transaction) in transactions.enumerated() {
            for statement in transaction { ofOffset[statement.offset] = number }
        }
        let ofRepetition = SeatTransactions.repeated(family, transactions)
        numbers = family.map { keyed in
            let own = ofOffset[keyed.assertion.offset] ?? 0
            return keyed.assertion.isComplete ? own : ofRepetition[keyed.assertion.asOf] ?? own
        }
    }

    // By the id first, then by the terms; statements with a line item come first, because one
    // without joins the first transaction that it fits.
    private static func divided(_ statements: [SeatStatement]) -> [[SeatStatement]] {
        var transactions: [[SeatStatement]] = []
        for statement in statements.sorted(by: { $0.isBefore($1) }) {
            let index =
                transactions.firstIndex { $0.contains(where: statement.hasSameId) }
                ?? transactions.firstIndex { $0.contains(where: statement.hasSameTerms) }
            if let index {
                transactions[index].append(statement)
            } else {
                transactions.append([statement])
            }
        }
        return transactions
    }

    // The log keeps a repeated statement as repetitions of fields, which may cite events about
    // several transactions if these agree on a field. Together they state whose they are.
    private static func repeated(
        _ family: ArraySlice<KeyedAssertion>,
        _ transactions: [[SeatStatement]]
    ) -> [Instant: Int] {
        var found: [Instant: Int] = [:]
        let parts = Dictionary(
            grouping: family.map(\.assertion).filter { !$0.isComplete },
            by: \.asOf
        )
        for (asOf, parts) in parts {
            let fitting = transactions.indices.filter { number in
                parts.allSatisfy { part in
                    SeatStatement.telling.allSatisfy { field in
                        !part.fields.contains(field)
                            || transactions[number].contains {
                                $0.content.state(of: field) == part.content.state(of: field)
                            }
                    }
                }
            }
            if let number = fitting.first, fitting.count == 1 { found[asOf] = number }
        }
        return found
    }
}

/// What one event states about the identity of a transaction of seats.
private struct SeatStatement {
    let offset: Int64
    let content: Content
    // Empty if not stated.
    private let transactionId: String
    private let lineItem: String
    // Nil if not stated.
    private let isAssigned: Bool?
    private let quantity: Int64?
    private let price: Int64?
    private let tiers: [Seats.PriceTier]

    /// The fields that tell transactions apart.
    static let telling: [Field] = [
        .webOrderLineItemId, .inAppOwnershipType, .quantity, .price, .extra,
    ]

    init(_ assertion: Assertion) {
        offset = assertion.offset
        content = assertion.content
        transactionId = content.text(.transactionId) ?? ""
        lineItem = content.identity(.webOrderLineItemId) ?? ""
        isAssigned = content.text(.inAppOwnershipType).map {
            Sharing(ownershipType: $0) == .assigned
        }
        quantity = content.integer(.quantity)
        price = content.integer(.price)
        tiers =
            content.text(.extra).flatMap { Seats(ExtraObject($0), quantity: nil) }?.priceTiers ?? []
    }

    func hasSameId(_ other: SeatStatement) -> Bool {
        !transactionId.isEmpty && byBytes(transactionId, other.transactionId) == nil
    }

    func hasSameTerms(_ other: SeatStatement) -> Bool {
        func agree<Value: Equatable>(_ left: Value?, _ right: Value?) -> Bool {
            left == nil || right == nil || left == right
        }
        let isSameItem =
            lineItem.isEmpty || other.lineItem.isEmpty || byBytes(lineItem, other.lineItem) == nil
        return isSameItem && agree(isAssigned, other.isAssigned)
            && agree(quantity, other.quantity) && agree(price, other.price)
            && (tiers.isEmpty || other.tiers.isEmpty || tiers == other.tiers)
    }

    // Ids are text, but Apple assigns them in ascending order: the longer one is the later one.
    func isBefore(_ other: SeatStatement) -> Bool {
        if lineItem.isEmpty != other.lineItem.isEmpty { return !lineItem.isEmpty }
        for (mine, theirs) in [
            (lineItem, other.lineItem), (transactionId, other.transactionId),
        ] {
            if mine.utf8.count != theirs.utf8.count { return mine.utf8.count < theirs.utf8.count }
            if let isFirst = byBytes(mine, theirs) { return isFirst }
        }
        return content.canonicalBytes.lexicographicallyPrecedes(other.content.canonicalBytes)
    }
}

extension Assertion {
    /// Whether it states everything that its event does, and so whose it is.
    var isComplete: Bool { fields == content.asserted }
}
