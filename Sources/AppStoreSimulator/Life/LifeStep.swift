package import Events

/// One thing that happens in the life of a subscription, at Apple's instant.
///
/// A script is a list of steps in order, at least a minute apart, so every notification is signed
/// before the next step. Instants are whole seconds. Purchases are identified by their number, from
/// 0, in order of purchase.
package enum LifeStep: Hashable, Sendable {
    /// The customer buys: the first time, or again after everything ended.
    case subscribe(SimulatedProduct, offer: SimulatedOffer?, at: Instant)
    /// The customer buys seats for a group: the first time, or again after everything ended. In
    /// the life of a member, a seat of such a purchase is assigned.
    case buySeats(SimulatedProduct, SimulatedSeats, at: Instant)
    /// The renewal is charged, at most 24 hours before the current period ends.
    case renew(at: Instant)
    /// The renewal could not be charged when the period ended; with a grace period or without.
    case failToRenew(graceUntil: Instant?, at: Instant)
    /// The charge succeeded after all: contiguous inside grace, otherwise from this instant on.
    case recover(at: Instant)
    /// The grace period is over; billing is still retried.
    case endGrace(at: Instant)
    /// The App Store stops retrying.
    case giveUp(at: Instant)
    /// The period ended and is not renewed.
    case expire(ExpiryCause, at: Instant)
    /// The customer changes at once: to a higher level, or to another product of the same level and
    /// length.
    case changeNow(to: SimulatedProduct, offer: SimulatedOffer?, at: Instant)
    /// The customer wants another product from the next renewal on, perhaps with an offer; naming
    /// the current product withdraws the request. In billing retry, the charge that succeeds is
    /// that renewal.
    case changeAtRenewal(to: SimulatedProduct, offer: SimulatedOffer? = nil, at: Instant)
    /// The customer turns automatic renewal off; in grace and retry this ends everything.
    case turnAutoRenewOff(at: Instant)
    /// The customer turns automatic renewal on again before the period ends.
    case turnAutoRenewOn(at: Instant)
    /// The customer redeems an offer that applies from the next renewal on.
    case redeem(SimulatedOffer, at: Instant)
    /// A purchase is refunded, in full or by that many thousandths of a percent.
    case refund(purchase: Int, percentage: Int64?, at: Instant)
    /// The customer requests a refund; nothing is decided yet.
    case requestRefund(purchase: Int, at: Instant)
    /// The refund of a purchase is reversed; if this is not announced, only polling Apple shows it.
    case reverseRefund(purchase: Int, isAnnounced: Bool = true, at: Instant)
    /// A refund is declined; if none was requested yet, the customer requests it now.
    case declineRefund(purchase: Int, at: Instant)
    /// The developer extends the current period by 1 to 90 days.
    case extend(days: Int64, at: Instant)
    /// The developer raises the price and asks for consent.
    case announcePriceIncrease(at: Instant)
    /// The customer agrees to the higher price.
    case acceptPriceIncrease(at: Instant)
    /// The purchaser stops sharing with this member of the family, or takes the seat back.
    case stopSharing(at: Instant)
    /// The developer sets another token for the customer, which Apple does not announce.
    case setAppAccountToken(String, at: Instant)
    /// The customer restores on another device, which sees new transaction ids.
    case restore(at: Instant)
    /// The customer buys a consumable next to the subscription.
    case buyConsumable(productId: String, quantity: Int64, at: Instant)
    /// The customer buys a product that is neither consumed nor renewed.
    case buyOnce(productId: String, SimulatedOneTimePurchase.Kind, at: Instant)
    /// The customer adds seats to the period that runs.
    case addSeats(Int64, at: Instant)
    /// The customer wants that many seats from the next renewal on.
    case changeSeatsAtRenewal(to: Int64, at: Instant)
    /// Seats of a transaction are refunded; all of it if no number is given.
    case refundSeats(SeatTransaction, quantity: Int64?, at: Instant)
    /// Apple releases claims of seats, by their ids.
    case unclaimSeats([String], at: Instant)
    /// The customer moves to a bundle: another subscription, which replaces this one at once.
    case moveToBundle(at: Instant)
    /// The customer leaves the bundle when the period ends.
    case leaveBundle(at: Instant)
    /// A one-time purchase is refunded, identified by its number from 0, counting consumables.
    case refundOneTime(Int, at: Instant)

    /// When it happens.
    package var at: Instant {
        switch self {
        case .subscribe(_, _, let at), .buySeats(_, _, let at), .addSeats(_, let at),
            .changeSeatsAtRenewal(_, let at), .refundSeats(_, _, let at),
            .unclaimSeats(_, let at), .moveToBundle(let at), .leaveBundle(let at),
            .renew(let at), .failToRenew(_, let at), .recover(let at),
            .endGrace(let at), .giveUp(let at), .expire(_, let at), .changeNow(_, _, let at),
            .changeAtRenewal(_, _, let at), .turnAutoRenewOff(let at), .turnAutoRenewOn(let at),
            .redeem(_, let at), .refund(_, _, let at), .requestRefund(_, let at),
            .reverseRefund(_, _, let at), .declineRefund(_, let at), .extend(_, let at),
            .announcePriceIncrease(let at),
            .acceptPriceIncrease(let at), .stopSharing(let at), .setAppAccountToken(_, let at),
            .restore(let at),
            .buyConsumable(_, _, let at), .buyOnce(_, _, let at), .refundOneTime(_, let at):
            at
        }
    }
}

/// One of the transactions that represent the seats of a period.
package enum SeatTransaction: Hashable, Sendable {
    /// A purchase, by its number.
    case purchase(Int)
    /// An addition, by its number from 0 in the life.
    case addition(Int)
}

/// Why a subscription ended at the end of a period; the raw values are Apple's `expirationIntent`.
package enum ExpiryCause: Int64, CaseIterable, Hashable, Sendable {
    /// The customer had turned automatic renewal off.
    case voluntary = 1
    /// The App Store could not charge.
    case billingRetry = 2
    /// The customer did not agree to a higher price.
    case priceIncrease = 3
    /// The product was no longer sold.
    case productNotForSale = 4
    /// Something Apple does not name.
    case other = 5
    /// The customer left the bundle; Apple has not published the number yet.
    case unbundled = 6

    /// Apple's `subtype` of the EXPIRED notification; nil if it has none.
    var subtype: String? {
        switch self {
        case .voluntary: "VOLUNTARY"
        case .billingRetry: "BILLING_RETRY"
        case .priceIncrease: "PRICE_INCREASE"
        case .productNotForSale: "PRODUCT_NOT_FOR_SALE"
        case .other, .unbundled: nil
        }
    }
}

/// A script that the App Store would not have allowed.
package struct ScriptError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong with a step.
    package enum Code: String, Hashable, Sendable {
        /// The step is less than a minute after the one before it.
        case tooSoon
        /// The current period or grace had ended before, and no step states how.
        case endIsMissing
        /// The step happens outside the time allowed for it.
        case wrongTime
        /// The subscription is not in a state that allows the step.
        case wrongState
        /// No purchase has that number.
        case noSuchPurchase
        /// The product or offer does not fit the step.
        case wrongProduct
        /// An instant is not in whole seconds, or not between 2008 and 2099.
        case implausibleInstant
        /// The life has more steps or transactions than its range of ids holds.
        case tooLong
    }

    /// What is wrong.
    package let code: Code
    /// The number of the step, from 0.
    package let step: Int
    /// What was expected instead.
    package let expectation: String

    /// A sentence for the author of the script.
    package var description: String {
        "step \(step) is impossible (\(code.rawValue)): \(expectation)"
    }
}
