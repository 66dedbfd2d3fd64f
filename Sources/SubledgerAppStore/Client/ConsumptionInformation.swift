/// Information for Apple about a purchase whose customer asks for a refund.
///
/// It is personal data: only an operator's command sends it, and only with the customer's consent.
/// Without the consent, Apple refuses it.
public struct ConsumptionInformation: Hashable, Sendable {
    /// Whether the purchase was delivered, and works.
    public let deliveryStatus: DeliveryStatus
    /// Whether a sample, a trial or a description was available before the purchase.
    public let isSampleProvided: Bool
    /// The share that was used, in thousandths of a percent, 0 to `percentageMax`; nil if unknown.
    public let consumptionPercentage: Int?
    /// The decision that the developer prefers; nil for no preference.
    public let refundPreference: RefundPreference?

    /// The whole purchase, in thousandths of a percent.
    public static let percentageMax = 100_000

    /// Whether a purchase was delivered; the raw values are Apple's.
    public enum DeliveryStatus: String, CaseIterable, Hashable, Sendable {
        /// Delivered, and works.
        case delivered = "DELIVERED"
        /// Delivered, but does not work as it should.
        case undeliveredQualityIssue = "UNDELIVERED_QUALITY_ISSUE"
        /// A different item was delivered.
        case undeliveredWrongItem = "UNDELIVERED_WRONG_ITEM"
        /// Not delivered, because a server was down.
        case undeliveredServerOutage = "UNDELIVERED_SERVER_OUTAGE"
        /// Not delivered, for another reason.
        case undeliveredOther = "UNDELIVERED_OTHER"
    }

    /// A preferred decision; the raw values are Apple's.
    public enum RefundPreference: String, CaseIterable, Hashable, Sendable {
        /// No refund.
        case decline = "DECLINE"
        /// A full refund.
        case grantFull = "GRANT_FULL"
        /// A refund of the unused part.
        case grantProrated = "GRANT_PRORATED"
    }

    /// Creates the information; nil if the percentage is out of range.
    public init?(
        deliveryStatus: DeliveryStatus,
        isSampleProvided: Bool,
        consumptionPercentage: Int?,
        refundPreference: RefundPreference?
    ) {
        let range = 0...ConsumptionInformation.percentageMax
        guard consumptionPercentage.map(range.contains) ?? true else { return nil }
        self.deliveryStatus = deliveryStatus
        self.isSampleProvided = isSampleProvided
        self.consumptionPercentage = consumptionPercentage
        self.refundPreference = refundPreference
    }

    /// The JSON body; it always states that the customer consented.
    var body: String {
        var members = [
            #""customerConsented":true"#, #""sampleContentProvided":\#(isSampleProvided)"#,
            #""deliveryStatus":"\#(deliveryStatus.rawValue)""#,
        ]
        if let consumptionPercentage {
            members.append(#""consumptionPercentage":\#(consumptionPercentage)"#)
        }
        if let refundPreference {
            members.append(#""refundPreference":"\#(refundPreference.rawValue)""#)
        }
        return "{" + members.joined(separator: ",") + "}"
    }
}
