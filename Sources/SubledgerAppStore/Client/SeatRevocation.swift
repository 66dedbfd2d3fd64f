/// Seats of an Advanced Commerce subscription that Apple is asked to take back and refund
/// (https://developer.apple.com/documentation/advancedcommerceapi/revoke-subscription).
public struct SeatRevocation: Hashable, Sendable {
    /// How many seats, from 1.
    public let seats: Int
    /// How much to refund for them.
    public let refundType: RefundType
    /// Why.
    public let reason: Reason
    /// Whether you prefer that Apple takes the risk that the refund is abused.
    public let isRefundRiskingPreferred: Bool
    /// A UUID that identifies the request.
    public let requestReferenceId: String

    /// How much to refund; the raw values are Apple's.
    public enum RefundType: String, CaseIterable, Hashable, Sendable {
        /// Everything that was paid for them.
        case full = "FULL"
        /// The rest of the period.
        case prorated = "PRORATED"
    }

    /// Why; the raw values are Apple's.
    public enum Reason: String, CaseIterable, Hashable, Sendable {
        /// The customer did not want to buy.
        case unintendedPurchase = "UNINTENDED_PURCHASE"
        /// The service was not delivered.
        case fulfillmentIssue = "FULFILLMENT_ISSUE"
        /// The customer was not satisfied.
        case unsatisfied = "UNSATISFIED_WITH_PURCHASE"
        /// A legal reason.
        case legal = "LEGAL"
        /// Another reason.
        case other = "OTHER"
    }

    /// Creates a request; nil if there is not at least 1 seat, or the id is empty or has characters
    /// other than letters, digits, `-`, `.`, `_` and `~`.
    public init?(
        seats: Int,
        refundType: RefundType,
        reason: Reason,
        isRefundRiskingPreferred: Bool,
        requestReferenceId: String
    ) {
        guard seats > 0, !requestReferenceId.isEmpty,
            requestReferenceId.escaped == requestReferenceId
        else { return nil }
        self.seats = seats
        self.refundType = refundType
        self.reason = reason
        self.isRefundRiskingPreferred = isRefundRiskingPreferred
        self.requestReferenceId = requestReferenceId
    }

    /// The JSON body.
    ///
    /// Apple documents the name of the member for the seats, but not where it belongs in the body.
    var body: String {
        #"{"requestInfo":{"requestReferenceId":"\#(requestReferenceId)"},"#
            + #""refundRiskingPreference":\#(isRefundRiskingPreferred),"#
            + #""refundType":"\#(refundType.rawValue)","refundReason":"\#(reason.rawValue)","#
            + #""revokeSeatQuantity":\#(seats)}"#
    }
}
