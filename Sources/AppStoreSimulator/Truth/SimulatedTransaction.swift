package import Events
import Projections

/// One expected row of `transactions`: the meaning of a purchase in its subscription.
package struct SimulatedTransaction: Hashable, Sendable {
    /// The lowest of Apple's ids for it.
    package internal(set) var storeTransactionId: String
    /// The product.
    package let productId: String
    /// Its start.
    package internal(set) var startTime: Instant
    /// Its natural end.
    package let endTime: Instant
    /// The end of the grace after it; nil if there was none, or none of it was left.
    package let gracePeriodEndTime: Instant?
    /// The end of the access, including grace; never before the start.
    package internal(set) var effectiveEndTime: Instant
    /// Its position in an unbroken chain, from 1.
    package let renewalNumber: Int
    /// Paid purchases up to this one without a lapse; 0 for a free one.
    package let consecutivePaidPeriods: Int
    /// Whether it is paid and follows a free period.
    package internal(set) var isTrialConversion: Bool
    /// Whether it follows a lapse.
    package internal(set) var isResubscribe: Bool
    /// The length of that lapse in seconds; nil if there is none.
    package internal(set) var gapSeconds: Int64?
    /// The class of the change of product; nil if the product did not change.
    package internal(set) var planChange: SimulatedPlanChange.Class?
    /// The previous product, if it changed.
    package internal(set) var previousProductId: String?
    /// When it was refunded; nil if it was not, or if the refund was reversed.
    package internal(set) var refundedAt: Instant?
    /// The amount paid for all seats; nil for members.
    package internal(set) var purchasePriceMilliunits: Int64?
    /// The amount paid and not refunded.
    package internal(set) var priceMilliunits: Int64?
    /// When Apple first signed that renewal is off, if it was still off at the natural end.
    package let unsubscribeDetectedAt: Instant?
    /// When Apple first signed that the renewal after it failed.
    package let billingIssuesDetectedAt: Instant?
    /// The seats; nil for a purchase for one customer.
    package internal(set) var seats: Seats?

    /// The seats of one transaction.
    package struct Seats: Hashable, Sendable {
        /// How many were bought.
        package let quantity: Int64
        /// How many of them were refunded one by one.
        package let revoked: Int64
    }
}

extension SimulatedTransaction: CustomStringConvertible {
    /// One line with everything.
    package var description: String {
        let instants = [
            gracePeriodEndTime, effectiveEndTime, refundedAt, unsubscribeDetectedAt,
            billingIssuesDetectedAt,
        ].map { $0?.description ?? "-" }.joined(separator: " ")
        let amounts = [gapSeconds, purchasePriceMilliunits, priceMilliunits]
            .map { $0.map { String($0) } ?? "-" }.joined(separator: " ")
        return "\(storeTransactionId) \(productId) \(startTime) \(endTime) \(instants)"
            + " number \(renewalNumber) paid \(consecutivePaidPeriods) \(amounts)"
            + (isTrialConversion ? " conversion" : "") + (isResubscribe ? " again" : "")
            + (planChange.map { " \($0.rawValue) from \(previousProductId ?? "")" } ?? "")
            + (seats.map { " seats \($0.quantity) revoked \($0.revoked)" } ?? "")
    }
}
