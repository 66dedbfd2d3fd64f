import Events

/// Seats and bundles, so few and small that additions, refunds and members collide.
extension RandomFacts {
    /// What Apple never changes about a transaction of seats: its id, line item, owner, seats and
    /// their prices.
    private struct Transaction {
        let number: Int
        let lineItem: String?
        var owner: String?
        let quantity: Int64
        let price: Int64?
        var tiers: String?
    }

    // Two additions of one line item, two that differ in nothing else, a restore without a line
    // item, a member, and a member of the family.
    private static let transactions = [
        Transaction(number: 1, lineItem: "1", quantity: 8, price: 990, tiers: tiers(990, 8)),
        Transaction(number: 2, lineItem: "1", quantity: 4, price: 100),
        Transaction(number: 3, lineItem: "2", quantity: 4, price: 100),
        Transaction(number: 4, lineItem: nil, quantity: 8, price: 990, tiers: tiers(990, 8)),
        Transaction(number: 5, lineItem: "3", owner: "ASSIGNED", quantity: 7, price: 990),
        Transaction(number: 6, lineItem: "4", owner: "FAMILY_SHARED", quantity: 4, price: 100),
        Transaction(
            number: 7,
            lineItem: "5",
            quantity: 5,
            price: 394,
            tiers: tiers(990, 1, 245, 4)
        ),
        Transaction(number: 8, lineItem: "6", quantity: 1, price: nil),
    ]

    // Its total does not fit into 64 bits.
    private static let hugeTransaction = Transaction(
        number: 9,
        lineItem: "7",
        quantity: .max,
        price: 990
    )

    private static func tiers(_ numbers: Int64...) -> String {
        stride(from: 0, to: numbers.count, by: 2).map {
            "{\"price\":\(numbers[$0]),\"quantity\":\(numbers[$0 + 1])}"
        }.joined(separator: ",")
    }

    /// Facts about one subscription in which every purchase has seats, and only those details that
    /// are about seats.
    mutating func seatFacts(_ count: Int) -> [Fact] {
        (0..<count).map { _ in seatFact(RandomFacts.streams[0]) }
    }

    /// A transaction of seats; one of them is not stated as of the same instant as another.
    mutating func seatFact(_ stream: StreamID, isHuge: Bool = false) -> Fact {
        let bought = isHuge ? RandomFacts.hugeTransaction : pick(RandomFacts.transactions)
        var content = Content(format: transactionFormat())
        content[.productId] = pick([.text("s"), .text("s"), .text("s"), .text("u")])
        content[.transactionId] = .text("t\(bought.number)")
        content[.webOrderLineItemId] = bought.lineItem.map { .text($0) }
        content[.quantity] = .integer(bought.quantity)
        if content.format == .signedTransaction {
            content[.inAppOwnershipType] = .text(bought.owner ?? "PURCHASED")
            content[.price] = bought.price.map { .integer($0) }
            addSeats(of: bought, to: &content)
            if chance(6) { content[.isUpgraded] = .boolean(true) }
        }
        if chance(4) {
            content[.revocationDate] = pick([.instant(day(2)), .instant(day(4))])
            content[.revocationReason] = pick([nil, .integer(0), .integer(2)])
            content[.revocationType] = pick([
                nil, .text("REFUND_FULL"), .text("ASSIGNMENT_REVOKE"),
            ])
        }
        let key = key()
        let end = key.end ?? Instant(milliseconds: key.start.milliseconds + 86_400_000)
        let made = fact(stream, .transaction, key.start, end, content)
        return Fact(
            stream: stream,
            bundleId: made.bundleId,
            kind: .transaction,
            purchaseDate: key.start,
            expiresDate: end,
            asOf: Instant(milliseconds: made.asOf.milliseconds + Int64(bought.number) * 10),
            content: content
        )
    }

    // Seats of a purchase, of an addition or of a member, some taken back; some in a bundle.
    private mutating func addSeats(of bought: Transaction, to content: inout Content) {
        let (quantity, owner) = (bought.quantity, bought.owner)
        var info = "\"invitationManagement\":\"\(pick(["APPLE", "DEVELOPER"]))\""
        info += bought.tiers.map { ",\"priceTiers\":[\($0)]" } ?? ""
        let taken = owner == nil ? pick([nil, nil, 0, 1, quantity]) : nil
        info += taken.map { ",\"revokedSeatQuantity\":\($0)" } ?? ""
        let reason = pick(["", "\"additionalTransactionReason\":\"SEAT_ADDITION\","])
        let bundle = chance(5) ? "\"bundleProductId\":\"suite\"," : ""
        content[.extra] = .text("{\(reason)\(bundle)\"multiSeatInfo\":{\(info)}}")
    }

    /// The bundle that a purchase without seats is part of.
    mutating func addBundle(to content: inout Content) {
        content[.extra] = .text(
            "{\"bundleOriginalTransactionId\":\"8000\",\"bundleProductId\":\"suite\"}"
        )
        if chance(3) { content[.revocationReason] = .integer(2) }
    }

    /// How many seats renew, and for how much.
    mutating func addNextSeats(to content: inout Content) {
        let info = pick(["", "\"multiSeatInfo\":{\"renewalPriceTiers\":[\(tiers())]},"])
        content[.extra] = pick([
            .text("{\(info)\"renewalQuantity\":\(pick([1, 4, 6, 8]))}"),
            .text("{\(info)\"renewalQuantity\":\(pick([1, 4, 6, 8]))}"),
            .text("{\"bundleProductId\":\"suite\",\"willUnbundle\":true}"),
        ])
    }

    private mutating func tiers() -> String {
        (0..<pick([1, 2])).map { _ in
            "{\"price\":\(pick([0, 100, 990])),\"quantity\":\(pick([1, 4, 8]))}"
        }.joined(separator: ",")
    }
}
