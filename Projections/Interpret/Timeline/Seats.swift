package import Events

/// The seats of one transaction of a multiseat subscription, as Apple states them.
///
/// Sources: https://developer.apple.com/documentation/appstoreserverapi/transactionmultiseatinfo and
/// https://developer.apple.com/documentation/appstoreserverapi/additionaltransactionreason
package struct Seats: Hashable, Sendable {
    /// How many it bought: those added, for an addition; nil if not stated.
    package let quantity: Int64?
    /// How many of them Apple took back in refunds of seats.
    package let revokedQuantity: Int64
    /// Who manages the members, in Apple's word: APPLE or DEVELOPER; nil if not stated.
    package let invitationManagement: String?
    /// The prices by number of seats; empty if Apple states none.
    package let priceTiers: [PriceTier]
    /// Whether Apple states that its period has several transactions.
    package let isOneOfSeveral: Bool

    /// A number of seats at one price.
    package struct PriceTier: Hashable, Sendable {
        /// Of one seat, in milliunits of the purchase's currency.
        package let priceMilliunits: Int64
        /// How many seats cost that.
        package let quantity: Int64
    }

    /// Apple's members and words: to change one, change one line here.
    enum Word {
        static let info = "multiSeatInfo"
        static let invitationManagement = "invitationManagement"
        static let priceTiers = "priceTiers"
        static let renewalPriceTiers = "renewalPriceTiers"
        static let tierPrice = "price"
        static let tierQuantity = "quantity"
        static let revokedQuantity = "revokedSeatQuantity"
        static let renewalQuantity = "renewalQuantity"
        static let additionalReason = "additionalTransactionReason"
        static let addition = "SEAT_ADDITION"
        static let refundOfSeats = "SEATS"
    }

    /// Nil if the properties in `extra` are not those of a multiseat transaction.
    init?(_ extra: ExtraObject, quantity: Int64?) {
        let reason = extra.text(Word.additionalReason)
        guard extra[Word.info] != nil || reason == Word.addition else { return nil }
        let info = extra[Word.info].map { ExtraObject($0) }
        self.quantity = quantity
        revokedQuantity = max(0, info?.integer(Word.revokedQuantity) ?? 0)
        invitationManagement = info?.text(Word.invitationManagement)
        priceTiers = info.map { PriceTier.all(in: $0, Word.priceTiers) } ?? []
        isOneOfSeveral = reason == Word.addition
    }

    /// How many of its seats are left; nil if their number is not stated.
    package var remainingQuantity: Int64? {
        quantity.map { max(0, max(0, $0) - revokedQuantity) }
    }

    /// The total for all seats: the sum over the tiers, otherwise the average price of a seat times
    /// the seats; nil if it is not known, or does not fit in 64 bits.
    package func total(averagePrice: Int64?) -> Int64? {
        if !priceTiers.isEmpty { return PriceTier.total(of: priceTiers) }
        guard let averagePrice, let quantity else { return averagePrice }
        let (total, overflow) = averagePrice.multipliedReportingOverflow(by: quantity)
        return overflow ? nil : total
    }
}

extension Content {
    /// The seats that a transaction states; nil if it is not one of a multiseat subscription.
    package var seats: Seats? {
        text(.extra).flatMap { Seats(ExtraObject($0), quantity: integer(.quantity)) }
    }

    /// How many seats renew, as renewal info states it; nil if it does not.
    package var renewalQuantity: Int64? {
        text(.extra).flatMap { ExtraObject($0).integer(Seats.Word.renewalQuantity) }
    }
}

extension Seats {
    /// What a number of these seats cost, of the total for all: Apple does not state which tier a
    /// refunded seat had, so each counts with the average; half a milliunit is rounded up.
    ///
    /// Nil if the number of seats is not known.
    func part(of total: Int64, for seats: Int64) -> Int64? {
        guard let quantity, quantity > 0, total >= 0 else { return nil }
        let product = UInt64(total).multipliedFullWidth(by: UInt64(min(max(0, seats), quantity)))
        let (share, left) = UInt64(quantity).dividingFullWidth(product)
        return Int64(share) + (left >= UInt64(quantity) - left ? 1 : 0)
    }
}

extension Seats.PriceTier {
    /// The tiers that a member lists, lowest quantity first: Apple guarantees no order.
    static func all(in info: ExtraObject, _ name: String) -> [Seats.PriceTier] {
        guard let tiers = info[name] else { return [] }
        return ExtraObject.elements(of: tiers).compactMap { raw in
            let tier = ExtraObject(raw)
            guard let price = tier.integer(Seats.Word.tierPrice),
                let quantity = tier.integer(Seats.Word.tierQuantity)
            else { return nil }
            return Seats.PriceTier(priceMilliunits: price, quantity: quantity)
        }.sorted { ($0.quantity, $0.priceMilliunits) < ($1.quantity, $1.priceMilliunits) }
    }

    /// The sum over tiers; nil if it does not fit in 64 bits.
    static func total(of tiers: [Seats.PriceTier]) -> Int64? {
        tiers.reduce(0 as Int64?) { sum, tier in
            let (part, isTooLarge) = tier.priceMilliunits.multipliedReportingOverflow(
                by: tier.quantity
            )
            guard let sum, !isTooLarge else { return nil }
            let (total, overflow) = sum.addingReportingOverflow(part)
            return overflow ? nil : total
        }
    }
}

extension Purchase {
    /// What was charged for the whole purchase in milliunits, as last stated: the price, or the
    /// total for all seats; nil if it was never stated.
    ///
    /// Nil for a seat that was assigned, because Apple repeats in it what the purchaser paid.
    package var amountMilliunits: Int64? {
        var citations = Citations()
        return amount(citing: &citations)
    }

    /// The same, citing the events that decide it.
    func amount(citing citations: inout Citations) -> Int64? {
        if sharing == .assigned { return nil }
        let price = integer(.price, citing: &citations)
        if let seats {
            citations.cite(extrasOffset)
            return seats.total(averagePrice: price)
        }
        // A subscription of several items is one of seats, even if an erasure removed their prices;
        // for anything else Apple multiplies the price itself.
        guard !neverExpires, let quantity = integer(.quantity, citing: &citations), quantity > 1,
            let price
        else { return price }
        let (total, overflow) = price.multipliedReportingOverflow(by: quantity)
        return overflow ? nil : total
    }
}

extension Assertion {
    /// Whether it is of a multiseat transaction, also if an erasure removed its seats: no other
    /// subscription has a quantity above 1.
    var isOfSeats: Bool {
        if statesSeats { return true }
        guard content.carried.contains(.quantity), let quantity = content.integer(.quantity) else {
            return false
        }
        return quantity > 1
    }

    /// Whether it states the seats of a multiseat transaction.
    var statesSeats: Bool {
        guard fields.contains(.extra), content.carried.contains(.extra),
            content.format == .signedTransaction, let extra = content.text(.extra)
        else { return false }
        return Seats(ExtraObject(extra), quantity: nil) != nil
    }
}
