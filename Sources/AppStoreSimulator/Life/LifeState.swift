internal import Events
internal import Projections

/// What the simulated App Store knows about a subscription at one moment.
struct LifeState: Sendable {
    /// One purchase of a period, in its current state.
    struct Purchase: Sendable {
        let product: SimulatedProduct
        let offer: SimulatedOffer?
        /// The whole amount, for all seats.
        let price: Int64
        /// The seats that were bought; nil for a purchase for one customer.
        var seats: Seats?
        let purchaseDate: Instant
        var expiresDate: Instant
        let isRenewal: Bool
        /// The numbers in `transactionId` and `webOrderLineItemId`, in order of purchase.
        let transactionNumber: Int64
        let lineItemNumber: Int64
        /// Whether the customer upgraded to a higher level; Apple's flag.
        var isUpgraded = false
        var revocation: Revocation?
        /// The purchase that began before this one was over, if there is one.
        var successor: (start: Instant, productId: String)?
        /// When Apple last changed the transaction: the order of the history.
        var modifiedAt: Instant
        var timesRefunded = 0
    }

    /// A refund, or the end of access for another reason.
    struct Revocation: Hashable, Sendable {
        let date: Instant
        /// Apple's reason: 0 other, 1 an issue with the app.
        let reason: Int64
        /// Thousandths of a percent of a prorated refund; nil for a full one.
        var percentage: Int64?
        let cause: Cause

        /// Why the access was revoked.
        enum Cause: Hashable, Sendable {
            case refund
            case familySharing
            /// The seat was taken from a member.
            case assignment
            /// The customer moved to a bundle.
            case bundle
        }
    }

    /// Access granted after a failed renewal.
    struct Grace: Sendable {
        let purchase: Int
        let from: Instant
        /// The end as granted, or when the customer cancelled.
        var to: Instant
    }

    /// Repeated charging after a failed renewal.
    struct Retry: Sendable {
        let purchase: Int
        /// When Apple first signed that it was over; nil while it continues or if it succeeded.
        var end: Instant?
    }

    /// Why the subscription ended after a purchase.
    struct Ending: Sendable {
        let purchase: Int
        let cause: ExpiryCause
    }

    /// An extension of the end of a purchase.
    struct Extension: Sendable {
        let purchase: Int
        /// When Apple first signed the new end.
        let signedAt: Instant
    }

    /// A purchase that does not renew: a separate stream.
    struct OneTimePurchase: Sendable {
        let productId: String
        let kind: SimulatedOneTimePurchase.Kind
        let quantity: Int64
        let purchaseDate: Instant
        let transactionNumber: Int64
        var revocation: Revocation?
    }

    /// The transaction ids that another device got for the existing purchases.
    struct Restore: Sendable {
        let firstTransactionNumber: Int64
        let count: Int
    }

    /// The state of the subscription.
    enum Phase: Hashable, Sendable {
        case neverBought
        case active
        case grace(until: Instant)
        case retry(graceUntil: Instant?)
        case expired(ExpiryCause)
        /// The current period was revoked; a reversal restores the renewal status.
        case revoked(autoRenew: Bool)

        /// The end of the grace after the failed charge; nil if there is none.
        var graceEnd: Instant? {
            switch self {
            case .grace(let until): until
            case .retry(let until): until
            case .neverBought, .active, .expired, .revoked: nil
            }
        }
    }

    /// An offer that the coming renewals will use.
    struct CurrentOffer: Sendable {
        let offer: SimulatedOffer
        var periodsLeft: Int
    }

    var phase = Phase.neverBought
    var purchases: [Purchase] = []
    var graces: [Grace] = []
    /// Graces in which the charge succeeded after all; `purchase` is the one that was charged.
    var recoveredGraces: [Grace] = []
    var retries: [Retry] = []
    var endings: [Ending] = []
    var extensions: [Extension] = []
    var refunds: [Refund] = []
    var oneTimePurchases: [OneTimePurchase] = []
    var additions: [Addition] = []
    var restores: [Restore] = []
    /// The token that the developer set after the first purchase; nil for that of the identity.
    var appAccountToken: String?
    var isAutoRenewOn = false
    /// Whether the customer cancelled in grace or retry and has not bought since: `verifyReceipt`
    /// then lists no pending renewal (Apple's data: verifyReceipt response, trap 22).
    var isRenewalForgotten = false
    var renewalProduct: SimulatedProduct?
    /// The seats that renew; nil if the subscription is for one customer.
    var seats: SimulatedSeats?
    /// Whether the subscription leaves its bundle when the period ends.
    var willUnbundle = false
    var coming: CurrentOffer?
    var billingDay: Int64 = 1
    var runStart = Instant(milliseconds: 0)
    var isPriceIncreaseAccepted: Bool?
    var transactionsUsed: Int64 = 0
    var lineItemsUsed: Int64 = 0

    var newest: Purchase? { purchases.last }

    /// Apple's `status` (Apple's data: status values) at an instant not before the last step.
    func status(at instant: Instant) -> SubscriptionStatus? {
        switch phase {
        case .neverBought: nil
        case .active: newest.map { $0.expiresDate > instant } == true ? .active : .expired
        case .expired: .expired
        case .retry: .billingRetry
        case .grace: .gracePeriod
        case .revoked: .revoked
        }
    }

    /// The win-back offers that Apple lists, the best one first; nil if it lists none.
    ///
    /// Only for a subscription that is over and not in retry (Apple's data: renewal info, trap 44).
    /// Customers with more than five purchases get more offers.
    var winBackOfferIds: [String]? {
        guard case .expired = phase else { return nil }
        return purchases.count > 5 ? ["COMEBACK", "LOYAL"] : ["COMEBACK"]
    }

    /// Ends the access of the newest purchase; a reversal restores the renewal status.
    mutating func revoke(autoRenew: Bool) {
        phase = .revoked(autoRenew: autoRenew)
        isAutoRenewOn = false
    }

    /// Ends the subscription after the newest purchase.
    mutating func expire(_ cause: ExpiryCause) {
        phase = .expired(cause)
        endings.append(Ending(purchase: purchases.count - 1, cause: cause))
    }

    /// The number of the next transaction.
    mutating func takeTransactionNumber() -> Int64 {
        transactionsUsed += 1
        return transactionsUsed - 1
    }
}

extension LifeState.Purchase {
    /// Whether it is free by an offer of any kind.
    var isFreeTrial: Bool { offer?.discount == .freeTrial }

    /// Whether it is a free introductory period.
    var isTrial: Bool { offer?.category == .introductory && offer?.discount == .freeTrial }
}

extension LifeState.Revocation {
    /// The refund of a purchase, for one of Apple's reasons by turns.
    init(refunded number: Int, _ percentage: Int64? = nil, at: Instant) {
        self.init(date: at, reason: Int64(number % 2), percentage: percentage, cause: .refund)
    }
}

extension SubscriptionStatus {
    /// Apple's number, stated here again: payloads must not follow what the folds take it for.
    var appleNumber: Int64 {
        switch self {
        case .active: 1
        case .expired: 2
        case .billingRetry: 3
        case .gracePeriod: 4
        case .revoked: 5
        }
    }
}
