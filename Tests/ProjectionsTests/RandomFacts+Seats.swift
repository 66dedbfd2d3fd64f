import Events

/// Seats and bundles, so few and small that additions, refunds and members collide.
extension RandomFacts {
    /// Facts about one subscription in which nearly every purchase has seats, and only those
    /// details that are about seats.
    mutating func seatFacts(_ count: Int, areRevoked: Bool = true) -> [Fact] {
        (0..<count).map { _ in
            var content = Content(format: transactionFormat())
            content[.productId] = pick([.text("a"), .text("a"), .text("a"), .text("b")])
            content[.transactionId] = pick([.text("t1"), .text("t2"), .text("t3")])
            content[.webOrderLineItemId] = pick([.text("1"), .text("1"), .text("2"), nil])
            if content.format == .signedTransaction {
                content[.price] = pick([.integer(990), .integer(100), nil])
                addSeats(to: &content)
                if content[.quantity] == .integer(.max) { content[.quantity] = .integer(3) }
                if chance(5) { content[.inAppOwnershipType] = .text("ASSIGNED") }
                if chance(8) { content[.inAppOwnershipType] = .text("FAMILY_SHARED") }
                if chance(6) { content[.isUpgraded] = .boolean(true) }
            }
            if areRevoked, chance(4) {
                content[.revocationDate] = pick([.instant(day(2)), .instant(day(4))])
                content[.revocationReason] = pick([nil, .integer(0), .integer(2)])
                content[.revocationType] = pick([
                    nil, .text("REFUND_FULL"), .text("ASSIGNMENT_REVOKE"),
                ])
            }
            let key = key()
            let end = key.end ?? Instant(milliseconds: key.start.milliseconds + 86_400_000)
            return fact(RandomFacts.streams[0], .transaction, key.start, end, content)
        }
    }

    /// Seats of a purchase, of an addition or of a member, some taken back; or a bundle.
    mutating func addSeats(to content: inout Content) {
        content[.quantity] = pick([nil, .integer(1), .integer(4), .integer(8), .integer(.max)])
        guard !chance(6) else { return }
        var info = "\"invitationManagement\":\"\(pick(["APPLE", "DEVELOPER"]))\""
        info += pick(["", ",\"priceTiers\":[\(tiers())]"])
        info += pick(["", "", ",\"revokedSeatQuantity\":\(pick([0, 1, 3, 8]))"])
        let reason = pick(["", "\"additionalTransactionReason\":\"SEAT_ADDITION\","])
        let bundle = chance(5) ? "\"bundleProductId\":\"suite\"," : ""
        content[.extra] = pick([
            .text("{\(reason)\(bundle)\"multiSeatInfo\":{\(info)}}"),
            .text("{\(reason)\(bundle)\"multiSeatInfo\":{\(info)}}"),
            .text("{\"bundleOriginalTransactionId\":\"8000\",\"bundleProductId\":\"suite\"}"),
        ])
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
